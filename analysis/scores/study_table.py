"""The table of a study's final stage that a tournament is held on."""

from collections.abc import Sequence

import polars as pl

from analysis.scores.compared_runs import compared_protocol, leak_warning
from analysis.scores.final_scores import BASELINE, cells, final_scores, final_trials, seed_scores
from analysis.scores.protocol_runs import Protocol
from analysis.typed_tables.row_filters import filter_rows, parse_condition
from analysis.typed_tables.score_table import ScoreTable
from analysis.typed_tables.table_checks import block_text, refuse_duplicates
from podium.errors import PodiumError

BLOCK_COLUMNS = ("dataset", "backbone", "embedding_dim")

_SOURCE = "the study"
_COMPETITOR = "loss"
_SCORE = "score"
_TRAIN_ON = "train_on"
_SEED = ("repeat", "seed_index")
_FOLD = (*_SEED, "fold")


def study_table(
    trials: pl.LazyFrame,
    test_scores: pl.LazyFrame,
    *,
    primary_k: int,
    metric: str = "recall",
    named: str | None = None,
    where: Sequence[str] = (),
    protocols: Sequence[Protocol] = (),
) -> ScoreTable:
    """Test score of each loss in each block; seeds, folds and search repeats are averaged.

    Args:
        trials: trials of the store, one row each.
        test_scores: long frame of test scores.
        primary_k: K of the scores, unless ``where`` names one; 0 of a metric without K.
        metric: metric of the scores.
        named: name of the column of scores; None means that of the metric.
        where: conditions on ``dataset``, ``backbone``, ``embedding_dim``, ``image_size`` (of
            studies that have it), ``block``, ``loss``, ``protocol``, ``k``, on ``finalist``:
            ``winner`` (unless named) or ``default``, and on ``train_on``: ``part`` (unless named,
            or the study has none) or ``all``.
        protocols: protocols of the study, if losses are to be compared under one of them: that of
            ``where``, else the first that does not leak.

    Raises:
        PodiumError: no final trial was tested yet, or losses were tested differently.
    """
    conditions = [parse_condition(text) for text in where]
    given = [condition for condition in conditions if condition[0] != _TRAIN_ON]
    stated = dict(given)
    train_on = dict(conditions).get(_TRAIN_ON)
    finals = final_trials(trials, train_on)
    scores = final_scores(finals.filter(pl.col("stage") == "final"), test_scores, metric)
    if scores.is_empty():
        which = f" with {_TRAIN_ON} = {train_on}" if train_on else ""
        raise PodiumError(f"this study has no tested final trial yet{which}")
    usual = {"finalist": "winner", "k": str(primary_k)}
    compared = compared_protocol(protocols, stated.get("protocol")) if protocols else None
    if compared is not None:
        usual["protocol"] = compared.label
    conditions = [*given, *((name, value) for name, value in usual.items() if name not in stated)]
    sizes = _image_sizes(finals)
    by = (*BLOCK_COLUMNS, *sizes.columns[1:])
    kept = _kept(cells(finals, scores).join(sizes, on="block"), conditions)
    cell = [*by, _COMPETITOR]
    refuse_duplicates(kept, by=by, competitor=_COMPETITOR, score=_SCORE)
    # Folds are runs of their own only where neither repeat nor seed varies.
    run_columns = _FOLD if scores.select(_SEED).n_unique() == 1 else _SEED
    single = scores if run_columns is _FOLD else seed_scores(scores)
    runs = _kept(single.join(sizes, on="block"), conditions)
    score = named or metric
    named_score = pl.col(_SCORE).alias(score)
    return ScoreTable(
        cells=kept.select(*cell, named_score),
        runs=runs.select(*cell, *run_columns, named_score, "hits", "queries"),
        run_columns=run_columns,
        by=by,
        competitor=_COMPETITOR,
        score=score,
        warnings=(*_protocol_warnings(compared, protocols), *_failures(kept)),
    )


def _image_sizes(finals: pl.DataFrame) -> pl.DataFrame:
    """The column ``block``, and ``image_size`` of each if any block has one."""
    sizes = finals.select("block", "image_size").unique()
    return sizes if sizes["image_size"].is_not_null().any() else sizes.select("block")


def _kept(frame: pl.DataFrame, conditions: Sequence[tuple[str, str]]) -> pl.DataFrame:
    return filter_rows(frame.filter(pl.col(_COMPETITOR) != BASELINE), conditions, source=_SOURCE)


def _protocol_warnings(
    compared: Protocol | None, protocols: Sequence[Protocol]
) -> tuple[str, ...]:
    if compared is None:
        return ()
    others = [protocol.shown for protocol in protocols if protocol is not compared]
    several = (
        f"losses are compared under the protocol {compared.label} only; with --where"
        f" protocol=LABEL, under {' or '.join(others)}"
        if others
        else ""
    )
    return tuple(filter(None, (leak_warning(compared), several)))


def _failures(kept: pl.DataFrame) -> tuple[str, ...]:
    failed = kept.filter(pl.col("num_failed") > 0)
    if failed.is_empty():
        return ()
    named = [
        f"{block_text(row[:-2])} ({row[-2]} of {row[-2] + row[-1]})"
        for row in failed.select("block", _COMPETITOR, "num_failed", "num_trials").rows()
    ]
    return (f"final runs failed, the others are averaged: {', '.join(named)}",)
