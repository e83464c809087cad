"""By which test a study calls competitors different, as it is declared, frozen and read back.

The rules are part of the study file, so that no test is chosen after its outcome is known.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["ALPHA_BELOW", "TEST_LABELS", "PrimaryTest", "TournamentRules", "rules_of"]

PrimaryTest = Literal["wilcoxon_holm", "nemenyi", "permutation_holm"]

TEST_LABELS: Mapping[PrimaryTest, str] = {
    "wilcoxon_holm": "Wilcoxon–Holm",
    "nemenyi": "Nemenyi",
    "permutation_holm": "permutation–Holm",
}

ALPHA_BELOW = 0.5
"""Levels of tests are below it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentRules:
    """How the verdicts of a tournament are reached.

    Attributes:
        test: the primary one, which decides on medals, groups and every "differs".
        alpha: level of all tests, in (0, 0.5).
        rope_points: half-width of the region in which two scores are as good as equal, in
            hundredths of the score, from 0; None: the pooled standard deviation over seeds.
    """

    test: PrimaryTest = "wilcoxon_holm"
    alpha: float = 0.05
    rope_points: float | None = None


def rules_of(study: Mapping[str, Any]) -> TournamentRules:
    """The rules of a frozen study; the defaults for one from before there were any to declare."""
    return TournamentRules(**study.get("tournament", {}))
