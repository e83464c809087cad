"""What a tournament ranks by and asks, and which competitors it compares.

The study file declares it all, so that nothing is chosen after its outcome is known.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, StrictFloat, TypeAdapter

from podium.orchestrator.results.records.study_keys import Several, Text

ClassicTest = Literal["wilcoxon_holm", "friedman", "nemenyi"]

OF_THREE: tuple[ClassicTest, ...] = ("friedman", "nemenyi")
"""Classic tests that compare at least three competitors."""

Question = Literal["other_blocks", "these_blocks"]

ALPHA_BELOW = 0.5
"""Exclusive upper bound of the significance level of tests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentRules:
    """How the verdicts of a tournament are reached.

    Attributes:
        question: whether the order would hold on other data sets and backbones, or on these blocks
            were their runs repeated.
        test: classic test over blocks that is reported too; it decides nothing. None: none.
        against: name of the competitor that every other one is compared with; None: all pairs.
        alpha: significance level of all tests, in (0, 0.5).
        rope_points: half-width of the region of practical equivalence (ROPE), in hundredths
            of the score, at least 0, which figures shade; None: none.
        score: name of the test score that losses are ranked by, such as ``recall@4`` or ``nmi``;
            None: the study's own metric at its first K.
        groups: name -> losses of each group that is compared with the others; None: groups by the
            kind of loss.
    """

    question: Question = "other_blocks"
    test: ClassicTest | None = None
    against: Text | None = None
    alpha: Annotated[StrictFloat, Field(gt=0, lt=ALPHA_BELOW)] = 0.05
    rope_points: Annotated[StrictFloat, Field(ge=0, le=100)] | None = None
    score: Text | None = None
    groups: Mapping[str, Several[Text]] | None = None


def rules_of(study: Mapping[str, Any]) -> TournamentRules:
    """The rules of a resolved study."""
    return TypeAdapter(TournamentRules).validate_python(study["tournament"])
