"""Choices by validation, with what test says of the candidates. C candidates, E test runs.

A choice is of a config, in one search. The run by which a candidate was chosen is correlated with
the choice, so candidates know which test runs were those of their own search.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from podium.analysis.estimates.split_halves import MEAN_DIGITS, top_shares
from podium.analysis.scores.protocol_run_checks import SEARCH

Run = tuple[str, int | None, int]
"""Stage, repeat and seed of a test run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The candidates of one choice: those that completed, in the order they were suggested.

    Where other networks than those of the search are tested, candidates that were pruned or failed
    in the search may still be the best: they take part, and are never picked.

    Attributes:
        place: block, loss and protocol.
        unit: repeat of the search; choices and own runs of one repeat are resampled together.
        candidates: names of the configs.
        val_C: mean validation score over own runs and folds; -inf if not completed.
        test_CE: test score of each candidate in each test run, mean over folds; NaN if missing.
        runs: keys of the test runs (stage, repeat, seed).
    """

    place: tuple[str, ...]
    unit: int
    candidates: tuple[str, ...]
    val_C: NDArray[np.float64]
    test_CE: NDArray[np.float64]
    runs: tuple[Run, ...]

    @property
    def is_own_E(self) -> NDArray[np.bool_]:
        """Whether a test run is one that the choice was made by."""
        return np.array([run[:2] == ("search", self.unit) for run in self.runs], dtype=bool)

    @property
    def pick_shares_C(self) -> NDArray[np.float64]:
        """1 for what validation picks; candidates that tie share it."""
        return top_shares(self.val_C)

    def compared(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which test runs but its own all picks have, and which candidates have all of these."""
        is_known_CE = np.isfinite(self.test_CE)
        used_E = ~self.is_own_E & is_known_CE[self.pick_shares_C > 0].all(axis=0)
        return used_E, np.logical_and.reduce(is_known_CE[:, used_E], axis=1)

    def with_runs(self, kept_E: NDArray[np.bool_]) -> "Candidates":
        """The candidates with some of their test runs."""
        runs = tuple(run for run, kept in zip(self.runs, kept_E, strict=True) if kept)
        return replace(self, test_CE=self.test_CE[:, kept_E], runs=runs)


def config_candidates(
    runs: pl.DataFrame, *, tested: pl.DataFrame | None = None
) -> tuple[Candidates, ...]:
    """The configs of each search; in order of block, loss, protocol, repeat.

    A config takes part if all its runs of that search completed with a validation score; else it
    is pruned if one was pruned and none failed, and failed otherwise. A search in which nothing
    completed is left out.

    Args:
        runs: table of runs from ``checked``. Test runs of other repeats and of stage
            ``final`` are those with the same block, loss, protocol and config.
        tested: table whose test scores replace those of ``runs``, as where all protocols are
            scored by the same networks. Its runs of stage ``search`` still count as own runs of
            the choices of their repeat: they may share its seed. Configs that
            did not complete in the search are candidates then.
    """
    searched = _search_outcomes(runs.filter(pl.col("stage") == "search"))
    # A run that lacks the test score of a fold has none.
    is_whole = pl.col("test").is_not_null().all() & (pl.col("state") == "COMPLETE").all()
    means = (
        (runs if tested is None else tested)
        .group_by(*SEARCH[:3], "stage", "repeat", "seed", "config")
        .agg(pl.when(is_whole).then(pl.col("test").mean()).alias("test"))
        .drop_nulls("test")
    )
    tests, no_tests = means.partition_by(SEARCH[:3], as_dict=True), means.clear()
    found = []
    for (*place, repeat), outcomes in searched.group_by(SEARCH, maintain_order=True):
        is_complete = pl.col("state") == "COMPLETE"
        complete = outcomes.filter(is_complete)
        if complete.is_empty():
            continue
        val = pl.when(is_complete).then(pl.col("val")).otherwise(-np.inf)
        candidates = complete if tested is None else outcomes.with_columns(val.alias("val"))
        names = tuple(candidates["config"])
        keys, test_CE = _matrix(tests.get(tuple(place), no_tests), names)
        found.append(
            Candidates(
                place=tuple(str(part) for part in place),
                unit=int(str(repeat)),
                candidates=names,
                val_C=candidates["val"].to_numpy(),
                test_CE=test_CE,
                runs=keys,
            )
        )
    return tuple(found)


def without_repeat(candidate_sets: Sequence[Candidates], repeat: int) -> tuple[Candidates, ...]:
    """The candidates without one repeat: neither its choices nor its test runs."""
    return tuple(
        candidates.with_runs(np.array([run[1] != repeat for run in candidates.runs], dtype=bool))
        for candidates in candidate_sets
        if candidates.unit != repeat
    )


def _search_outcomes(searched: pl.DataFrame) -> pl.DataFrame:
    """One row per search and config, as suggested: its state and mean validation score."""
    is_pruned = (pl.col("state") == "PRUNED").any()
    is_scored = pl.col("val").is_not_null().all()
    is_failed = (pl.col("state") == "FAILED").any() | ~(is_pruned | is_scored)
    return (
        searched.group_by(*SEARCH, "config")
        .agg(
            pl.when(is_failed)
            .then(pl.lit("FAILED"))
            .when(is_pruned)
            .then(pl.lit("PRUNED"))
            .otherwise(pl.lit("COMPLETE"))
            .alias("state"),
            pl.when(is_scored).then(pl.col("val").mean().round(MEAN_DIGITS)).alias("val"),
            pl.col("index").min(),
        )
        .sort(*SEARCH, "index", "config", nulls_last=True)
    )


def _matrix(
    tested: pl.DataFrame, configs: Sequence[str]
) -> tuple[tuple[Run, ...], NDArray[np.float64]]:
    """Names of the test runs of these configs, and scores with a row for each config."""
    known = tested.filter(pl.col("config").is_in(configs))
    runs = sorted(known.select("stage", "repeat", "seed").unique().rows(), key=str)
    rows = {config: number for number, config in enumerate(configs)}
    columns = {run: number for number, run in enumerate(runs)}
    test_CE = np.full((len(rows), len(columns)), np.nan)
    for config, stage, repeat, seed, test in known.select(
        "config", "stage", "repeat", "seed", "test"
    ).iter_rows():
        test_CE[rows[config], columns[stage, repeat, seed]] = test
    return tuple(runs), test_CE
