"""What the report says was spent: all attempts, and on which machines."""

from dataclasses import replace
from datetime import timedelta

import polars as pl
import pytest

from analysis.figures.style import series_of
from analysis.page import Page, render_page
from analysis.sections.cost import cost
from analysis.study_results import read_results
from orchestrator.results.attempts import Attempt, write_attempt
from orchestrator.results.paths import StudyPaths
from tests.analysis.page_text import text_of
from tests.analysis.synthetic_study import rows, write_store
from tests.analysis.synthetic_trials import STARTED_AT, Truth

SMALL = Truth(scripts=("latin",), embedding_dims=(16,), search_trials=4, seeds=2)


@pytest.fixture
def store(tmp_path):
    return write_store(tmp_path / "small", SMALL)


def told(store):
    results = read_results(store)
    section = cost(results, series_of(results.losses))
    return text_of(render_page(Page(title="Study", subtitle="", sections=(section,))))


def attempt(store, trial_id, number, seconds, *, is_killed=False):
    end = STARTED_AT + timedelta(seconds=seconds)
    write_attempt(
        StudyPaths(store),
        Attempt(
            trial_id=trial_id,
            number=number,
            node="n",
            pid=1,
            device="cpu",
            started_at=STARTED_AT,
            ended_at=None if is_killed else end,
            cause=None if is_killed else "lost",
        ),
    )


def test_trials_that_ran_once_cost_their_own_seconds(store):
    trials = pl.DataFrame(list(rows(SMALL)), infer_schema_length=None)
    spent = trials.filter(pl.col("stage") != "baseline")["seconds"].sum()
    minutes, seconds = divmod(round(spent), 60)

    assert f"All 24 attempts took {minutes} min {seconds:02d} s of slots without a GPU" in told(
        store
    )
    assert "killed" not in told(store)


def test_attempts_that_were_made_again_are_counted_and_named(store):
    trial = next(row["trial_id"] for row in rows(SMALL) if row["stage"] == "search")
    attempt(store, trial, 1, 7200)
    attempt(store, trial, 2, 3600)
    text = told(store)

    assert "All 25 attempts took 3 h" in text
    assert "2 h 00 min of it in 1 attempt that were killed or lost and made again" in text


def test_a_killed_attempt_without_an_end_is_said_to_be_missing(store):
    trial = next(row["trial_id"] for row in rows(SMALL) if row["stage"] == "search")
    attempt(store, trial, 1, 0, is_killed=True)
    attempt(store, trial, 2, 60)

    assert "; 1 attempt without a known end not counted" in told(store)


def test_unlike_machines_are_warned_of(store):
    results = read_results(store)
    mixed = results.trials.with_columns(
        pl.when(pl.col("stage") == "search")
        .then(pl.lit("0"))
        .otherwise(pl.lit("cpu"))
        .alias("device"),
        pl.when(pl.col("loss") == "contrastive")
        .then(pl.lit("a"))
        .otherwise(pl.lit("b"))
        .alias("node"),
    )

    section = cost(replace(results, trials=mixed), series_of(results.losses))
    text = text_of(render_page(Page(title="Study", subtitle="", sections=(section,))))

    assert "They ran on 2 nodes on CPUs and GPUs" in text
    assert "They ran on" not in told(store)
