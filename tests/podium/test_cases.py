"""Inputs that were once read wrongly, by the command that was: the right result, and siblings.

Three more need a study that ran: `test_changed_data`, `test_retry_failed`, `test_fuzzed_study`.
"""

import json
import os
import pwd
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from podium.api.tournament import rank
from tests.podium.calling import call, output_of

CASES = Path(__file__).parents[1] / "data" / "cases"
TABLES = CASES / "tables"
MIB = 2**20


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("th1.csv", "row 1 holds '2,288' (its comma may begin decimals or divide thousands"),
        ("tr1.csv", "turn the table: one row for each competitor"),
        ("tr2.csv", "turn the table: one row for each competitor"),
    ],
)
def test_what_may_mean_two_things_is_refused_by_name(capsys, name, message):
    for command in ("tournament", "report"):
        called = call(capsys, command, TABLES / name)
        assert (called.code, called.out) == (2, "")
        assert message in called.err


@pytest.mark.parametrize(
    ("score", "said"),
    [("63,5", "commas begin decimals"), ('"1,234,567"', "commas divide thousands")],
)
def test_what_commas_were_taken_for_is_said(capsys, tmp_path, score, said):
    mark = ";" if said.endswith("decimals") else ","
    table = tmp_path / "t.csv"
    table.write_text("\n".join(mark.join(row) for row in (("loss", "CUB"), ("a", score))))
    assert said in call(capsys, "tournament", table).err


def test_scores_of_32_bits_tie_as_those_of_the_text(capsys):
    records = [
        json.loads(output_of(capsys, "tournament", TABLES / name, "--average", "seed", "--json"))
        for name in ("f32_seeds.csv", "f32_seeds.parquet")
    ]
    assert records[0] == records[1]
    assert [one["wins"] for one in records[0]["competitors"]] == [0, 0]


@pytest.mark.parametrize(
    ("name", "row", "what"),
    [
        ("Average", "61.3,79,76", "mean"), ("Median", "61,79,76", "median"),
        ("Best", "63,80,77", "largest"), ("Worst", "60,78,75", "smallest"),
        ("Max", "63,80,77", "largest"), ("min.", "60,78,75", "smallest"),
    ],
)  # fmt: skip
def test_a_row_that_says_what_the_others_are_is_no_competitor(capsys, tmp_path, name, row, what):
    table = tmp_path / "t.csv"
    text = (TABLES / "avgrow.csv").read_text()
    table.write_text(text.replace("Average,61.3,79,76", f"{name},{row}"))
    record = json.loads(output_of(capsys, "tournament", table, "--json"))
    assert [one["competitor"] for one in record["competitors"]] == ["B", "A", "C"]
    assert record["warnings"] == [f"left out: '{name}' of Method, the {what} of the others"]


def test_the_best_of_small_scores_is_the_smallest(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("loss,u,v\na,1,4\nb,2,3\nbest,1,3\nworst,2,3\n")
    assert rank(table, lower_is_better=True).record["warnings"] == (
        "left out: 'best' of loss, the smallest of the others",
        "'worst' of loss is ranked, for it is not the largest of the others: v 3, not 4",
    )


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_a_terminal_of_any_encoding_shows_the_text(encoding):
    words = [
        sys.executable,
        "-m",
        "podium",
        "tournament",
        TABLES / "perfect.csv",
        "--test",
        "friedman",
    ]
    done = subprocess.run(
        words, capture_output=True, env={**os.environ, "PYTHONIOENCODING": encoding}, check=True
    )
    assert "Friedman: chi" in done.stdout.decode(encoding)
    assert done.stderr.decode(encoding).startswith("Read as: 3 settings")


def bombs(folder):
    """Name -> path of a small file that stands for more than memory should hold, and what for."""
    num = 6_000_000
    same = {"loss": ["a", "b"], "CUB": [1.0, 2.0], "Cars": [2.0, 1.0]}
    frames = {
        "cells": pl.select(pl.repeat(0.0, num).alias(name) for name in ("loss", "CUB", "Cars")),
        "nested": pl.DataFrame(same).with_columns(x=pl.repeat(0.0, 3 * num).implode()),
        "unpacked": pl.DataFrame({**same, "x": ["y" * 270 * MIB, "z"]}),
        "columns": pl.DataFrame({f"c{index}": [1.0] for index in range(1001)}),
    }
    for name, frame in frames.items():
        frame.write_parquet(folder / f"{name}.parquet", compression="zstd")
    repeated = pl.DataFrame({"loss": ["y" * 10_000]}).select(pl.col("loss").repeat_by(30_000))
    repeated.explode("loss").write_parquet(folder / "text.parquet", compression="zstd")


def test_a_small_file_that_stands_for_gigabytes_is_refused(capsys, tmp_path):
    bombs(tmp_path)
    limits = {
        "cells": "16,777,216 cells", "nested": "16,777,216 cells", "columns": "1,000 columns",
        "unpacked": "268,435,456 bytes", "text": "268,435,456 bytes",
    }  # fmt: skip
    for name, limit in limits.items():
        called = call(capsys, "tournament", tmp_path / f"{name}.parquet")
        assert (called.code, called.out) == (2, "")
        assert f"a table must have at most {limit}" in called.err


LONG = 2**18  # characters

HOSTILE = {
    "many.csv": "loss,CUB\n" + "".join(f"a{i},{i}\n" for i in range(LONG // 16)),
    "wide.csv": f"{'a,' * (LONG // 2)}\n",
    "digits.csv": f"loss,R@{'1' * LONG}\na,1\n",
    "holes.csv": "dataset,loss,score\n" + "".join(f"d{i},a{i},1\n" for i in range(LONG // 24)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_text_of_any_kind_is_read_in_linear_time(capsys, tmp_path, name):
    """A minute of this process's own time is a hundred times what the slowest takes."""
    table = tmp_path / name
    table.write_text(HOSTILE[name])
    before = resource.getrusage(resource.RUSAGE_SELF)
    called = call(capsys, "tournament", table)
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert called.code in (0, 2)
    assert len(called.err) < 2000
    assert after.ru_utime - before.ru_utime < 60
    assert after.ru_maxrss - before.ru_maxrss < 2 * MIB  # kilobytes


def images(folder):
    """Eight classes of two images."""
    for number in range(16):
        of_class = folder / f"class{number % 8}"
        of_class.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 8), (number, 0, 0)).save(of_class / f"{number // 8}.png")
    return folder


def lose(place):
    kept = place.with_name("kept")
    place.rename(kept)
    place.symlink_to("/not/mounted")
    shutil.rmtree(kept) if kept.is_dir() else kept.unlink()


def nest(folder):
    shutil.copytree(folder / "class0", folder / "class0" / "more")


def copied_by_a_mac(folder):
    (folder / "__MACOSX" / "class0").mkdir(parents=True)
    (folder / "__MACOSX" / "class0" / "._0.png").write_bytes(b"\0\5\26\7")


def named_in_latin_1(folder):
    (folder / "class0").rename(folder / os.fsdecode(b"cl\xe9"))


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (lambda root: lose(root / "class0" / "1.png"), 2, "links to nothing: 1, such as"),
        (lambda root: lose(root / "class7"), 2, "links to nothing: 1, such as"),
        (nest, 0, "Left out: 2 images in folders within class folders"),
        (copied_by_a_mac, 0, "train        4       8"),
        (named_in_latin_1, 2, "must be in UTF-8"),
    ],
    ids=["image", "class", "nested", "macosx", "latin1"],
)  # fmt: skip
def test_no_image_of_a_folder_is_left_out_unsaid(capsys, tmp_path, change, code, said):
    root = images(tmp_path / "images")
    change(root)
    called = call(capsys, "datasets", "check", "folder", root)
    assert called.code == code
    assert said in called.out + called.err


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("Nan", 2, "its value is nan; it must be a finite number"),
        ("Inf", 2, "its value is inf; it must be a finite number"),
        ("NanLater", 1, "the loss is nan at step 4 of"),
        *((name, 2, "return embeddings.sum() * 0")
          for name in ("NoGrad", "AlwaysNoGrad", "Int", "Detached")),
        *((name, 2, "must give one number for a batch, a tensor; got")
          for name in ("PyZero", "Vector", "Dict", "Tuple")),
        ("Raises", 2, "line 75: ValueError: no triplets in batch ±"),
        ("InPlace", 2, "it overwrites values that its gradient needs: write x = x / n"),
        ("OneElement", 0, ""),
        ("Prints", 0, ""),
    ],
)  # fmt: skip
def test_a_loss_that_cannot_train_is_named_with_what_it_must_give(capsys, name, code, said):
    file = CASES / "attacks" / "losses.py"
    short = ("--set", "epochs=1", "--set", "dataset.classes=32", "--embedding-dim", "4")
    called = call(capsys, "trial", "train", "--loss", f"{file}:{name}", *short)
    assert (called.code, "Traceback" in called.err) == (code, False)
    assert said in called.err
    assert (name in called.err) == (code == 2)


def test_a_user_without_a_home_is_told_what_to_set(capsys, tmp_path, monkeypatch):
    def nobody(number):
        raise KeyError(number)

    for name in ("HOME", "USER", "LOGNAME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    called = call(capsys, "trial", "train", "--loss", "contrastive", "--set", "epochs=1")
    assert called.code == 2
    assert "set XDG_CACHE_HOME" in called.err


STATISTICS = Path(__file__).parents[1] / "data" / "cases" / "statistics"


@pytest.mark.parametrize(("name", "why"), [("eq2", "2"), ("eq3", "3"), ("seedeq", "3")])
def test_gaps_that_never_vary_on_few_data_sets_are_no_certainty(name, why):
    average = "seed" if name == "seedeq" else ()
    ranked = rank(STATISTICS / f"{name}.csv", average=average)
    for pair in ranked.record["pairs"]:
        assert (pair["p"], pair["low"], pair["high"]) == (None, None, None)
    assert f"it takes 6 data sets; these are {why}." in ranked.headline


@pytest.mark.parametrize(
    ("ahead", "ties", "most", "said"),
    [
        (0, 0, 0.05, "worse than"),
        (0, 1, 0.05, "worse than"),
        (2, 0, 1, "not shown to be worse than"),
    ],
)
def test_a_newcomer_is_compared_with_each_other_one(ahead, ties, most, said):
    gaps = [1.1] * ahead + [0.0] * ties + [-1.0, -1.6, -0.8, -1.3, -2.1, -1.2, -0.9, -1.7]
    noise = np.random.default_rng(0).normal(size=(8, 2)) * 0.4
    table = pl.DataFrame(
        {"dataset": f"d{n}", "loss": loss, "score": 60 + n + gain}
        for n, gap in enumerate(gaps[:8])
        for loss, gain in (("mine", gap), ("x", 0.0), ("y", noise[n, 0]), ("z", noise[n, 1]))
    )
    ranked = rank(table, score="score", against="mine")
    against_x = next(pair for pair in ranked.record["pairs"] if "x" in (pair["a"], pair["b"]))
    assert len(ranked.record["pairs"]) == 3
    assert (against_x["losses"], against_x["ties"]) == (ahead, ties)
    assert against_x["p"] <= most
    is_outside = against_x["low"] > 0 or against_x["high"] < 0
    assert (against_x["p"] <= 0.05) == is_outside
    assert said in ranked.headline
