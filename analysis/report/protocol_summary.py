"""The first screen of a study that compares validation protocols: which to use, at what cost."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from podium.analysis.page.html_page import Illustration, Summary
from podium.analysis.protocols.findings_text import missing_statistics, protocol_sentences
from podium.analysis.protocols.protocol_study import ProtocolStudy
from podium.analysis.protocols.protocol_tables import protocol_tables
from podium.analysis.protocols.selected_configs import (
    ALPHA,
    non_leaking,
    pick_differences,
    pick_means,
    protocol_headline,
    ranked_means,
)
from podium.analysis.report.protocols import figure_of
from podium.analysis.study_results.study_results import PERCENT, StudyResults
from podium.analysis.wording import counted, duration, listed, number

_MOST_OTHERS = 3  # protocols named after the best
_SAME = 0.005  # points; regrets that differ by less read alike


def protocol_summary(results: StudyResults, said: Summary) -> Summary | None:
    """The summary with its protocols first; None where there are no two to choose between.

    Args:
        results: results of a study.
        said: what is said of its losses, whose sentences and notices come after.
    """
    study = results.protocol_study
    if study is None or not (headline := protocol_headline(study)):
        return None
    regrets = _regrets(study)
    return replace(
        said,
        verdict=_verdict(study, regrets) if regrets else headline,
        facts=tuple(_facts(study, regrets)),
        picture=_picture(study),
        leaderboard=None,
        sentences=(
            *([headline] if regrets else []),
            *protocol_sentences(study),
            *missing_statistics(study),
            said.verdict,
            *said.sentences,
        ),
    )


def _regrets(study: ProtocolStudy) -> dict[str, float]:
    """Label -> regret in points of those that do not leak, the least first.

    Of equal ones the cheaper is first. Empty unless all of them have one over the same searches,
    and where searches had nothing to choose from.
    """
    known = {row["protocol"]: row for row in study.costs.to_dicts()}
    rows = [known[label] for label in non_leaking(study) if label in known]
    if study.num_configs == 1 or any(row["regret"] is None for row in rows):
        return {}
    ordered = sorted(rows, key=lambda row: (row["regret"], row["hours_per_search"] or 0))
    return {row["protocol"]: PERCENT * row["regret"] for row in ordered}


def _verdict(study: ProtocolStudy, regrets: Mapping[str, float]) -> str:
    """How far the pick of each is below the best config, and whether that differs."""
    least = min(regrets.values())
    best = [label for label, regret in regrets.items() if regret - least < _SAME]
    others = [
        f"{number(regret)} under {label}" for label, regret in regrets.items() if label not in best
    ]
    lost = (
        f"{number(least)} points"
        if least > 0
        else f"nothing that can be measured ({number(least)} points)"
    )
    against = f", against {listed(others, most=_MOST_OTHERS)}" if others else ""
    return (
        f"On test, what {listed(best)} picks loses {lost} to the best config{against};"
        f" {_whether_they_differ(study)}."
    )


def _whether_they_differ(study: ProtocolStudy) -> str:
    """What the tests of pairs of protocols that do not leak say of what they pick."""
    rows = pick_differences(study, non_leaking(study))
    known = [row for row in rows if row["p_holm"] is not None]
    if not known:
        return "this study cannot test whether they differ"
    different = [row for row in known if row["p_holm"] <= ALPHA]
    if not different:
        return "their picks do not differ significantly"
    if len(rows) == 1:
        return "their picks differ significantly"
    return f"{len(different)} of {counted(len(rows), 'pair')} differ significantly in their picks"


def _facts(study: ProtocolStudy, regrets: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    """The regret or the score of the best, its cost, and how many searches are behind both."""
    means, measure, _ = pick_means(study)
    ranked = ranked_means(means, measure, non_leaking(study))
    first = next(iter(regrets), ranked[0][0])
    if regrets:
        label = f"points of regret of {first}'s picks, the least"
        yield (number(regrets[first]), label)
    else:
        label = f"{study.metric} in % on test of what {first} picked"
        yield (number(PERCENT * ranked[0][1], 1), label)
    hours = _hours(study)
    if first in hours:
        yield _cost(first, {label: hours[label] for label in non_leaking(study) if label in hours})
    yield (
        f"{study.num_repeats} × {study.num_blocks} × {study.num_losses}",
        "repeats × settings × losses searched",
    )


def _hours(study: ProtocolStudy) -> dict[str, float]:
    """Label -> hours of one search, of the protocols that spent any."""
    rows = study.costs.to_dicts()
    return {row["protocol"]: hours for row in rows if (hours := row["hours_per_search"])}


def _cost(first: str, hours: Mapping[str, float]) -> tuple[str, str]:
    """The time of a search under the first, as a multiple of that under the cheapest."""
    cheapest = min(hours, key=lambda label: (hours[label], label != first))
    if cheapest == first:
        label = f"a search under {first}, which none undercuts"
        return (duration(3600 * hours[first]), label)
    ratio = number(hours[first] / hours[cheapest], 1)
    return (f"{ratio} ×", f"as long a search as under {cheapest}, the cheapest")


def _picture(study: ProtocolStudy) -> Illustration | None:
    """Regret against cost, else the test scores of what was picked; None with neither."""
    figures = {table.name: figure_of(study, table) for table in protocol_tables(study)}
    found = figures.get("protocol-costs") or figures.get("protocol-finals")
    if found is None:
        return None
    return replace(
        found,
        name="summary-protocols",
        plots=tuple(replace(plot, name="summary-protocols-plot") for plot in found.plots),
        table=None,
    )
