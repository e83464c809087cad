"""Studies of made-up trials by each sampler, interrupted and not."""

from dataclasses import replace

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from podium.orchestrator.results.records.journal import read_asks
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.study.study import EarlyStopping, StudyLoss
from podium.search_spaces.parameters import Choice, Real, Space
from tests.orchestrator.small_study import STUDY, InterruptedAfter, rows, run_here, tables

ONE_LOSS = replace(STUDY, embedding_dims=(8,), losses=(StudyLoss("contrastive"),))


def study_of(sampler, **changes):
    return replace(ONE_LOSS, search=replace(STUDY.search, sampler=sampler, **changes))


def searched_by(sampler, **changes):
    """Six trials; of samplers that try all values over a list."""
    if sampler not in ("grid", "coordinate"):
        return study_of(sampler, trials=6, **changes)
    margins = Space({"margin": Choice((0.1, 0.2, 0.4, 0.6, 0.8, 0.9))})
    study = study_of(sampler, trials=7, tune=(), **changes)
    return replace(study, losses=(StudyLoss("contrastive", space=margins),))


def asks_of(storage, study=ONE_LOSS):
    return read_asks(StudyPaths(storage / study.name))


@pytest.mark.parametrize("sampler", ["qmc", "coordinate"])
def test_an_interrupted_search_ends_in_the_same_tables(tmp_path, sampler):
    study = searched_by(sampler)
    run_here(study, tmp_path / "undisturbed")
    for step in (6, 15):
        run_here(study, tmp_path / "disturbed", InterruptedAfter(step))
    run_here(study, tmp_path / "disturbed")
    assert_frame_equal(tables(tmp_path / "disturbed"), tables(tmp_path / "undisturbed"))


def test_a_grid_ends_its_search_when_every_point_was_tried(tmp_path):
    margins = Space({"margin": Real(0.0, 1.0, step=0.25)})
    study = study_of("grid", trials=9, tune=(), early_stopping=EarlyStopping(kind="none"))
    study = replace(study, losses=(StudyLoss("contrastive", space=margins),))
    assert not run_here(study, tmp_path).interrupted
    searched = rows(tmp_path).filter(pl.col("stage") == "search")
    assert sorted(searched["hp.margin"]) == [0.0, 0.25, 0.5, 0.75, 1.0]
    (asks,) = asks_of(tmp_path).values()
    assert len(asks) == 5
    assert set(rows(tmp_path).filter(pl.col("stage") == "final")["selected_from"]) == {5}
