"""The test by which a study calls competitors significantly different.

The study file declares it, so that no test is chosen after its outcome is known.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

PrimaryTest = Literal["wilcoxon_holm", "nemenyi", "permutation_holm"]

TEST_LABELS: Mapping[PrimaryTest, str] = {
    "wilcoxon_holm": "Wilcoxon–Holm",
    "nemenyi": "Nemenyi",
    "permutation_holm": "permutation–Holm",
}

ALPHA_BELOW = 0.5
"""Exclusive upper bound of the significance level of tests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentRules:
    """How the verdicts of a tournament are reached.

    Attributes:
        test: primary test, which decides on medals, groups and every "significantly different".
        alpha: significance level of all tests, in (0, 0.5).
        rope_points: half-width of the region of practical equivalence (ROPE), in hundredths
            of the score, at least 0; None: the pooled standard deviation over seeds.
    """

    test: PrimaryTest = "wilcoxon_holm"
    alpha: float = 0.05
    rope_points: float | None = None


def rules_of(study: Mapping[str, Any]) -> TournamentRules:
    """The rules of a resolved study; the defaults where it declares none, as old ones do."""
    return TournamentRules(**study.get("tournament", {}))
