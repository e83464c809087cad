"""``podium report``: where it writes, what it refuses, what it does not load."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from podium.cli import main
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth
from tests.podium.calling import call

CUB200 = Path(__file__).parents[3] / "studies" / "thesis_cub200.csv"
SMALL = Truth(scripts=("greek", "latin"), embedding_dims=(16,), search_trials=4, seeds=2)


@pytest.fixture(scope="module")
def synthetic_folder(tmp_path_factory):
    return write_store(tmp_path_factory.mktemp("store") / "synthetic", SMALL)


@pytest.fixture(scope="module")
def page(synthetic_folder):
    """The report of that study in its own folder."""
    assert exit_code("report", synthetic_folder) == 0
    return synthetic_folder / "report.html"


def exit_code(*arguments):
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return end.value.code


def test_the_report_does_not_change_the_next_report(synthetic_folder, page, capsys):
    first = page.read_bytes()
    assert exit_code("report", synthetic_folder) == 0
    assert capsys.readouterr().out.strip() == str(page)

    assert page.read_bytes() == first


def test_of_several_k_the_least_is_reported_and_said(capsys, tmp_path):
    assert exit_code("report", CUB200, "--output", tmp_path / "thesis.html") == 0
    assert "K 1 (also 2, 4, 8; --where k=2)" in capsys.readouterr().err


TABLE = ("--by", "dataset,backbone,embedding_dim", "--where", "k=1")


@pytest.mark.parametrize("kind", ["study", "table"])
def test_tables_go_to_folders_and_everything_to_json(synthetic_folder, tmp_path, kind):
    source = (synthetic_folder,) if kind == "study" else (CUB200, *TABLE)
    given = ("--csv", tmp_path / "csv", "--latex", tmp_path / "tex", "--json", tmp_path / "r.json")
    assert exit_code("report", *source, "--output", tmp_path / "page.html", *given) == 0

    printed = json.loads((tmp_path / "r.json").read_text())
    names = {table["name"] for table in printed["tables"]}
    assert names > {"leaderboard", "pairs"}
    assert {file.stem for file in (tmp_path / "csv").iterdir()} == {*names, "index"}
    assert {file.stem for file in (tmp_path / "tex").iterdir()} == {*names, "index"}
    assert all(f'<table id="{name}"' in (tmp_path / "page.html").read_text() for name in names)
    index = (tmp_path / "csv" / "index.csv").read_text()
    listed = list(csv.DictReader(io.StringIO(index)))
    assert [row["file"] for row in listed] == [f"{t['name']}.csv" for t in printed["tables"]]
    assert [int(row["rows"]) for row in listed] == [len(t["rows"]) for t in printed["tables"]]


@pytest.mark.parametrize("kind", ["study", "table"])
def test_a_tex_file_gets_the_one_table_of_scores(capsys, synthetic_folder, tmp_path, kind):
    source = (synthetic_folder,) if kind == "study" else (CUB200, *TABLE)
    paper = tmp_path / "paper" / "table.tex"
    called = call(capsys, "report", *source, "--output", tmp_path / "page.html", "--latex", paper)
    assert called.out.split() == [str(tmp_path / "page.html"), str(paper)]
    text = paper.read_text()
    assert text.count(r"\begin{table}") == text.count(r"\caption{") == 1
    assert r"\textbf{" in text
    assert [file.name for file in paper.parent.iterdir()] == ["table.tex"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("STUDY", "--where", "k=1"), "--where goes with a table (.csv or .parquet)"),
        (("STUDY", "--alpha", "0.1"), "studies have declared their rules, so alpha would be ign"),
        (
            ("STUDY", "--score", "nmi"),
            "must be one of recall@1, recall@2, recall@4, recall@8; got 'nmi'",
        ),
        ((CUB200, "--by", "dataset,backbone", "--output", "page.html"), "keep one with --where"),
        (("nowhere",), "nowhere"),
        (("nowhere.csv",), "nowhere.csv"),
        (("bare",), "bare"),
    ],
)
def test_what_cannot_be_reported_is_refused(
    synthetic_folder, tmp_path, monkeypatch, capsys, given, message
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bare").mkdir()
    words = [synthetic_folder if word == "STUDY" else word for word in given]
    assert exit_code("report", *words) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert [path.name for path in tmp_path.rglob("*")] == ["bare"]


def test_a_table_is_judged_by_the_rules_given_with_it(tmp_path, capsys):
    page = tmp_path / "new" / "page.html"
    options = ("--where", "k=1", "--test", "nemenyi", "--alpha", "0.1")
    assert exit_code("report", CUB200, *options, "--output", page) == 0
    text = page.read_text()
    assert "Nemenyi: critical difference" in text


def test_an_output_that_cannot_be_written_is_a_store_error(synthetic_folder, tmp_path, capsys):
    (tmp_path / "file").touch()

    assert exit_code("report", synthetic_folder, "--output", tmp_path / "file" / "page.html") == 4
    assert "cannot write" in capsys.readouterr().err


def test_nmi_and_groups_go_through_page_csv_latex_and_json(tmp_path):
    truth = Truth(scripts=("greek", "latin"), embedding_dims=(16,), seeds=2, has_without_k=True)
    folder = write_store(tmp_path / "s", truth)
    groups = ("--group", "pairs=contrastive,multi_similarity", "--group", "proxies=proxy_anchor")
    files = ("--csv", tmp_path / "csv", "--latex", tmp_path / "tex", "--json", tmp_path / "r.json")
    assert exit_code("report", folder, "--score", "nmi", *groups, *files) == 0

    page = (folder / "report.html").read_text()
    assert "points of NMI above" in page
    assert "pairs minus proxies: " in page
    assert "Mean NMI" in (tmp_path / "csv" / "leaderboard.csv").read_text()
    for ending in ("csv", "tex"):
        scores = (tmp_path / ending / f"without-k-0.{ending}").read_text()
        assert "NMI" in scores
        assert "F1" in scores
        assert "pairs" in (tmp_path / ending / f"loss-groups-table.{ending}").read_text()
    names = [table["name"] for table in json.loads((tmp_path / "r.json").read_text())["tables"]]
    assert {"without-k-0", "loss-groups-table", "nmi-0"} <= {*names}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("a=",), "--group must be NAME=LOSS,LOSS; got 'a='"),
        (("a=proxy_anchor", "a=contrastive"), "--group a is given twice"),
    ],
)
def test_groups_that_cannot_be_read_are_refused(synthetic_folder, capsys, given, message):
    options = [part for text in given for part in ("--group", text)]
    assert exit_code("report", synthetic_folder, *options) != 0
    assert message in " ".join(capsys.readouterr().err.split())


def test_what_the_plan_warns_of_is_on_the_page(synthetic_folder, tmp_path, monkeypatch, capsys):
    warnings = "podium.orchestrator.planning.block_plan.slow_proxies"
    monkeypatch.setattr(warnings, lambda study: [f"Warning: {', '.join(study.loss_names)}."])
    given = ("--output", tmp_path / "page.html", "--json", "-")
    assert exit_code("report", synthetic_folder, *given) == 0
    expected = "contrastive, multi_similarity, proxy_anchor."
    assert expected in json.loads(capsys.readouterr().out)["notices"]


@pytest.mark.parametrize("has_browser", [True, False])
def test_the_page_is_opened_in_the_browser_of_the_machine(tmp_path, has_browser):
    page, browser, opened = (tmp_path / name for name in ("page.html", "browser", "opened"))
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    browser.chmod(0o755)
    usual = {name: os.environ[name] for name in os.environ.keys() - {"DISPLAY", "BROWSER"}}
    here = {"BROWSER": f"{browser} %s"} if has_browser else {"PATH": ""}
    words = ("report", CUB200, *TABLE, "--output", page, "--open")
    end = subprocess.run(
        [sys.executable, "-m", "podium", *words],
        env=usual | here,
        cwd=CUB200.parents[1],
        capture_output=True,
        text=True,
    )
    assert page.exists()
    if has_browser:
        assert (end.returncode, opened.read_text().strip()) == (0, page.as_uri())
    else:
        assert "was written, and no browser of this machine opens it" in end.stderr
