"""Choices by validation, with what test says of the candidates. C candidates, E test runs.

A choice is of a config, in one search; or of a loss, among the winners of the searches of one
repeat. The run by which a candidate was chosen is correlated with the choice, so candidates know
which test runs were those of their own search.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from podium.analysis.estimates.split_halves import MEAN_DIGITS, top_shares
from podium.analysis.scores.protocol_run_checks import SEARCH


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The candidates of one choice: those that completed, in the order they were suggested.

    Where other networks than those of the search are tested, candidates that were pruned or failed
    in the search may still be the best: they take part, and are never picked.

    Attributes:
        place: block, loss and protocol; of losses, block and protocol.
        unit: repeat of the search; choices and own runs of one repeat are resampled together.
        candidates: names of the configs, or of the losses.
        indices: number of each suggestion; None if unknown.
        val_C: mean validation score over own runs and folds; -inf if not completed.
        test_CE: test score of each candidate in each test run, mean over folds; NaN if missing.
        runs: keys of the test runs (stage, repeat, seed).
        is_own_E: whether a test run is one that the choice was made by.
    """

    place: tuple[str, ...]
    unit: int
    candidates: tuple[str, ...]
    indices: tuple[int | None, ...]
    val_C: NDArray[np.float64]
    test_CE: NDArray[np.float64]
    runs: tuple[Hashable, ...]
    is_own_E: NDArray[np.bool_]

    @property
    def pick_shares_C(self) -> NDArray[np.float64]:
        """1 for what validation picks; candidates that tie share it."""
        return top_shares(self.val_C)


def config_candidates(
    runs: pl.DataFrame, *, tested: pl.DataFrame | None = None
) -> tuple[Candidates, ...]:
    """The configs of each search; in order of block, loss, protocol, repeat.

    A config takes part if all its runs of that search completed with a validation score; else it
    is pruned if one was pruned and none failed, and failed otherwise. A search in which nothing
    completed is left out.

    Args:
        runs: table of runs from ``checked_runs``. Test runs of other repeats and of stage
            ``final`` are those with the same block, loss, protocol and config.
        tested: table whose test scores replace those of ``runs``, as where all protocols are
            scored by the same networks. Its runs of stage ``search`` still count as own runs of
            the choices of their repeat: they may share its seed. Configs that
            did not complete in the search are candidates then.
    """
    searched = _search_outcomes(runs.filter(pl.col("stage") == "search"))
    tests = _tests(runs if tested is None else tested)
    found = []
    for (*place, repeat), outcomes in searched.group_by(SEARCH, maintain_order=True):
        is_complete = pl.col("state") == "COMPLETE"
        complete = outcomes.filter(is_complete)
        if complete.is_empty():
            continue
        val = pl.when(is_complete).then(pl.col("val")).otherwise(-np.inf)
        candidates = complete if tested is None else outcomes.with_columns(val.alias("val"))
        names = tuple(candidates["config"])
        keys, test_CE = _matrix(tests.get(tuple(place), {}), names)
        found.append(
            Candidates(
                place=tuple(str(part) for part in place),
                unit=int(str(repeat)),
                candidates=names,
                indices=tuple(candidates["index"]),
                val_C=candidates["val"].to_numpy(),
                test_CE=test_CE,
                runs=keys,
                is_own_E=np.array([key[:2] == ("search", repeat) for key in keys], dtype=bool),
            )
        )
    return tuple(found)


def without_repeat(candidate_sets: Sequence[Candidates], repeat: int) -> tuple[Candidates, ...]:
    """The candidates without one repeat: neither its choices nor its test runs."""
    return tuple(
        _without_runs(candidates, repeat)
        for candidates in candidate_sets
        if candidates.unit != repeat
    )


def own_tests(candidates: Candidates) -> Candidates:
    """The candidates with their own test runs only."""
    return _with_runs(candidates, candidates.is_own_E)


def _without_runs(candidates: Candidates, repeat: int) -> Candidates:
    kept_E = np.array([_repeat_of(run) != repeat for run in candidates.runs], dtype=bool)
    return _with_runs(candidates, kept_E)


def _with_runs(candidates: Candidates, kept_E: NDArray[np.bool_]) -> Candidates:
    return replace(
        candidates,
        test_CE=candidates.test_CE[:, kept_E],
        runs=tuple(run for run, kept in zip(candidates.runs, kept_E, strict=True) if kept),
        is_own_E=candidates.is_own_E[kept_E],
    )


def _repeat_of(run: Hashable) -> int | None:
    assert isinstance(run, tuple)
    repeat: int | None = run[1]
    return repeat


def loss_candidates(candidate_sets: Sequence[Candidates]) -> tuple[Candidates, ...]:
    """The picks of all losses in each block, protocol and repeat.

    A loss has the validation score of its pick, and its pick's test runs; where configs tie, the
    mean of theirs. Losses are paired by repeat and seed. Repeats with one loss are left out.

    Args:
        candidate_sets: configs of each search, from ``config_candidates``.
    """
    groups: dict[tuple[str, str, int], list[Candidates]] = {}
    for candidates in candidate_sets:
        block, _, protocol = candidates.place
        groups.setdefault((block, protocol, candidates.unit), []).append(candidates)
    return tuple(
        _between_losses(members) for _, members in sorted(groups.items()) if len(members) > 1
    )


def _between_losses(members: Sequence[Candidates]) -> Candidates:
    block, _, protocol = members[0].place
    runs = tuple(dict.fromkeys(run for member in members for run in member.runs))
    column = {run: number for number, run in enumerate(runs)}
    test_CE = np.full((len(members), len(runs)), np.nan)
    is_own_E = np.zeros(len(runs), dtype=bool)
    for row, member in enumerate(members):
        columns = [column[run] for run in member.runs]
        is_picked = member.pick_shares_C > 0
        test_CE[row, columns] = member.test_CE[is_picked].mean(axis=0)
        is_own_E[columns] |= member.is_own_E
    return Candidates(
        place=(block, protocol),
        unit=members[0].unit,
        candidates=tuple(member.place[1] for member in members),
        indices=(None,) * len(members),
        val_C=np.array([member.val_C.max() for member in members]),
        test_CE=test_CE,
        runs=runs,
        is_own_E=is_own_E,
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


_Run = tuple[str, int | None, int]  # stage, repeat, seed


def _tests(runs: pl.DataFrame) -> dict[tuple[object, ...], dict[str, dict[_Run, float]]]:
    """By place and config, the test score of each completed run, mean over folds.

    A run that lacks the score of a fold has none.
    """
    key = [*SEARCH[:3], "stage", "repeat", "seed", "config"]
    is_whole = pl.col("test").is_not_null().all() & (pl.col("state") == "COMPLETE").all()
    means = (
        runs.group_by(key)
        .agg(pl.when(is_whole).then(pl.col("test").mean()).alias("test"))
        .drop_nulls("test")
        .sort(key)
    )
    found: dict[tuple[object, ...], dict[str, dict[_Run, float]]] = {}
    for block, loss, protocol, stage, repeat, seed, config, test in means.iter_rows():
        of_config = found.setdefault((block, loss, protocol), {}).setdefault(config, {})
        of_config[stage, repeat, seed] = test
    return found


def _matrix(
    tested: Mapping[str, Mapping[_Run, float]], configs: Sequence[str]
) -> tuple[tuple[_Run, ...], NDArray[np.float64]]:
    """Names of the test runs of these configs, and scores with a row for each config."""
    scores = [tested.get(config, {}) for config in configs]
    keys = sorted({key for mine in scores for key in mine}, key=str)
    columns = {key: number for number, key in enumerate(keys)}
    test_CE = np.full((len(configs), len(keys)), np.nan)
    for row, mine in enumerate(scores):
        test_CE[row, [columns[key] for key in mine]] = list(mine.values())
    return tuple(keys), test_CE
