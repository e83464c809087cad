"""What the report says was spent: all attempts, and on which machines."""

from dataclasses import replace
from datetime import timedelta

import polars as pl
import pytest

from podium.analysis.report.compute_cost import compute_cost
from podium.analysis.study_results.study_results import read_results
from podium.orchestrator.results.records.journal_records import Attempt
from podium.orchestrator.results.records.runs import Run, RunSpent, write_run
from podium.orchestrator.results.records.store_paths import StudyPaths
from tests.analysis.page_text import page_of, text_of
from tests.analysis.synthetic_study import rows, write_store
from tests.analysis.synthetic_trials import STARTED_AT, Truth
from tests.orchestrator.journals import write_records

SMALL = Truth(scripts=("latin",), embedding_dims=(16,), search_trials=4, seeds=2)


@pytest.fixture
def one_block_store(tmp_path):
    return write_store(tmp_path / "small", SMALL)


def compute_text(store):
    return text_of(page_of(read_results(store), compute_cost))


def attempt(store, trial_id, number, seconds, *, is_killed=False):
    end = STARTED_AT + timedelta(seconds=seconds)
    made = Attempt(
        trial_id=trial_id,
        search="s",
        number=number,
        node="n",
        pid=1,
        device="cpu",
        started_at=STARTED_AT,
        ended_at=None if is_killed else end,
        cause=None if is_killed else "lost",
    )
    write_records(StudyPaths(store), [made])


def test_trials_that_ran_once_cost_their_own_seconds(one_block_store):
    trials = pl.DataFrame(list(rows(SMALL)), infer_schema_length=None)
    spent = trials.filter(pl.col("stage") != "baseline")["seconds"].sum()
    minutes, seconds = divmod(round(spent), 60)

    took = f"{minutes} min {seconds:02d} s of training without a GPU"
    assert f"Searches and finals made 24 attempts, which took {took}" in compute_text(
        one_block_store
    )
    assert "killed" not in compute_text(one_block_store)


def test_attempts_that_were_made_again_are_counted_and_named(one_block_store):
    trial = next(row["trial_id"] for row in rows(SMALL) if row["stage"] == "search")
    attempt(one_block_store, trial, 1, 7200)
    attempt(one_block_store, trial, 2, 3600)
    text = compute_text(one_block_store)

    assert "Searches and finals made 25 attempts, which took 3 h" in text
    assert "2 h 00 min of it in 1 attempt that were killed, lost or failed, and made again" in text


def test_a_killed_attempt_without_an_end_is_said_to_be_missing(one_block_store):
    trial = next(row["trial_id"] for row in rows(SMALL) if row["stage"] == "search")
    attempt(one_block_store, trial, 1, 0, is_killed=True)
    attempt(one_block_store, trial, 2, 60)

    assert "; 1 attempt without a known end not counted" in compute_text(one_block_store)


def test_unlike_machines_are_warned_of(one_block_store):
    results = read_results(one_block_store)
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

    text = text_of(page_of(replace(results, trials=mixed), compute_cost))

    assert "They ran on 2 nodes on CPUs and GPUs" in text
    assert "They ran on" not in compute_text(one_block_store)


def spent(store, loss, use, seconds, gpus=0.5):
    searches = pl.DataFrame(list(rows(SMALL)), infer_schema_length=None)
    search = searches.filter(pl.col("loss") == loss)["search"].first()
    return RunSpent(
        search=search,
        stage="search",
        use=use,
        tries=1,
        seconds=seconds,
        cpu_seconds=seconds,
        gpu_seconds=gpus * seconds,
        whole_tries=0,
        whole_seconds=0.0,
    )


def run_of(number, *parts, end="finished", ended=()):
    return Run(
        number=number,
        started_at=STARTED_AT,
        host="h",
        pid=1,
        podium_version="1",
        seconds=10.0,
        end=end,
        budget={"gpu_hours": 1.0, "wall_hours": None, "trials": None},
        trials_per_search=9,
        ended_searches=dict(ended),
        spent=parts,
    )


def test_hours_of_all_runs_are_held_against_the_budget(one_block_store):
    first = min(read_results(one_block_store).losses)
    for number, seconds in ((1, 600.0), (2, 600.0)):
        spending = spent(one_block_store, first, "complete", seconds)
        write_run(StudyPaths(one_block_store), run_of(number, spending))
    text = compute_text(one_block_store)
    assert "All runs together used 10 min 00 s of budget.gpu_hours: 1." in text


def test_a_search_that_its_budget_ended_is_reported_as_such(one_block_store):
    trials = pl.DataFrame(list(rows(SMALL)), infer_schema_length=None)
    search = trials.filter(pl.col("stage") == "search")["search"].first()
    write_run(StudyPaths(one_block_store), run_of(1, ended={search: 4}))
    results = read_results(one_block_store)
    budget = {"gpu_hours": 1.0, "wall_hours": None, "trials": None}
    results = replace(results, study={**results.study, "budget": budget})
    assert results.cut_short == {}  # it has all its trials
    wanted = {**results.study["search"], "trials": 9}
    more = replace(results, study={**results.study, "search": wanted})
    larger = {**more.study, "budget": {**budget, "gpu_hours": 2.0}}
    assert replace(more, study=larger).cut_short == {}  # it was opened again
    text = text_of(page_of(more, compute_cost))
    assert "hold 4 of 9 planned trials each: the share of the budget of 1 search was used" in text
