"""Shared finals that fail or are lost, in studies that grow, and under splits that are equal."""

from dataclasses import replace

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from podium.errors import CorruptFileError
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import read_store
from podium.orchestrator.results.trial_files import commit_trials as copying
from podium.orchestrator.study.study import FinalSettings, StudyLoss
from podium.search_spaces.parameters import Choice, Space
from podium.trainables.errors import Diverged
from tests.orchestrator.planted import PlantedTrial, hashed
from tests.orchestrator.shared_finals import (
    CROSSED,
    FOLDS,
    KFOLD,
    PROTOCOLS,
    SMALL,
    Counting,
    Killed,
    finals_of,
    run_planted,
)
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.small_study import InterruptedAfter, rows, run_here, tables


class FailingFinals(PlantedTrial):
    """The published default diverges where all classes are trained on."""

    def __call__(self, settings, *, resume, save, keep=None):
        if settings.protocol.kind == "refit" and settings.hyperparameters.get("margin") == 0.5:
            raise Diverged("the loss is nan", 0, 1)
        yield from super().__call__(settings, resume=resume, save=save, keep=keep)


def test_the_copies_of_what_failed_have_failed_for_the_same_cause(tmp_path):
    study = replace(SMALL, final=FinalSettings(seeds=2, protocol=KFOLD, train_on=("all",)))
    run_planted(study, tmp_path, FailingFinals(hashed))
    failed = finals_of(tmp_path, study).filter("is_default")
    originals = failed.filter(pl.col("same_as").is_null())
    copies = failed.filter(pl.col("same_as").is_not_null())
    assert set(failed["state"]) == {"FAILED"}
    assert set(failed["cause"]) == {"diverged"}
    assert len(originals) + len(copies) == 2 * len(PROTOCOLS[:2])
    before = tables(tmp_path, study)
    again = run_here(study, tmp_path, InterruptedAfter(0))
    assert again.progress.failed == len(failed)
    assert_frame_equal(tables(tmp_path, study), before)


def test_a_protocol_that_joins_a_finished_study_copies_from_gathered_files(tmp_path):
    two = replace(CROSSED, protocols=PROTOCOLS[:2])
    run_planted(two, tmp_path)
    folder = tmp_path / two.name
    files = list((folder / "trials").rglob("*.parquet"))
    assert all(file.name.endswith(".gathered.parquet") for file in files)
    before = tables(tmp_path, two)
    trial = Counting()
    run_planted(CROSSED, tmp_path, trial)
    after = tables(tmp_path, CROSSED)
    assert_frame_equal(
        after.filter(pl.col("trial_id").is_in(before["trial_id"].to_list())), before
    )
    joined = finals_of(tmp_path).filter(pl.col("protocol") == "kfold")
    copies = joined.filter(pl.col("same_as").is_not_null())
    assert set(copies["same_as"]) & set(before["trial_id"])
    assert len(trial.ran) == rows(tmp_path, CROSSED)["same_as"].null_count() - (
        before["same_as"].null_count()
    )


def test_copies_that_fall_due_in_the_last_suggestion_have_rows_before_the_run_is_finished(
    tmp_path,
):
    """The space of the second search turns out to be exhausted while nothing runs."""
    margins = Space({"margin": Choice((0.5, 0.3))})
    search = replace(SMALL.search, order="asynchronous", trials=9, tune=())
    both = replace(
        SMALL,
        search=search,
        losses=(StudyLoss("contrastive", space=margins),),
        final=FinalSettings(seeds=1, protocol=KFOLD),
    )
    run_planted(replace(both, protocols=both.protocols[:1]), tmp_path, simulated_trial)
    run_planted(both, tmp_path, simulated_trial)
    assert rows(tmp_path, both).filter(pl.col("stage") == "search").height == 2 * 2
    finals = finals_of(tmp_path, both)
    first, second = finals.partition_by("protocol", maintain_order=True)
    assert len(first) == len(second)
    assert second["same_as"].null_count() == 0


def test_more_trials_seeds_and_trainings_add_each_final_once(tmp_path):
    few = replace(SMALL, final=replace(SMALL.final, train_on=("part",)))
    run_planted(few, tmp_path)
    before = tables(tmp_path, few)
    final = replace(SMALL.final, seeds=2)
    grown = replace(SMALL, final=final, search=replace(SMALL.search, trials=14))
    assert run_here(grown, tmp_path, InterruptedAfter(97, PlantedTrial(hashed))).interrupted
    run_planted(grown, tmp_path)
    after = tables(tmp_path, grown)
    assert_frame_equal(
        after.filter(pl.col("trial_id").is_in(before["trial_id"].to_list())), before
    )
    finals = finals_of(tmp_path, grown)
    keys = ["search", "config_hash", "train_on", "seed_index", "fold"]
    assert finals.select(keys).is_duplicated().sum() == 0
    places = 2 * (FOLDS + 1)  # seeds x (folds on a part, all classes)
    complete = finals.group_by("search", "config_hash").len().filter(pl.col("len") == places)
    winners = finals.filter("is_winner").select("search", "config_hash").unique()
    assert len(winners.join(complete, on=["search", "config_hash"])) == len(winners) == 2
    assert set(before.filter("is_winner")["config_hash"]) - set(winners["config_hash"])


def test_a_row_that_is_gone_is_trained_again_and_its_copies_stay(tmp_path):
    study = replace(SMALL, search=replace(SMALL.search, lag=1))
    with pytest.raises(Killed):
        _killed_before_gathering(study, tmp_path)
    copies = finals_of(tmp_path, study).filter(pl.col("same_as").is_not_null())
    gone = copies["same_as"][0]
    (file,) = (tmp_path / study.name / "trials").rglob(f"{gone}.parquet")
    whole = tables(tmp_path, study)
    file.unlink()
    trial = Counting()
    run_planted(study, tmp_path, trial)
    assert len(trial.ran) == 1
    assert_frame_equal(tables(tmp_path, study), whole)


def _killed_before_gathering(study, storage):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("podium.orchestrator.run.run_study.gather_all", _kill)
        run_planted(study, storage)


def _kill(paths):
    raise Killed


def test_an_original_without_a_row_is_reported(tmp_path):
    run_planted(SMALL, tmp_path)
    paths = StudyPaths(tmp_path / SMALL.name)
    with pytest.raises(CorruptFileError, match="has no row of trial nobody, to be copied"):
        copying.copy_trials(paths, read_store(paths).schema, "s", [{"same_as": "nobody"}])
