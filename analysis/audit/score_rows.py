"""Audits a table of scores: what is impossible, duplicated, missing or tied, and the verdicts."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from analysis.audit.findings import Audit, Finding
from analysis.audit.missing_scores import missing_scores
from analysis.audit.outlying_recalls import outlying_recalls
from analysis.audit.score_columns import K, ScoreColumns, without_unscored
from analysis.tournament.rank_stability import RankStability, rank_stability
from analysis.tournament.tournament import Tournament, hold_tournament
from analysis.tournament.verdict_text import tournament_sentences
from analysis.typed_tables.cell_means import CELL_DIGITS
from analysis.typed_tables.score_table import least_common_k
from analysis.typed_tables.share_checks import shares_among_percent
from analysis.typed_tables.table_checks import (
    block_text,
    check_ks,
    falling_rows,
    outside_range,
    refuse_duplicates,
)
from analysis.wording import counted, listed, percent
from podium.errors import PodiumError

_PODIUM = 3
_CERTAIN = 0.99  # probability of a medal: competitors between this and 1 - this are named
# The fewest equal scores that are hardly chance: within one block, and of two blocks.
_FEWEST_IN_BLOCK, _FEWEST_ELSEWHERE = 2, 3
_ORDINALS = {1: "first", 2: "second", 3: "third"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedScores:
    """The audit of a table of scores.

    Attributes:
        audit: findings and notes.
        tournament: the tournament that the verdicts are about; None if none can be held.
        k: K of the verdicts; None of scores without K.
        ks: every K of the table.
    """

    audit: Audit
    tournament: Tournament | None
    k: int | None = None
    ks: tuple[int, ...] = ()


def audit_scores(
    frame: pl.DataFrame,
    *,
    by: Sequence[str],
    competitor: str,
    score: str,
    average: Sequence[str] = (),
    k: int | None = None,
    lower_is_better: bool = False,
) -> AuditedScores:
    """Check scores, then rank them.

    Args:
        frame: one score per row, a Float64 column in which a missing one is null. With a column
            ``k`` that is no key, or a score called recall, scores are taken for Recall@K.
        by: columns whose values together name a block.
        competitor: column of competitors.
        score: column of scores.
        average: columns whose rows are averaged within a cell.
        k: value of K that the verdicts are about; None means the least. Without a column ``k`` it
            is ignored.
        lower_is_better: whether small scores are good.

    Raises:
        PodiumError: several rows of a cell differ in a column that was not named.
    """
    columns = ScoreColumns(
        by=tuple(by),
        competitor=competitor,
        score=score,
        average=tuple(average),
        lower_is_better=lower_is_better,
        has_k=K in frame.columns and K not in (*by, competitor, *average),
    )
    duplicates = _duplicates(frame, columns.keys, score)
    if columns.has_k:
        check_ks(frame[K])
    if duplicates.is_empty():
        within = [*by, K] if columns.has_k else by
        refuse_duplicates(frame, by=within, competitor=competitor, score=score, average=average)
    missing = missing_scores(frame, columns)
    findings = [
        *_decreases(frame, columns),
        *_range(frame, columns),
        *_shares(frame, columns),
        *(_duplicate(row, columns) for row in duplicates.to_dicts()),
        *missing.findings,
    ]
    single = frame.unique(columns.keys, keep="none")
    known = frame[K].unique().sort().to_list() if columns.has_k else []
    ranked_k = k if k in known else least_common_k(frame, by) if known else None
    notes = [
        *missing.notes,
        *_equal_rows(single, columns),
        *outlying_recalls(single, columns),
        *_ties(single, columns),
    ]
    tournament, verdicts = _verdicts(without_unscored(single, columns), columns, ranked_k)
    return AuditedScores(
        audit=Audit(findings=tuple(findings), notes=(*notes, *verdicts)),
        tournament=tournament,
        k=ranked_k,
        ks=tuple(known),
    )


def _duplicates(frame: pl.DataFrame, keys: Sequence[str], score: str) -> pl.DataFrame:
    """Cells with several rows that differ in nothing but the score; empty if any row differs."""
    others = [name for name in frame.columns if name not in (*keys, score)]
    rows = frame.group_by(keys).agg(
        pl.len().alias("__rows"),
        pl.col(score).unique().sort().alias("__scores"),
        *(pl.col(name).n_unique().alias(f"__distinct_{name}") for name in others),
    )
    differing = [pl.col(f"__distinct_{name}") > 1 for name in others]
    several = rows.filter(pl.col("__rows") > 1)
    if differing and several.select(pl.any_horizontal(differing).any()).item():
        return several.clear()
    return several.sort(keys)


def _duplicate(row: dict[str, object], columns: ScoreColumns) -> Finding:
    scores = row["__scores"]
    assert isinstance(scores, list)
    shown = ", ".join("none" if score is None else f"{score:g}" for score in scores)
    same = "all with" if len(scores) == 1 else "with the scores"
    message = f"has {row['__rows']} rows {same} {shown}"
    return Finding(kind="duplicate", where=columns.location(row), message=message)


def _decreases(frame: pl.DataFrame, columns: ScoreColumns) -> Iterator[Finding]:
    if not columns.has_k:
        return
    for row in falling_rows(frame, columns.cell, columns.score).to_dicts():
        yield Finding(
            kind="impossible",
            where=columns.location(row),
            message=f"R@{row[K]} = {row[columns.score]:g} after R@{row['__k_before']} ="
            f" {row['__before']:g}, but recall cannot fall as K grows",
        )


def _range(frame: pl.DataFrame, columns: ScoreColumns) -> Iterator[Finding]:
    """Recalls outside 0 to 100, or outside 0 to 1 where most of them are shares."""
    if not columns.is_recall:
        return
    outside, top = outside_range(frame, columns.score)
    for row in outside.sort(columns.keys).to_dicts():
        message = f"holds {row[columns.score]:g}, a recall lies within 0 and {top:g}"
        yield Finding(kind="impossible", where=columns.location(row), message=message)


def _shares(frame: pl.DataFrame, columns: ScoreColumns) -> Iterator[Finding]:
    if not columns.is_recall:
        return
    within = [*columns.by, *([K] if columns.has_k else [])]
    for row in shares_among_percent(frame, within, columns.score).sort(columns.keys).to_dicts():
        yield Finding(
            kind="units",
            where=columns.location(row),
            message=f"holds {row[columns.score]:g} where others hold percent: a share of 1?",
        )


def _equal_rows(frame: pl.DataFrame, columns: ScoreColumns) -> Iterator[Finding]:
    """A note for each row of a printed table whose scores equal those of an earlier row.

    With K a row is a competitor in a block, compared at every K; otherwise it is a competitor,
    compared in every block. Rows that are averaged are not compared.

    Args:
        frame: one score per row, at most one for each of ``columns.keys``; null where missing.
        columns: roles of the columns of the frame.
    """
    known = frame.drop_nulls(columns.score)
    if columns.average or known.is_empty():
        return
    row = [*columns.by, columns.competitor] if columns.has_k else [columns.competitor]
    at = [K] if columns.has_k else list(columns.by)
    scores = pl.concat_str([*(pl.col(name) for name in at), columns.score], separator="/")
    rows = known.sort(*row, *at).group_by(row, maintain_order=True).agg(scores.alias("__scores"))
    groups = rows.group_by("__scores", maintain_order=True).agg(pl.struct(row).alias("__rows"))
    for same, found in groups.filter(pl.col("__rows").list.len() > 1).rows():
        first, *others = (tuple(each.values()) for each in found)
        for other in others:
            is_one_block = first[:-1] == other[:-1]
            if len(same) < (_FEWEST_IN_BLOCK if is_one_block else _FEWEST_ELSEWHERE):
                continue
            where = f"at all {len(same)} K" if columns.has_k else f"in all {len(same)} blocks"
            equal = first[-1] if is_one_block else block_text(first)
            yield Finding(
                kind="equal", where=block_text(other), message=f"equals {equal} {where}: a copy?"
            )


def _ties(frame: pl.DataFrame, columns: ScoreColumns) -> Iterator[Finding]:
    """How many blocks hold equal scores; averages of runs cannot be compared by their rows."""
    if columns.average:
        return
    score, has_k = columns.score, columns.has_k
    within = [*columns.by, *([K] if has_k else [])]
    tied = frame.drop_nulls(score).group_by(within).agg(pl.col(score).is_duplicated().any())
    levels = tied.group_by(K).agg(pl.col(score).sum(), pl.len()).sort(K) if has_k else None
    counts = (
        [(f"R@{k}", ties, blocks) for k, ties, blocks in levels.rows()]
        if levels is not None
        else [(score, int(tied[score].sum()), len(tied))]
    )
    for where, ties, blocks in counts:
        message = (
            f"{ties} of {counted(blocks, 'block')} hold equal scores, which share their average"
            " rank here: other rules give other totals"
            if ties
            else "no block holds equal scores, so ranks do not depend on the rule for ties"
        )
        yield Finding(kind="ties", where=where, message=message)


def _verdicts(
    frame: pl.DataFrame, columns: ScoreColumns, k: int | None
) -> tuple[Tournament | None, list[Finding]]:
    by, competitor, score = columns.by, columns.competitor, columns.score
    rows = frame if k is None else frame.filter(pl.col(K) == k)
    cells = rows.group_by([*by, competitor]).agg(
        pl.when(pl.col(score).is_not_null().all())
        .then(pl.col(score).mean())
        .round_sig_figs(CELL_DIGITS)
    )
    if columns.lower_is_better:
        cells = cells.with_columns(-pl.col(score))
    where = score if k is None else f"R@{k}"
    try:
        tournament = hold_tournament(cells, by=by, competitor=competitor, score=score)
    except PodiumError as error:
        return None, [Finding(kind="verdict", where=where, message=f"no tournament: {error}")]
    return tournament, list(_verdict_notes(tournament, where=where))


def _verdict_notes(tournament: Tournament, *, where: str) -> Iterator[Finding]:
    """The verdict, then the stability of the podium, one sentence each.

    Args:
        tournament: the tournament of the table's scores.
        where: name of the scores, for the notes.
    """
    stability = rank_stability(tournament)
    for sentence in tournament_sentences(tournament, stability):
        yield Finding(kind="verdict", where=where, message=sentence.rstrip("."))
    if stability is not None:
        for sentence in (*_left_out(stability), *_resampled(stability)):
            yield Finding(kind="stability", where=where, message=sentence)


def _left_out(stability: RankStability) -> Iterator[str]:
    """Which competitor has each of the first three ranks without each group of blocks in turn."""
    units = counted(len(stability.leave_one_out), stability.groups.noun)
    for rank in range(1, _PODIUM + 1):
        holders = Counter(
            name for left in stability.leave_one_out for held, name in left.podium if held == rank
        )
        ranked = sorted(holders.items(), key=lambda item: (-item[1], item[0]))
        if not ranked:
            continue
        if ranked[0][1] == len(stability.leave_one_out) and len(ranked) == 1:
            yield (
                f"the {_ORDINALS[rank]} rank remains with {ranked[0][0]} whichever of {units} is"
                " left out"
            )
        else:
            named = listed([f"{name} {count} times" for name, count in ranked])
            yield f"leaving out one of {units} gives the {_ORDINALS[rank]} rank to {named}"


def _resampled(stability: RankStability) -> Iterator[str]:
    bootstrap = stability.bootstrap
    unsure = [
        f"{each.competitor} {percent(each.p_top_three)}"
        for each in bootstrap.competitors
        if 1 - _CERTAIN < each.p_top_three < _CERTAIN
    ]
    how = (
        f"resampling the {stability.resampled} {bootstrap.replicates:,} times"
        f"{' (too few for an interval)' if bootstrap.is_sensitivity else ''}"
    )
    if unsure:
        yield f"{how}: probabilities of a rank among the first three: {listed(unsure)}"
    else:
        yield f"{how}: the first three are the same in 99 % of draws or more"
