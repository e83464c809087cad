"""``podium cv``: cross-validation statistics of a study's final stage."""

import textwrap
from collections.abc import Mapping
from typing import Annotated

import polars as pl
import typer

from analysis.scores.cross_validation import CLASS_MEANING, CrossValidation, cross_validation
from analysis.scores.ranked_score import chosen_score
from orchestrator.results.trial_files.reader import Reader
from podium.arguments.score_argument import ScoreOfStudy
from podium.arguments.study_argument import StorageFolder, StudyPath, results_folder
from podium.errors import PodiumError
from podium.terminal.printing import AsCsv, AsJson, print_json, print_table, say, table_text

_WIDTH = 80
_PERCENT = 100


def command(
    study: StudyPath,
    k: Annotated[int | None, typer.Option(help="Which K; the study's first.")] = None,
    score: ScoreOfStudy = None,
    storage: StorageFolder = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show mean and spread of test and validation scores over folds, and pairs of losses.

    Needs a final stage of several class-disjoint folds. JSON and CSV hold scores from 0 to 1.
    """
    if k is not None and score is not None:
        raise PodiumError(f"--score states the K, if there is one; got --k {k} beside it")
    reader = Reader(results_folder(study, storage))
    found = cross_validation(reader, k, None if score is None else chosen_score(reader, score))
    if as_json:
        print_json(
            {
                "metric": found.metric,
                "k": found.k or None,
                "folds": found.folds.to_dicts(),
                "cells": found.cells.to_dicts(),
                "pairs": found.pairs.to_dicts(),
                "rope": found.rope,
                "notes": found.notes,
            }
        )
    elif as_csv:
        print_table(found.cells.to_dicts(), as_csv=True)
    else:
        say(_text(found))


def _text(found: CrossValidation) -> str:
    parts = []
    for (block, protocol), group in found.cells.group_by("block", "protocol", maintain_order=True):
        title = f"{block}, {found.titles[str(protocol)]}"
        parts.append(f"{title}: {found.metric}, %\n{_cells_text(group)}")
        winners = found.pairs.filter(
            pl.col("block") == block,
            pl.col("protocol") == protocol,
            pl.col("finalist") == "winner",
        )
        if len(winners):
            parts.append(_pairs_text(winners))
    of_folds, *others = found.notes
    parts += [textwrap.fill(note, _WIDTH) for note in (of_folds, CLASS_MEANING, *others)]
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
            "opt": _points(row["epoch_optimism"]),
            "tau": None if row["tau"] is None else round(row["tau"], 2),
        }
        for row in cells.to_dicts()
    ]
    has_optimism = cells["epoch_optimism"].is_not_null().any()
    return table_text(rows, columns=[name for name in rows[0] if name != "opt" or has_optimism])


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
