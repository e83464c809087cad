"""Leaderboards: ranks over all blocks, of each data set and score, and of groups of losses."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict

import polars as pl

from podium.analysis.estimates.confidence_intervals import FEWEST_VALUES
from podium.analysis.estimates.grouped_share import FEWEST_GROUPS
from podium.analysis.estimates.ranks import Standing
from podium.analysis.figures.series import Series
from podium.analysis.page.html_page import Paragraph, Part, Section
from podium.analysis.page.tables import Cell, Column, Table, table
from podium.analysis.report.fairness import fairness_note
from podium.analysis.scores.final_scores import IS_BASELINE
from podium.analysis.study_results.study_results import PERCENT, StudyResults
from podium.analysis.tournament.loss_groups import GroupDifference, LossGroups
from podium.analysis.tournament.medals import rank_ranges, shared_places
from podium.analysis.tournament.rank_bootstrap import FEWEST_RUNS, LeaveOneOut
from podium.analysis.tournament.rank_stability import RankStability
from podium.analysis.tournament.table_tournament import TableResults
from podium.analysis.tournament.tournament import Tournament, hold_tournament
from podium.analysis.tournament.verdict_text import skillings_mack_sentence
from podium.analysis.wording import MOST_NAMED, counted, listed, number, range_of, signed
from podium.errors import PodiumError
from podium.orchestrator.results.records.metric_columns import RankedScore

_PODIUM = {1: "first", 2: "second", 3: "third"}
_ALL_DATA = "all"
_DATASET = "dataset"
_COMPETITOR = "loss"
_SCORE = "score"
_K = "k"


def leaderboard(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section of a study: the table of ranks with its uncertainty; None without a ranking."""
    if results.tournament is None:
        return None
    parts = _rank_parts(
        results.tournament,
        results.stability,
        series,
        metric=f"{results.ranked_by.label},\N{NO-BREAK SPACE}%",
        aside=fairness_note(results),
    )
    return Section(name="ranking", title="Leaderboard", parts=parts)


def table_leaderboard(results: TableResults, series: Mapping[str, Series]) -> Section:
    """The table of ranks with its uncertainty."""
    parts = _rank_parts(results.tournament, results.stability, series, metric=results.score)
    return Section(name="ranking", title="Leaderboard", parts=parts)


def _rank_parts(
    tournament: Tournament,
    stability: RankStability | None,
    series: Mapping[str, Series],
    *,
    metric: str,
    aside: Sequence[Part] = (),
) -> tuple[Part, ...]:
    """The table of ranks, and the first three without each block.

    Where blocks lack scores, the order over all of them comes first.

    Args:
        tournament: the tournament, whose scores are shown in their own unit.
        stability: stability of its ranks; None with a single block.
        series: look of each competitor.
        metric: what the scores are, such as ``Recall@1, %``.
        aside: parts to be put below the table.
    """
    return (
        *_all_blocks(tournament, series),
        _table(tournament, stability, series, metric),
        *aside,
        *_left_out_podiums(stability),
    )


def _table(
    tournament: Tournament,
    stability: RankStability | None,
    series: Mapping[str, Series],
    metric: str,
) -> Table:
    found = stability.bootstrap.competitors if stability else ()
    known = {it.competitor: it for it in found}

    def uncertainty(name: str) -> Callable[[Standing], float | None]:
        return lambda standing: getattr(known[standing.competitor], name)

    left_out = counted(len(tournament.excluded), "block")
    shared = _shared_note(tournament, shared_places(tournament, stability))
    return table(
        tournament.standings,
        (
            Column.named("Competitor", "competitor", series),
            rank_column(tournament, stability),
            Column.number("Average rank", "average_rank"),
            Column.interval(
                "95\N{NO-BREAK SPACE}% interval", uncertainty("low"), uncertainty("high")
            )
            if stability
            else None,
            total_column(),
            Column.number("sd", "rank_std"),
            Column.number("Wins", "wins", 0),
            Column.number("Top\N{NO-BREAK SPACE}3", "top_three", 0),
            Column.number(f"Mean {metric}", "mean_score"),
            Column.percent("P(first)", uncertainty("p_first")) if stability else None,
            Column.percent("P(top\N{NO-BREAK SPACE}3)", uncertainty("p_top_three"))
            if stability
            else None,
        ),
        name="leaderboard",
        caption=f"Ranks within {counted(len(tournament.blocks), 'block')}, 1 is best; ties share"
        " their average rank; sd is the sample standard deviation."
        + (f" {left_out} left out." if tournament.excluded else ""),
        note=f"{shared} {bootstrap_note(stability) if stability else ''}".strip(),
    )


def rank_column(tournament: Tournament, stability: RankStability | None) -> Column:
    """The rank of a standing, or the range of those that share it: ``2–3``."""
    ranges = rank_ranges(tournament, stability)

    def cell(standing: Standing) -> Cell:
        held = ranges[standing.competitor]
        ends = dict.fromkeys((held[0], held[-1]))
        return Cell(text="–".join(map(str, ends)), order=standing.place)

    return Column(label="Rank", cell=cell)


def total_column() -> Column:
    """The sum of the ranks of a standing, with a decimal where one is needed."""
    return Column.number(
        "Total",
        "total_rank",
        write=lambda rank, _: number(rank, 0 if float(rank or 0).is_integer() else 1),
    )


def _shared_note(tournament: Tournament, shared: Mapping[str, Sequence[str]]) -> str:
    """With whom each of the first three ranks is shared, and when a rank is; empty if none."""
    if not shared:
        return ""
    named = "; ".join(
        f"{standing.competitor} with {listed(shared[standing.competitor], most=MOST_NAMED)}"
        for standing in tournament.standings
        if standing.place in _PODIUM and standing.competitor in shared
    )
    decided = (
        f", keeps it in 95 % of the resamples, and no single {tournament.units.one} decides it"
        if tournament.question == "other_blocks"
        else " and keeps it in 95 % of the resamples"
    )
    return (
        f"{f'Shared ranks: {named}. ' if named else ''}A rank is shared unless its holder"
        f" differs significantly from all behind it{decided}."
    )


def _all_blocks(tournament: Tournament, series: Mapping[str, Series]) -> Iterator[Table]:
    """The order over all blocks, where some lack scores and the ranking leaves them out."""
    available = tournament.available
    if available is None:
        return
    result = (
        skillings_mack_sentence(available.test)
        if available.test
        else "Skillings and Mack's test cannot be computed on these scores."
    )
    yield table(
        available.ranks,
        (
            Column.named("Competitor", "competitor", series),
            Column.number("Rank sum", "rank_sum"),
            Column.number("Beaten by", "beaten_by", least_first=True),
            Column.number("Average rank", "average_rank"),
            Column.count("Blocks", "num_blocks"),
        ),
        name="available-ranks",
        caption=f"All blocks, also the {counted(len(tournament.excluded), 'block')} left out of"
        " the ranking for missing scores",
        note=f"{result} Rank sum: of ranks around the middle one, the lowest is first; a missing"
        " score counts as the middle. Beaten by: mean share of the others present that are"
        " better, 0 is first. Ranks are among those present; fewer present make better ranks.",
    )


def bootstrap_note(stability: RankStability) -> str:
    """Where interval and probabilities come from, and how far to trust them."""
    bootstrap, noun = stability.bootstrap, stability.groups.noun
    resampled = f"Probabilities: {bootstrap.replicates:,} resamples of {stability.resampled}."
    if bootstrap.num_groups == 1:
        interval = (
            f"No interval: it takes {FEWEST_RUNS} runs of each competitor."
            if bootstrap.is_sensitivity
            else "Intervals: percentiles of these."
        )
        meaning = "They say what other runs of the same blocks would change, not other blocks."
        return f"{resampled} {interval} {meaning}"
    if bootstrap.is_sensitivity:
        return (
            f"{resampled} No interval: it takes {FEWEST_GROUPS} {noun}s, and with"
            f" {bootstrap.num_groups} the probabilities only show how the order depends on single"
            " ones."
        )
    return (
        f"{resampled} Intervals: Wilson's, from how average ranks vary between {noun}s, with"
        " Student's t."
    )


def _left_out_podiums(stability: RankStability | None) -> Iterator[Paragraph]:
    """Who takes the first three ranks when each group of blocks in turn is left out."""
    if stability is None or not stability.leave_one_out:
        return
    last = len(stability.bootstrap.competitors)
    takers = "; ".join(_takers(stability.leave_one_out, rank) for rank in _PODIUM if rank <= last)
    text = f"Leaving out one {stability.groups.noun} at a time: {takers}."
    yield Paragraph(text=text, style="note")


def _takers(left_out: Sequence[LeaveOneOut], rank: int) -> str:
    takers = Counter(
        " and ".join(name for found, name in one.podium if found == rank) or "none alone"
        for one in left_out
    )
    counts = sorted(takers.items(), key=lambda item: (-item[1], item[0]))
    if len(counts) == 1:
        return f"{counts[0][0]} stays {_PODIUM[rank]}"
    split = [f"{name} ({'once' if n == 1 else f'{n} times'})" for name, n in counts]
    return f"rank {rank} goes to {listed(split)}"


def rankings(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section of a study; None without a ranking, or with one data set and one score."""
    if results.tournament is None:
        return None
    by = results.tournament.by
    of_block = [name for name in by if name not in results.ranked_cells.columns]
    blocks = results.finals.select("block", *of_block).unique()
    found = [
        (dataset, score.label, held)
        for score, cells in _scores_of(results)
        for dataset, held in _by_dataset(
            cells.join(blocks, on="block").with_columns(pl.col(_SCORE) * PERCENT),
            by,
            _COMPETITOR,
            _SCORE,
        )
    ]
    return _rankings_section(found, series, unit=", %")


def table_rankings(results: TableResults, series: Mapping[str, Series]) -> Section | None:
    """The section of a published table; None with one data set and one K."""
    scored = results.table
    parts = {scored.score: scored.cells}
    if scored.every_k is not None:
        ks = sorted(scored.every_k[_K].unique(), key=lambda k: (k != scored.k, k))
        parts = {f"{scored.score}, K = {k}": scored.every_k.filter(pl.col(_K) == k) for k in ks}
    found = [
        (dataset, label, held)
        for label, cells in parts.items()
        for dataset, held in _by_dataset(cells, scored.by, scored.competitor, scored.score)
    ]
    return _rankings_section(found, series, unit="")


def _scores_of(results: StudyResults) -> list[tuple[RankedScore, pl.DataFrame]]:
    """The scores that ``podium tournament --score`` takes, that of the page first, with cells."""
    metrics = {results.objective: results.cells, **results.cells_without_k}
    scores = [
        *(RankedScore(results.objective, k) for k in results.ks),
        *map(RankedScore, results.cells_without_k),
    ]
    is_tuned = (pl.col("finalist") == "winner") & ~IS_BASELINE
    return [
        (score, metrics[score.metric].filter(is_tuned, pl.col("k") == score.k))
        for score in sorted(scores, key=lambda score: score != results.ranked_by)
    ]


def _by_dataset(
    cells: pl.DataFrame, by: Sequence[str], competitor: str, score: str
) -> Iterator[tuple[str, Tournament]]:
    """The tournaments that can be held, each of a data set, that of all first."""
    column = _DATASET if _DATASET in by else by[0]
    datasets = cells[column].unique().sort().to_list()
    for dataset in (None, *(datasets if len(datasets) > 1 else ())):
        part = cells if dataset is None else cells.filter(pl.col(column) == dataset)
        try:
            held = hold_tournament(part, by=by, competitor=competitor, score=score)
        except PodiumError:
            continue
        yield _ALL_DATA if dataset is None else str(dataset), held


def _rankings_section(
    found: Sequence[tuple[str, str, Tournament]], series: Mapping[str, Series], *, unit: str
) -> Section | None:
    if len(found) < 2:
        return None
    rows = [
        {"dataset": dataset, "score": score, "left_out": len(held.excluded), **asdict(standing)}
        for dataset, score, held in found
        for standing in held.standings
    ]
    ranks = table(
        rows,
        (
            Column.named("Competitor", "competitor", series),
            Column.text("Data set", "dataset", is_chosen=True),
            Column.text("Score", "score", is_chosen=True),
            Column.count("Rank", "place"),
            Column.number("Average rank", "average_rank"),
            total_column(),
            Column.count("Wins", "wins"),
            Column.number(f"Mean score{unit}", "mean_score"),
            Column.count("Blocks", "blocks"),
            Column.count("Left out", "left_out"),
        ),
        name="rankings-table",
        caption="Ranks within the blocks of one data set, or of all, by one score. Descriptive:"
        " podium tournament with --where and --score tests them.",
    )
    return Section(name="rankings", title="Rankings by data set and score", parts=(ranks,))


def loss_groups(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section of a study; None without two groups of ranked losses, as in old studies."""
    label = results.ranked_by.label
    return _groups_section(
        results.loss_groups, results.tournament, series, metric=f"{label}, %", word=label
    )


def table_loss_groups(results: TableResults, series: Mapping[str, Series]) -> Section | None:
    """The section of a published table; None unless groups were asked for."""
    return _groups_section(
        results.loss_groups,
        results.tournament,
        series,
        metric=results.score,
        word=results.score,
    )


def _groups_section(
    found: LossGroups | None,
    tournament: Tournament | None,
    series: Mapping[str, Series],
    *,
    metric: str,
    word: str,
) -> Section | None:
    if found is None or tournament is None:
        return None
    sentences = _group_sentences(found, tournament, f"points of {word}")
    groups = table(
        found.groups,
        (
            Column.text("Group", "name"),
            Column.count("Losses", lambda group: len(group.members)),
            Column.number("Mean rank", "rank.estimate"),
            Column.interval("95 % of the rank", "rank.low", "rank.high"),
            Column.number(f"Mean {metric}", "score.estimate"),
            Column.interval("95 % of the mean", "score.low", "score.high"),
            Column.named("Best loss", lambda group: group.members[0], series),
            Column.number(f"Its mean {metric}", "best_score"),
        ),
        name="loss-groups-table",
        caption="Groups of losses: mean rank and mean score of their losses over"
        f" {counted(len(tournament.blocks), 'block')}",
    )
    return Section(
        name="loss-groups",
        title="Groups of losses",
        parts=(*(Paragraph(text=text) for text in sentences), groups),
    )


def _group_sentences(found: LossGroups, tournament: Tournament, gap: str) -> Iterator[str]:
    yield " ".join(_difference_text(item, gap) for item in found.differences)
    blocks = tournament.block_groups
    few = (
        ""
        if blocks.number >= FEWEST_VALUES
        else f" An interval needs {FEWEST_VALUES} {blocks.noun}s, and there"
        f" {'is' if blocks.number == 1 else 'are'} {blocks.number}."
    )
    yield (
        f"Intervals are Student's over {blocks.counted}, for the losses that are here: they say"
        f" what other {blocks.elsewhere} might give, not what other losses of a group would.{few}"
    )
    if found.ungrouped:
        yield f"In no group: {listed(found.ungrouped, most=MOST_NAMED)}."


def _difference_text(item: GroupDifference, gap: str) -> str:
    mean = item.difference
    interval = "" if mean.low is None else f" ({range_of(mean.low, mean.high)})"
    return f"{item.a} minus {item.b}: {signed(mean.estimate)} {gap}{interval} on average."
