"""The report of a study, and the page of a published table."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from analysis.figures.style import Series, series_of
from analysis.page import Link, render_page
from analysis.rank_uncertainty import rank_stability
from analysis.read_protocols import read_protocols
from analysis.sections.answer import answer
from analysis.sections.cost import cost
from analysis.sections.curves import learning_curves
from analysis.sections.fairness import fairness_section
from analysis.sections.fronts import front_table
from analysis.sections.history import search_history
from analysis.sections.leaderboard import leaderboard
from analysis.sections.protocols import ProtocolSection, protocol_section
from analysis.sections.provenance import provenance
from analysis.sections.published import score_table
from analysis.sections.recall import recall_tables
from analysis.sections.retrievals import retrievals
from analysis.sections.tuning import tuning
from analysis.sections.validation import validation
from analysis.sections.verdict import headline, verdict
from analysis.study_results import StudyResults, read_results
from analysis.tables import ScoreTable
from analysis.tournament import hold_tournament
from analysis.wording import counted

__all__ = ["study_page", "table_page"]


def study_page(folder: Path, *, links: Sequence[Link] = (), protocol: str | None = None) -> str:
    """One self-contained HTML page; the same store gives the same bytes.

    Args:
        folder: a results folder, finished or not.
        links: pages that belong beside this one.
        protocol: label of the one that losses are compared under; None means the study's first
            that does not leak.

    Raises:
        PodiumError: it is no results folder, a file of it is corrupt, competitors were judged on
            different data, or there is no such protocol.
    """
    results = read_results(folder, protocol)
    series = series_of(results.losses)
    board = None
    if results.tournament:
        metric = f"{results.metric},\N{NO-BREAK SPACE}%"
        board = leaderboard(
            results.tournament,
            results.stability,
            series,
            metric=metric,
            fairness=results.fairness,
        )
    blocks = counted(results.trials["block"].n_unique(), "block")
    return render_page(
        "study.html.j2",
        title=results.name,
        subtitle=f"Tournament of {counted(len(results.losses), 'loss', 'losses')} over {blocks}",
        links=tuple(links),
        results=results,
        answer=answer(results),
        fairness=fairness_section(results, series),
        tuning=tuning(results, series),
        board=board,
        recall_tables=recall_tables(results, series),
        curves=learning_curves(results, series),
        history=search_history(results, series),
        fronts=front_table(results, series),
        validation=validation(results, series),
        protocols=_protocols(folder, results, series),
        galleries=retrievals(results, series),
        cost=cost(results, series),
        provenance=provenance(results),
    )


def _protocols(
    folder: Path, results: StudyResults, series: Mapping[str, Series]
) -> ProtocolSection | None:
    """The section of a study that says something of protocols and has begun."""
    trained_on = results.trials["train_on"].drop_nulls().n_unique()
    says = len(results.protocols) > 1 or results.study["quarantine"] == "record" or trained_on > 1
    if not says or results.trials.filter(pl.col("stage") == "search").is_empty():
        return None
    return protocol_section(read_protocols(folder), series, compared=results.protocol.label)


def table_page(table: ScoreTable, *, title: str, source: str, links: Sequence[Link] = ()) -> str:
    """The page of a table of scores from a file, such as one typed from a paper.

    Args:
        table: what to rank.
        title: of the page.
        source: where the table comes from and which rows were taken.
        links: pages that belong beside this one.

    Raises:
        PodiumError: fewer than two competitors, or no complete block.
    """
    tournament = hold_tournament(
        table.cells, by=table.by, competitor=table.competitor, score=table.score
    )
    stability = rank_stability(tournament)
    series = series_of(tournament.names)
    return render_page(
        "table.html.j2",
        title=title,
        subtitle=source,
        links=tuple(links),
        headline=headline(tournament, metric=table.score),
        sentences=verdict(tournament, stability),
        notices=table.warnings,
        board=leaderboard(tournament, stability, series, metric=table.score),
        scores=score_table(tournament, series, score=table.score),
    )
