"""The table of a study's final stage that a tournament is held on."""

from collections.abc import Sequence

import polars as pl

from podium.analysis.scores.compared_runs import compared_protocol, leak_warning
from podium.analysis.scores.final_scores import (
    IS_BASELINE,
    cells,
    final_scores,
    final_trials,
    seed_scores,
)
from podium.analysis.scores.protocol_runs import Protocol
from podium.analysis.typed_tables.row_filters import filter_rows, parse_condition
from podium.analysis.typed_tables.score_table import ScoreTable
from podium.analysis.typed_tables.table_checks import block_text, refuse_duplicates
from podium.errors import PodiumError
from podium.orchestrator.results.records.metric_columns import RankedScore

BLOCK_COLUMNS = ("dataset", "backbone", "embedding_dim")

_SOURCE = "the study"
_COMPETITOR = "loss"
_SCORE = "score"
_TRAIN_ON = "train_on"
_SEED = ("repeat", "seed_index")
_FOLD = (*_SEED, "fold")
_NOT_OF_BASELINES = ("finalist", "protocol")


def study_table(
    trials: pl.LazyFrame,
    test_scores: pl.LazyFrame,
    score: RankedScore,
    *,
    named: str | None = None,
    where: Sequence[str] = (),
    protocols: Sequence[Protocol] = (),
    with_baselines: bool = False,
) -> ScoreTable:
    """Test score of each loss in each block; seeds, folds and search repeats are averaged.

    Args:
        trials: trials of the store, one row each.
        test_scores: long frame of test scores.
        score: metric and K of the scores; ``where`` may name another K.
        named: name of the column of scores; None means that of the metric.
        where: conditions on ``dataset``, ``backbone``, ``embedding_dim``, ``image_size`` (of
            studies that have it), ``block``, ``loss``, ``protocol``, ``k``, on ``finalist``:
            ``winner`` (unless named) or ``default``, and on ``train_on``: ``part`` (unless named,
            or the study has none) or ``all``.
        protocols: protocols of the study, if losses are to be compared under one of them: that of
            ``where``, else the first that does not leak.
        with_baselines: whether baselines compete too, with finalists of any kind.

    Raises:
        PodiumError: no final trial was tested yet, or losses were tested differently.
    """
    conditions = [parse_condition(text) for text in where]
    given = [condition for condition in conditions if condition[0] != _TRAIN_ON]
    stated = dict(given)
    train_on = dict(conditions).get(_TRAIN_ON)
    usual = {"finalist": "winner", "k": str(score.k)}
    compared = compared_protocol(protocols, stated.get("protocol")) if protocols else None
    if compared is not None:
        usual["protocol"] = compared.label
    conditions = [*given, *((name, value) for name, value in usual.items() if name not in stated)]
    finals = final_trials(trials, train_on).filter(with_baselines | ~IS_BASELINE)
    finals = finals.with_columns(  # baselines are of no role, and alike under all protocols
        pl.when(IS_BASELINE).then(pl.lit(value)).otherwise(name).alias(name)
        for name, value in conditions
        if name in _NOT_OF_BASELINES
    )
    scores = final_scores(finals, test_scores, score.metric)
    if scores.filter(~IS_BASELINE).is_empty():
        which = f" with {_TRAIN_ON} = {train_on}" if train_on else ""
        raise PodiumError(f"this study has no tested final trial yet{which}")
    sizes = finals.select("block", "image_size").unique()
    if sizes["image_size"].is_null().all():
        sizes = sizes.select("block")
    by = (*BLOCK_COLUMNS, *sizes.columns[1:])
    kept = filter_rows(cells(finals, scores).join(sizes, on="block"), conditions, source=_SOURCE)
    cell = [*by, _COMPETITOR]
    refuse_duplicates(kept, by=by, competitor=_COMPETITOR, score=_SCORE)
    # Folds are runs of their own only where neither repeat nor seed varies.
    run_columns = _FOLD if scores.select(_SEED).n_unique() == 1 else _SEED
    single = scores if run_columns is _FOLD else seed_scores(scores)
    runs = filter_rows(single.join(sizes, on="block"), conditions, source=_SOURCE)
    column = named or score.metric
    named_score = pl.col(_SCORE).alias(column)
    return ScoreTable(
        cells=kept.select(*cell, named_score),
        runs=runs.select(*cell, *run_columns, named_score, "hits", "queries"),
        run_columns=run_columns,
        by=by,
        competitor=_COMPETITOR,
        score=column,
        warnings=(*_protocol_warnings(compared, protocols), *_failures(kept), *_unequal(kept)),
    )


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


def _unequal(kept: pl.DataFrame) -> tuple[str, ...]:
    """A warning where losses have unequal numbers of final trials."""
    tried = pl.col("num_trials").sum() + pl.col("num_failed").sum()
    counts = kept.filter(~IS_BASELINE).group_by(_COMPETITOR).agg(tried=tried).sort(_COMPETITOR)
    return tuple(filter(None, [unequal_finals(counts.rows())]))


def unequal_finals(counts: Sequence[tuple[str, int]]) -> str:
    """A warning if losses have unequal numbers of final trials; empty if not."""
    if len({count for _, count in counts}) < 2:
        return ""
    (few, least), *_, (many, most) = sorted(counts, key=lambda item: item[1])
    return (
        "means are over unequal numbers of final trials, as in an unfinished study:"
        f" {few} has {least}, {many} {most}"
    )


def _failures(kept: pl.DataFrame) -> tuple[str, ...]:
    failed = kept.filter(pl.col("num_failed") > 0)
    if failed.is_empty():
        return ()
    named = [
        f"{block_text(row[:-2])} ({row[-2]} of {row[-2] + row[-1]})"
        for row in failed.select("block", _COMPETITOR, "num_failed", "num_trials").rows()
    ]
    return (f"final trials failed, the others are averaged: {', '.join(named)}",)
