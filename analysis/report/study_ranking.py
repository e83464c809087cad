"""Who won a study, and which differences hold."""

from collections.abc import Mapping

from analysis.figures.style import Series
from analysis.page.html_page import Paragraph, Section
from analysis.report.fairness import beside
from analysis.report.leaderboard import difference_parts, rank_parts
from analysis.study_results.study_results import StudyResults

__all__ = ["differences", "ranking"]


def ranking(results: StudyResults, series: Mapping[str, Series]) -> Section:
    """The table of places with its uncertainty, or why there is none."""
    if results.tournament:
        parts = rank_parts(
            results.tournament,
            results.stability,
            series,
            metric=f"{results.metric},\N{NO-BREAK SPACE}%",
            aside=beside(results),
        )
    else:
        parts = (Paragraph(text=f"There is no ranking: {results.no_tournament}."),)
    return Section(name="ranking", title="Leaderboard", label="Leaderboard", parts=parts)


def differences(results: StudyResults, series: Mapping[str, Series]) -> Section:
    """What the tests can tell apart."""
    if results.tournament:
        parts = difference_parts(
            results.tournament, series, fairness=results.fairness, aside=beside(results)
        )
    else:
        parts = (Paragraph(text="Without a ranking there is nothing to test."),)
    return Section(
        name="differences", title="Which differences hold", label="Differences", parts=parts
    )
