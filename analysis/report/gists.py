"""What each chapter of a report says in a line, read while it is folded."""

from analysis.report.fairness import unequal_text
from analysis.report.verdict import failed_sentence
from analysis.study_results.study_results import PERCENT, StudyResults
from analysis.tournament.tournament import Tournament
from analysis.wording import counted, duration, listed, signed


def chapter_gists(results: StudyResults) -> dict[str, str]:
    """Chapter -> its line, of the chapters of which a line can be said."""
    gists = {
        "Ranking": ranking_gist(results.tournament) if results.tournament else "",
        "Hyperparameters": _gains(results),
        "Cost and failures": _cost(results),
        "Fairness": _fairness(results),
        "Provenance": _provenance(results),
    }
    return {chapter: gist for chapter, gist in gists.items() if gist}


def ranking_gist(tournament: Tournament) -> str:
    """How many pairs differ significantly; that nothing was tested where nothing could be."""
    if tournament.is_descriptive:
        return "descriptive: there are too few blocks for a test"
    different = sum(pair.differs(tournament.alpha) for pair in tournament.pairs)
    return f"{different} of {counted(len(tournament.pairs), 'pair')} differ significantly"


def _gains(results: StudyResults) -> str:
    gains = results.overall.drop_nulls("gain").sort("gain", descending=True)
    if gains.is_empty():
        return ""
    best, worst = gains.row(0, named=True), gains.row(-1, named=True)
    ends = [best] if best == worst else [best, worst]
    named = [f"{signed(PERCENT * row['gain'], 1)} points for {row['loss']}" for row in ends]
    return f"gain of tuning on test {' to '.join(named)}"


def _cost(results: StudyResults) -> str:
    seconds = float(results.trials["seconds"].sum())
    failed = failed_sentence(results).partition(" failed")[0]
    trials = counted(results.trials.height, "trial")
    return f"{trials}, {duration(seconds)}, {f'{failed} failed' if failed else 'none failed'}"


def _fairness(results: StudyResults) -> str:
    if text := unequal_text(results):
        return f"the losses were not equal in {text}"
    return "" if results.fairness is None else "the losses differ in their formulas alone"


def _provenance(results: StudyResults) -> str:
    versions = results.trials["podium_version"].drop_nulls().unique().sort().to_list()
    return f"podium {listed(versions)}" if versions else ""
