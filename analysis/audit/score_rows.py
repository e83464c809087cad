"""Audits a table of scores: what is impossible, duplicated, missing or tied, and the verdicts."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from analysis.audit.findings import Audit, Finding
from analysis.tournament.rank_stability import RankStability, rank_stability
from analysis.tournament.sensitivity_to_test import sensitivity_to_test
from analysis.tournament.sensitivity_to_test_text import agreement_text, medals_text
from analysis.tournament.tournament import Tournament, hold_tournament
from analysis.tournament.verdict_text import tournament_sentences
from analysis.typed_tables.cell_means import CELL_DIGITS
from analysis.typed_tables.table_checks import (
    block_text,
    check_ks,
    falling_rows,
    outside_range,
    refuse_duplicates,
)
from analysis.wording import counted, listed, percent
from podium.errors import PodiumError

_K = "k"
_PODIUM = 3
_CERTAIN = 0.99  # probability of a medal: competitors between this and 1 - this are named
_ORDINALS = {1: "first", 2: "second", 3: "third"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedScores:
    """The audit of a table of scores.

    Attributes:
        audit: findings and notes.
        tournament: the tournament that the verdicts are about; None if none can be held.
    """

    audit: Audit
    tournament: Tournament | None


def audit_scores(
    frame: pl.DataFrame,
    *,
    by: Sequence[str],
    competitor: str,
    score: str,
    average: Sequence[str] = (),
    k: int | None = None,
) -> AuditedScores:
    """Check scores, then rank them.

    Args:
        frame: one score per row, a Float64 column in which a missing one is null. With a column
            ``k`` that is no key, or a score called recall, scores are taken for Recall@K.
        by: columns whose values together name a block.
        competitor: column of competitors.
        score: column of scores; higher is better.
        average: columns whose rows are averaged within a cell.
        k: value of K that the verdicts are about; None means the least. Without a column ``k`` it
            is ignored.

    Raises:
        PodiumError: several rows of a cell differ in a column that was not named.
    """
    has_k = _K in frame.columns and _K not in (*by, competitor, *average)
    keys = [*by, competitor, *average, *([_K] if has_k else [])]
    duplicates = _duplicates(frame, keys, score)
    if has_k:
        check_ks(frame[_K])
    if duplicates.is_empty():
        within = [*by, *keys[len(by) + 1 + len(average) :]]
        refuse_duplicates(frame, by=within, competitor=competitor, score=score, average=average)
    findings = [
        *_decreases(frame, [*by, competitor, *average], score, has_k),
        *(_range(frame, keys, score) if has_k or score.lower().startswith("recall") else ()),
        *(_duplicate(row, keys) for row in duplicates.to_dicts()),
        *_missing(frame, by, competitor, keys[len(by) + 1 :], score),
    ]
    single = frame.unique(keys, keep="none")
    ranked_k = None
    if has_k:
        known = frame[_K].unique().sort().to_list()
        ranked_k = k if k in known else known[0]
    ties = list(_ties(single, by, score, has_k, averaged=bool(average)))
    tournament, verdicts = _verdicts(single, by, competitor, score, ranked_k)
    units = _units(frame, keys, score) if has_k or score.lower().startswith("recall") else ()
    return AuditedScores(
        audit=Audit(findings=tuple(findings), notes=(*units, *ties, *verdicts)),
        tournament=tournament,
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


def _units(frame: pl.DataFrame, keys: Sequence[str], score: str) -> Iterator[Finding]:
    """Shares of 1 among percent: no recall that a paper compares is below 1 %, but none has to be.

    Shares with percent among them are out of their range, which is a finding.
    """
    known = frame.drop_nulls(score)
    small = known.filter((pl.col(score) > 0) & (pl.col(score) < 1)).sort(keys)
    if small.is_empty() or outside_range(frame, score)[1] == 1:
        return
    more = f" and {len(small) - 1} more" if len(small) > 1 else ""
    row = small.row(0, named=True)
    yield Finding(
        kind="units",
        where=f"{_location(row, keys)}{more}",
        message=f"holds {row[score]:g} where most scores are percent: a share of 1?",
    )


def _duplicate(row: dict[str, object], keys: Sequence[str]) -> Finding:
    scores = row["__scores"]
    assert isinstance(scores, list)
    shown = ", ".join("none" if score is None else f"{score:g}" for score in scores)
    same = "all with" if len(scores) == 1 else "with the scores"
    message = f"has {row['__rows']} rows {same} {shown}"
    return Finding(kind="duplicate", where=_location(row, keys), message=message)


def _decreases(
    frame: pl.DataFrame, cell: Sequence[str], score: str, has_k: bool
) -> Iterator[Finding]:
    if not has_k:
        return
    for row in falling_rows(frame, cell, score).to_dicts():
        yield Finding(
            kind="impossible",
            where=_location(row, [*cell, _K]),
            message=f"R@{row[_K]} = {row[score]:g} after R@{row['__k_before']} ="
            f" {row['__before']:g}, but recall cannot fall as K grows",
        )


def _range(frame: pl.DataFrame, keys: Sequence[str], score: str) -> Iterator[Finding]:
    """Recalls outside 0 to 100, or outside 0 to 1 where most of them are shares."""
    outside, top = outside_range(frame, score)
    for row in outside.sort(keys).to_dicts():
        message = f"holds {row[score]:g}, a recall lies within 0 and {top:g}"
        yield Finding(kind="impossible", where=_location(row, keys), message=message)


def _missing(
    frame: pl.DataFrame, by: Sequence[str], competitor: str, further: Sequence[str], score: str
) -> Iterator[Finding]:
    """What is absent of all blocks x competitors x seeds x K, and what has no score."""
    keys = [*by, competitor, *further]
    whole = frame.select(by).unique()
    for name in (competitor, *further):
        whole = whole.join(frame.select(name).unique(), how="cross")
    absent = whole.join(frame, on=keys, how="anti").with_columns(pl.lit("row").alias("__what"))
    empty = frame.filter(pl.col(score).is_null()).with_columns(pl.lit("score").alias("__what"))
    both = pl.concat([absent.select(*keys, "__what"), empty.select(*keys, "__what")])
    for row in both.sort(*keys, "__what").to_dicts():
        message = f"has no {row['__what']}"
        yield Finding(kind="missing", where=_location(row, keys), message=message)


def _ties(
    frame: pl.DataFrame, by: Sequence[str], score: str, has_k: bool, *, averaged: bool
) -> Iterator[Finding]:
    """How many blocks hold equal scores; averages of runs cannot be compared by their rows."""
    if averaged:
        return
    within = [*by, *([_K] if has_k else [])]
    tied = frame.drop_nulls(score).group_by(within).agg(pl.col(score).is_duplicated().any())
    levels = tied.group_by(_K).agg(pl.col(score).sum(), pl.len()).sort(_K) if has_k else None
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
    frame: pl.DataFrame, by: Sequence[str], competitor: str, score: str, k: int | None
) -> tuple[Tournament | None, list[Finding]]:
    rows = frame if k is None else frame.filter(pl.col(_K) == k)
    cells = rows.group_by([*by, competitor]).agg(
        pl.when(pl.col(score).is_not_null().all())
        .then(pl.col(score).mean())
        .round_sig_figs(CELL_DIGITS)
    )
    where = score if k is None else f"R@{k}"
    try:
        tournament = hold_tournament(cells, by=by, competitor=competitor, score=score)
    except PodiumError as error:
        return None, [Finding(kind="verdict", where=where, message=f"no tournament: {error}")]
    return tournament, list(_verdict_notes(tournament, where=where))


def _location(row: dict[str, object], keys: Sequence[str]) -> str:
    """``CUB200-2011/ResNet50/64/Contrastive, k = 2``."""
    text = block_text([row[name] for name in keys if name != _K])
    return f"{text}, k = {row[_K]}" if _K in keys else text


def _verdict_notes(tournament: Tournament, *, where: str) -> Iterator[Finding]:
    """The verdict under each test, then the stability of the podium, one sentence each.

    Args:
        tournament: the tournament of the table's scores.
        where: name of the scores, for the notes.
    """
    stability = rank_stability(tournament)
    for sentence in tournament_sentences(tournament, stability):
        yield Finding(kind="verdict", where=where, message=sentence.rstrip("."))
    found = sensitivity_to_test(tournament)
    if found is not None:
        for test in found.tests:
            message = (
                f"{test.label}: {len(test.different_pairs)} of {counted(found.num_pairs, 'pair')}"
                f" significantly different; {medals_text(test)}"
            )
            yield Finding(kind="verdict", where=where, message=message)
        yield Finding(kind="verdict", where=where, message=agreement_text(found).rstrip("."))
    if stability is not None:
        for sentence in (*_left_out(stability), *_resampled(stability)):
            yield Finding(kind="stability", where=where, message=sentence)


def _left_out(stability: RankStability) -> Iterator[str]:
    """Which competitor has each of the first three ranks without each block in turn."""
    total = len(stability.leave_one_out)
    for rank in range(1, _PODIUM + 1):
        holders = Counter(
            name for left in stability.leave_one_out for held, name in left.podium if held == rank
        )
        ranked = sorted(holders.items(), key=lambda item: (-item[1], item[0]))
        if not ranked:
            continue
        if ranked[0][1] == total and len(ranked) == 1:
            yield (
                f"the {_ORDINALS[rank]} rank remains with {ranked[0][0]} whichever of"
                f" {counted(total, 'block')} is left out"
            )
        else:
            named = listed([f"{name} {count} times" for name, count in ranked])
            yield (
                f"leaving out one of {counted(total, 'block')} gives the {_ORDINALS[rank]} rank"
                f" to {named}"
            )


def _resampled(stability: RankStability) -> Iterator[str]:
    leading = stability.leading
    unsure = [
        f"{each.competitor} {percent(each.p_top_three)}"
        for each in leading.competitors
        if 1 - _CERTAIN < each.p_top_three < _CERTAIN
    ]
    how = (
        f"resampling the {stability.resampled} {leading.replicates:,} times"
        f"{' (a sensitivity analysis: too few for an interval)' if leading.is_sensitivity else ''}"
    )
    if unsure:
        yield f"{how}: probabilities of a rank among the first three: {listed(unsure)}"
    else:
        yield f"{how}: the first three are the same in 99 % of draws or more"
