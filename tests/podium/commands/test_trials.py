"""The list of trials: folds, test scores, and the rows that were asked for."""

import csv
import hashlib
import io
import json
from dataclasses import replace
from functools import partial

import pytest

from podium.orchestrator.results.records.metric_columns import flat_test_column
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.trial_schema import trial_schema
from podium.orchestrator.results.trial_files.reader import Reader
from tests.analysis.synthetic_folds import FOLDS, TRUTH, fold_rows, write_folds
from tests.analysis.synthetic_study import rows as trial_rows
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import KS
from tests.orchestrator.results.store_rows import commit_flat
from tests.podium.calling import output_of


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return str(write_folds(tmp_path_factory.mktemp("store") / "folds"))


@pytest.fixture
def trials(capsys, store):
    """Output of ``podium trials STORE ARGUMENTS``."""
    return partial(output_of, capsys, "trials", store)


def short_rows():
    """The finals, then searches, with ids as long as those of real trials."""
    searched = (row for row in trial_rows(TRUTH) if row["stage"] == "search")
    for row in (*fold_rows(), *searched):
        trial_id = hashlib.blake2b(row["trial_id"].encode(), digest_size=8).hexdigest()
        yield {**row, "trial_id": trial_id}


@pytest.fixture(scope="module")
def short_store(tmp_path_factory):
    folder = write_store(tmp_path_factory.mktemp("store") / "short", TRUTH, stages=())
    schema = trial_schema(KS, {"margin": "float"})
    for row in short_rows():
        assert commit_flat(StudyPaths(folder), schema, row)
    return str(folder)


@pytest.fixture
def short(capsys, monkeypatch, short_store):
    """Text of ``podium trials STORE ARGUMENTS``, in a terminal of so many columns."""

    def text(*arguments, width=80):
        monkeypatch.setenv("COLUMNS", str(width))
        return output_of(capsys, "trials", short_store, *arguments)

    return text


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_json_and_csv_have_fold_and_every_test_score_by_the_names_of_the_trial_table(trials):
    found = {row["trial_id"]: row for row in json.loads(trials("--json"))}
    for row in fold_rows():
        shown = found[row["trial_id"]]
        assert shown["fold"] == row["fold"]
        for score in row["test_scores"]:
            assert shown[flat_test_column(score["metric"], score["k"])] == score["value"]
    of_csv = rows_of(trials("--csv"))
    assert [row["trial_id"] for row in of_csv] == list(found)
    last = found[of_csv[0]["trial_id"]]
    assert float(of_csv[0]["test_recall_at_8"]) == last["test_recall_at_8"]
    assert of_csv[0].keys() == last.keys()


def test_the_text_has_scores_in_percent_then_what_was_searched_and_ids_last(short):
    header, *lines = short("--stage", "final", width=70).splitlines()
    assert header.split() == ["loss", "test", "objective", "searched", "fold", "trial_id"]
    for line, row in zip(lines[: 3 * FOLDS], short_rows(), strict=False):
        loss, test, objective, searched, fold, trial_id = line.split()
        assert (loss, int(fold), trial_id) == (row["loss"], row["fold"], row["trial_id"])
        assert searched == f"margin={row['hp.margin']:.2g}".replace("=0.", "=.")
        assert float(test) == pytest.approx(100 * row["test_scores"][0]["value"], abs=0.01)
        assert float(objective) == pytest.approx(100 * row["objective"], abs=0.01)


@pytest.mark.parametrize("width", [40, 80, 120, 250])
@pytest.mark.parametrize("options", [(), ("--loss", "contrastive"), ("--stage", "search")])
def test_the_text_fits(short, options, width):
    lines = short(*options, width=width).splitlines()
    assert all(len(line) <= width for line in lines)
    assert lines[0].startswith("loss ") == (not options or options[0] == "--stage")


def test_searches_show_what_they_tried_and_no_test_score(short):
    header, first, *_ = short("--stage", "search", "--loss", "contrastive").splitlines()
    assert "margin=" in first
    assert "test" not in header.split()


@pytest.mark.parametrize("column", ["test", "objective", "margin"])
def test_numbers_are_sorted_from_the_largest_and_what_is_missing_comes_last(trials, column):
    name = {"test": "test_recall_at_1", "margin": "hp.margin"}.get(column, column)
    values = [row[name] for row in json.loads(trials("--sort", column, "--json"))]
    known = [value for value in values if value is not None]
    assert known == sorted(known, reverse=True)
    assert values == known + [None] * (len(values) - len(known))
    of_csv = [row[name] for row in rows_of(trials("--sort", column, "--csv"))]
    assert of_csv == ["" if value is None else str(value) for value in values]


def test_the_first_trials_are_those_of_all_that_fit_the_options(trials, short):
    every = [row for row in fold_rows() if row["loss"] == "contrastive"]
    best = max(every, key=lambda row: row["test_scores"][0]["value"])
    options = ("--loss", "contrastive", "--sort", "test", "--top")
    (found,) = json.loads(trials(*options, "1", "--json"))
    assert found["test_recall_at_1"] == best["test_scores"][0]["value"]
    assert len(json.loads(trials(*options, "3", "--json"))) == 3
    assert len(json.loads(trials(*options, "99", "--json"))) == len(every) + 3
    text = short(*options, "2", width=250).splitlines()
    assert len(text) == 3


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (("--top", "3"), "top 3 needs sort"),
        (("--top", "0", "--sort", "test"), "should be greater than or equal to 1"),
        (("--sort", "recall"), "sort must be one of "),
        (("--failed", "--sort", "test"), "--sort and --top go with the list of trials"),
        (("--json", "--csv"), "--json and --csv exclude each other"),
    ],
)
def test_what_cannot_be_listed_is_refused(trials, options, rule):
    assert rule in " ".join(trials(*options, code=2).replace("│", "").split())


@pytest.mark.parametrize(
    ("options", "number"),
    [
        (("--fold", "3"), 3),
        (("--stage", "search", "--loss", "proxy_anchor"), 3),
        (("--stage", "final", "--loss", "contrastive", "--fold", "1"), 1),
        (("--stage", "search", "--fold", "3"), 0),
    ],
)
def test_options_keep_the_rows_that_fit_all_of_them(trials, options, number):
    pairs = zip(options[::2], options[1::2], strict=True)
    wanted = {name.removeprefix("--"): value for name, value in pairs}
    for rows in (json.loads(trials(*options, "--json")), rows_of(trials(*options, "--csv"))):
        assert len(rows) == number
        assert all(str(row[name]) == value for row in rows for name, value in wanted.items())


@pytest.mark.parametrize(
    ("option", "value", "choices"),
    [
        ("--fold", "4", "0, 1, 2, 3"),
        ("--loss", "triplet", "contrastive, multi_similarity, proxy_anchor"),
        ("--stage", "test", "final, search"),
    ],
)
def test_a_value_that_no_trial_has_is_refused_with_those_there_are(trials, option, value, choices):
    name = option.removeprefix("--")
    assert f"{name} must be one of {choices}; got {value}" in trials(option, value, code=2)


def test_failed_trials_are_those_of_the_loss_that_was_asked_for(capsys, tmp_path):
    truth = replace(TRUTH, search_trials=6)
    folder = write_store(tmp_path / "store", truth, stages=("search",))
    failed = Reader(folder).trials().filter(state="FAILED").collect()
    assert len(failed) == 3
    rows = json.loads(
        output_of(capsys, "trials", str(folder), "--failed", "--loss", "contrastive", "--json")
    )
    assert [row["trial_id"] for row in rows] == [failed["trial_id"][0]]
