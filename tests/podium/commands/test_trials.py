"""The list of trials: folds, test scores, and the rows that were asked for."""

import csv
import io
import json
from dataclasses import replace
from functools import partial

import pytest

from orchestrator.results.records.metric_columns import flat_test_column, known_test_columns
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.trial_files.reader import Reader
from tests.analysis.synthetic_folds import FOLDS, TRUTH, fold_rows, write_folds
from tests.analysis.synthetic_study import write_store
from tests.orchestrator.results.store_rows import write_as_before_flat_test_scores
from tests.podium.calling import output_of


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return str(write_folds(tmp_path_factory.mktemp("store") / "folds"))


@pytest.fixture
def trials(capsys, store):
    """Output of ``podium trials STORE ARGUMENTS``."""
    return partial(output_of, capsys, "trials", store)


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


def test_searches_have_no_test_scores(trials):
    searched = [row for row in json.loads(trials("--json")) if row["stage"] == "search"]
    assert searched
    for row in searched:
        assert {row[name] for name in known_test_columns(row)} == {None}


def test_the_text_shows_the_fold_and_the_score_of_the_objective(trials):
    header, *lines = trials("--stage", "final").splitlines()
    assert header.split() == [
        *("trial_id", "loss", "fold", "state", "epochs_run", "objective", "test", "seconds")
    ]
    for line, row in zip(lines, fold_rows(), strict=True):
        trial_id, loss, fold, *_, test, _ = line.split()
        assert (trial_id, loss, int(fold)) == (row["trial_id"], row["loss"], row["fold"])
        assert test == f"{row['test_scores'][0]['value']:.4g}"


def test_the_text_leaves_out_what_all_rows_share(trials):
    header, *lines = trials("--loss", "contrastive", "--fold", "2").splitlines()
    assert "loss" not in header
    assert "fold" not in header
    assert len(lines) == 1


@pytest.mark.parametrize(
    ("options", "number"),
    [
        (("--fold", "3"), 3),
        (("--stage", "final"), 3 * FOLDS),
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
    assert f"{option} must be one of {choices}; got {value}" in trials(option, value, code=2)


def test_a_store_from_before_flat_test_scores_is_listed_the_same(capsys, store, tmp_path):
    folder = write_folds(tmp_path / "folds")
    write_as_before_flat_test_scores(StudyPaths(folder))
    for form in ("--json", "--csv"):
        assert output_of(capsys, "trials", str(folder), form) == output_of(
            capsys, "trials", store, form
        )


def test_failed_trials_are_those_of_the_loss_that_was_asked_for(capsys, tmp_path):
    truth = replace(TRUTH, search_trials=6)
    folder = write_store(tmp_path / "store", truth, stages=("search",))
    failed = Reader(folder).trials().filter(state="FAILED").collect()
    assert len(failed) == 3
    rows = json.loads(
        output_of(capsys, "trials", str(folder), "--failed", "--loss", "contrastive", "--json")
    )
    assert [row["trial_id"] for row in rows] == [failed["trial_id"][0]]
