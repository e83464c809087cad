"""``podium cv``: cross-validation statistics of a study's final stage."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Annotated

import polars as pl
import typer

from analysis.hypothesis_tests.corrected_resampled_t import FOLD_STD_MEANING
from analysis.scores.class_intervals import class_intervals
from analysis.scores.final_scores import CELL_COLUMNS, final_scores, final_trials
from analysis.scores.fold_tables import cross_validation_pairs, cross_validation_table, fold_table
from analysis.scores.protocol_runs import protocols_of
from orchestrator.results.records.metric_columns import metric_label
from orchestrator.results.records.tournament_rules import rules_of
from orchestrator.results.trial_files.reader import Reader
from podium.arguments.study_argument import StorageFolder, StudyPath, results_folder
from podium.errors import PodiumError
from podium.terminal.printing import AsCsv, AsJson, print_json, print_table, say, table_text

__all__ = ["command"]

_WIDTH = 80
_PERCENT = 100
_PAIR_MEANING = (
    "Pairs: corrected resampled t test over the same folds (Nadeau and Bengio 2003), Holm within "
    "the block, winners only; differences a - b in points. It is meant for validation scores; on "
    "one fixed test set it is a heuristic."
)
_CLASS_MEANING = (
    "se: standard error of the mean if the test classes had been others (bootstrap over classes)."
)


def command(
    study: StudyPath,
    k: Annotated[int | None, typer.Option(help="Which K; the study's first.")] = None,
    storage: StorageFolder = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show mean and spread of test and validation scores over folds, and pairs of losses.

    Needs a final stage of several class-disjoint folds. JSON and CSV hold scores from 0 to 1.
    """
    reader = Reader(results_folder(study, storage))
    chosen = _chosen_k(k, reader.study()["ks"])
    finals = final_trials(reader.trials())
    metric = reader.objective
    scores = final_scores(finals, reader.test_scores(), metric)
    folds = fold_table(finals, scores, chosen, metric)
    errors = class_intervals(finals, reader.test_class_hits(), chosen).select(
        *CELL_COLUMNS, pl.col("standard_error").alias("class_standard_error")
    )
    protocols = {protocol.label: protocol for protocol in protocols_of(reader.study())}
    leaking = [label for label, protocol in protocols.items() if protocol.leaks]
    cells = (
        cross_validation_table(folds)
        .join(errors, on=list(CELL_COLUMNS), how="left")
        .with_columns(pl.col("protocol").is_in(leaking).alias("leaks"))
    )
    rope, why = _rope(rules_of(reader.study()).rope_points, folds)
    pairs = cross_validation_pairs(folds, rope=rope)
    if as_json:
        print_json(
            {
                "k": chosen,
                "cells": cells.to_dicts(),
                "pairs": pairs.to_dicts(),
                "rope": rope,
                "notes": [FOLD_STD_MEANING, _PAIR_MEANING, _rope_meaning(rope, why)],
            }
        )
    elif as_csv:
        print_table(cells.to_dicts(), as_csv=True)
    else:
        parted = finals.filter(pl.col("num_folds") > 1).select("protocol", "split_protocol")
        titles = {
            label: f"tuned by {protocols[label].shown}, folds of {kind}"
            for label, kind in parted.unique().sort("protocol", "split_protocol").iter_rows()
        }
        say(_text(cells, pairs, metric_label(metric, chosen), titles, _rope_meaning(rope, why)))


def _chosen_k(k: int | None, ks: Sequence[int]) -> int:
    if k is not None and k not in ks:
        raise PodiumError(f"--k must be one of {', '.join(map(str, ks))}; got {k}")
    return ks[0] if k is None else k


def _rope(declared_points: float | None, folds: pl.DataFrame) -> tuple[float, str]:
    """Half-width of the region of practical equivalence, 0 to 1, and where it is from."""
    if declared_points is not None:
        return declared_points / _PERCENT, "as the study declared"
    around = pl.col("test") - pl.col("test").mean().over(CELL_COLUMNS)
    squares, freedom = folds.select(
        (around**2).sum(), pl.len() - pl.struct(CELL_COLUMNS).n_unique()
    ).row(0)
    if not freedom:
        return 0.0, "no standard deviation over folds is known"
    return math.sqrt(squares / freedom), "the standard deviation over folds"


def _rope_meaning(rope: float, why: str) -> str:
    return (
        "% a/=/b: probability that a is better, that the two are practically equivalent and "
        "that b is better, by the same t with a flat prior (Corani and Benavoli 2015); "
        f"equivalent is within {_PERCENT * rope:.2g} points: {why}."
    )


def _text(
    cells: pl.DataFrame,
    pairs: pl.DataFrame,
    metric: str,
    titles: Mapping[str, str],
    rope_meaning: str,
) -> str:
    parts = []
    for (block, protocol), group in cells.group_by("block", "protocol", maintain_order=True):
        title = f"{block}, {titles[str(protocol)]}"
        parts.append(f"{title}: {metric}, %\n{_cells_text(group)}")
        winners = pairs.filter(
            pl.col("block") == block,
            pl.col("protocol") == protocol,
            pl.col("finalist") == "winner",
        )
        if len(winners):
            parts.append(_pairs_text(winners))
    notes = (FOLD_STD_MEANING, _CLASS_MEANING, _PAIR_MEANING, rope_meaning)
    parts += [textwrap.fill(note, _WIDTH) for note in notes]
    return "\n\n".join(parts)


def _cells_text(cells: pl.DataFrame) -> str:
    rows = [
        {
            "loss": row["loss"],
            "config": row["finalist"],
            "folds": f"{row['num_folds']}/{row['num_folds'] + row['num_missing']}",
            "test": _points(row["test_mean"]),
            "sd": _points(row["test_std"]),
            "se": _points(row["class_standard_error"]),
            "val": _points(row["val_mean"]),
            "sd val": _points(row["val_std"]),
            "tau": None if row["tau"] is None else round(row["tau"], 2),
        }
        for row in cells.to_dicts()
    ]
    return table_text(rows, columns=list(rows[0]))


def _pairs_text(pairs: pl.DataFrame) -> str:
    rows = [
        {
            "a": row["a"],
            "b": row["b"],
            "a - b": _points(row["mean_difference"]),
            "low": _points(row["low"]),
            "high": _points(row["high"]),
            "p (Holm)": None if row["p_holm"] is None else f"{row['p_holm']:.2g}",
            "% a/=/b": _shares(row),
        }
        for row in pairs.to_dicts()
    ]
    return table_text(rows, columns=list(rows[0]))


def _shares(row: Mapping[str, float | None]) -> str | None:
    """The three probabilities in percent: ``91/7/2``."""
    masses = [row[name] for name in ("p_a_better", "p_rope", "p_b_better")]
    return "/".join(f"{_PERCENT * mass:.0f}" for mass in masses if mass is not None) or None


def _points(score: float | None) -> float | None:
    return None if score is None else round(_PERCENT * score, 2)
