"""What a tournament ranks by and asks, and the test by which competitors differ significantly.

The study file declares it all, so that nothing is chosen after its outcome is known.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, StrictFloat

from podium.orchestrator.results.records.study_keys import Several, Text

PrimaryTest = Literal["wilcoxon_holm", "nemenyi", "permutation_holm"]

TEST_LABELS: Mapping[PrimaryTest, str] = {
    "wilcoxon_holm": "Wilcoxon–Holm",
    "nemenyi": "Nemenyi",
    "permutation_holm": "permutation–Holm",
}

Question = Literal["other_blocks", "these_blocks"]

ALPHA_BELOW = 0.5
"""Exclusive upper bound of the significance level of tests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentRules:
    """How the verdicts of a tournament are reached.

    Attributes:
        question: whether the order would hold on other data sets and backbones, or on these blocks
            were their runs repeated.
        test: primary test, which decides on medals, groups and every "significantly different".
        alpha: significance level of all tests, in (0, 0.5).
        rope_points: half-width of the region of practical equivalence (ROPE), in hundredths
            of the score, at least 0; None: the pooled standard deviation over seeds.
        score: name of the test score that losses are ranked by, such as ``recall@4`` or ``nmi``;
            None: the study's own metric at its first K.
        groups: name -> losses of each group that is compared with the others; None: groups by the
            kind of loss.
    """

    question: Question = "other_blocks"
    test: PrimaryTest = "wilcoxon_holm"
    alpha: Annotated[StrictFloat, Field(gt=0, lt=ALPHA_BELOW)] = 0.05
    rope_points: Annotated[StrictFloat, Field(ge=0, le=100)] | None = None
    score: Text | None = None
    groups: Mapping[str, Several[Text]] | None = None


def rules_of(study: Mapping[str, Any]) -> TournamentRules:
    """The rules of a resolved study; the defaults where it declares none, as old ones do."""
    declared = study.get("tournament", {})
    groups = declared.get("groups")
    of_tuples = groups and {name: tuple(losses) for name, losses in groups.items()}
    return TournamentRules(**{**declared, "groups": of_tuples})
