"""A tournament as plain values, for JSON and CSV."""

from dataclasses import asdict
from typing import Any

from podium.analysis.tournament.classic_tests import classic_record
from podium.analysis.tournament.tournament import Tournament


def tournament_record(tournament: Tournament) -> dict[str, Any]:
    """Everything a tournament found: ``competitors`` (best first), ``units``, ``pairs``, ...

    What could not be computed is None.
    """
    units, rules = tournament.units, tournament.rules
    return {
        "question": units.question,
        "units": {"noun": units.noun, "number": units.number, "untested": units.why_untested},
        "alpha": rules.alpha,
        "against": rules.against,
        "competitors": standing_records(tournament),
        "pairs": [
            {**asdict(pair), "differs": pair.differs(rules.alpha)} for pair in tournament.pairs
        ],
        "leaders_without": dict(tournament.leaders_without),
        "classic": classic_record(tournament),
        "by": tournament.by,
        "blocks": tournament.block_labels,
        "excluded": [
            {"block": block, "missing": missing} for block, missing in tournament.excluded.items()
        ],
        "available": [asdict(rank) for rank in tournament.available],
    }


def standing_records(tournament: Tournament) -> list[dict[str, Any]]:
    """The table of the tournament, best first."""
    return [asdict(standing) for standing in tournament.standings]
