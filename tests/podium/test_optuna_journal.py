"""A journal of Optuna made of a results folder, read back by Optuna itself."""

import json
from dataclasses import replace

import optuna
import polars as pl
import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from podium.errors import PodiumError
from podium.optuna_journal import write_searches
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.search_samplers.optuna_study import distribution_of
from podium.orchestrator.study.configs import space_of
from podium.orchestrator.study.study import StudyLoss
from tests.orchestrator.results.store_rows import change_json
from tests.orchestrator.small_study import STUDY, run_here

STATES = {"COMPLETE": "COMPLETE", "PRUNED": "PRUNED", "FAILED": "FAIL"}


@pytest.fixture(scope="module")
def storage(tmp_path_factory):
    folder = tmp_path_factory.mktemp("storage")
    run_here(STUDY, folder)
    return folder


@pytest.fixture(scope="module")
def exported(storage):
    """The journal of that study, which nothing may change."""
    journal = storage / "journal.log"
    return journal, write_searches(storage / "small", journal)


@pytest.fixture
def journal(tmp_path):
    return tmp_path / "journal.log"


def opened_as_a_dashboard(journal):
    return JournalStorage(JournalFileBackend(str(journal)))


def studies_in(journal):
    """Study name -> study."""
    opened = opened_as_a_dashboard(journal)
    names = [found.study_name for found in optuna.get_all_study_summaries(opened)]
    return {name: optuna.load_study(study_name=name, storage=opened) for name in names}


def search_rows(folder):
    rows = Reader(folder).trials().filter(pl.col("stage") == "search").collect()
    assert len(rows) > 0
    return rows


def all_trials(journal):
    return [trial for study in studies_in(journal).values() for trial in study.trials]


def test_every_search_is_a_study_and_every_trial_is_in_it(storage, exported):
    journal, num_trials = exported
    rows = search_rows(storage / "small")
    studies = studies_in(journal)
    assert set(studies) == {f"small/{search}" for search in rows["search"].unique()}
    assert (len(studies), num_trials) == (4, len(rows))
    assert rows["state"].n_unique() > 1, "the study should prune some"
    scores = Reader(storage / "small").scores().filter(stage="search", role="val", metric="recall")
    curves = (
        scores.filter(k=1).select("trial_id", "epoch", "value").collect().rows_by_key("trial_id")
    )
    for (search,), part in rows.group_by("search"):
        study = studies[f"small/{search}"]
        assert study.direction == optuna.study.StudyDirection.MAXIMIZE
        assert study.metric_names == ["validation Recall@1"]
        assert study.user_attrs["loss"] == part["loss"][0]
        space = space_of(STUDY, study.user_attrs["loss"])
        expected = {name: distribution_of(found) for name, found in space.parameters.items()}
        by_id = {trial.user_attrs["trial_id"]: trial for trial in study.trials}
        assert len(by_id) == len(study.trials) == len(part)
        for row in part.iter_rows(named=True):
            trial = by_id[row["trial_id"]]
            assert_equal(trial, row)
            assert trial.intermediate_values == dict(curves.get(row["trial_id"], ()))
            assert set(trial.distributions.items()) <= set(expected.items())
            assert trial.distributions.keys() == trial.params.keys()
        assert study.best_value == part.filter(state="COMPLETE")["objective"].max()


def assert_equal(trial, row):
    assert trial.state.name == STATES[row["state"]]
    assert trial.value == (None if row["state"] == "FAILED" else row["objective"])
    for name in ("config_hash", "loss", "block", "protocol", "index", "is_default", "epochs_run"):
        assert trial.user_attrs[name] == row[name]
    assert trial.datetime_start.astimezone() == row["started_at"]
    assert trial.datetime_complete.astimezone() == row["ended_at"]
    others = trial.user_attrs.get("not_in_space", {})
    hyperparameters = {
        name.removeprefix("hp."): value
        for name, value in row.items()
        if name.startswith("hp.") and value is not None
    }
    assert trial.params | others == hyperparameters
    assert trial.params


def test_no_test_score_is_in_the_journal(tmp_path, journal):
    run_here(replace(STUDY, quarantine="record"), tmp_path)
    folder = tmp_path / "small"
    write_searches(folder, journal)
    tests = set(Reader(folder).test_scores().collect()["value"])
    kept = set(Reader(folder).scores().collect()["value"])
    assert tests - kept, "the study should have test scores of their own"
    assert not numbers_in(map(json.loads, journal.read_text().splitlines())) & (tests - kept)
    assert "test" not in {key for trial in all_trials(journal) for key in trial.user_attrs}


def numbers_in(value):
    """Every number in nested JSON."""
    if isinstance(value, dict):
        return numbers_in(value.values())
    if isinstance(value, float):
        return {value}
    if isinstance(value, str | int | bool) or value is None:
        return set()
    return set().union(*map(numbers_in, value))


def test_a_value_outside_the_space_is_kept_as_an_attribute(tmp_path, journal):
    study = replace(STUDY, losses=(StudyLoss("contrastive", values={"margin": -0.5}),))
    run_here(study, tmp_path)
    write_searches(tmp_path / "small", journal)
    for found in studies_in(journal).values():
        default, *others = sorted(found.trials, key=lambda trial: trial.user_attrs["index"])
        assert default.user_attrs["not_in_space"]["margin"] == -0.5
        assert "margin" not in default.params
        assert default.values
        assert all("margin" in trial.params for trial in others)


def test_a_file_that_is_there_is_refused_and_left_alone(storage, journal):
    journal.write_text("theirs")
    with pytest.raises(PodiumError, match="needs a new file"):
        write_searches(storage / "small", journal)
    assert journal.read_text() == "theirs"


def test_trials_of_a_search_that_study_yaml_does_not_plan_are_refused(tmp_path):
    run_here(STUDY, tmp_path)
    change_json(tmp_path / "small" / "study.json", embedding_dims=[8, 32])
    with pytest.raises(PodiumError, match=r"study.json has no search glyphs-greek.conv_small.16"):
        write_searches(tmp_path / "small", tmp_path / "journal.log")
    with pytest.raises(PodiumError, match="in a folder that exists"):
        write_searches(tmp_path / "small", tmp_path / "none" / "journal.log")
