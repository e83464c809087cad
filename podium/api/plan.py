"""What a study will do and cost, as an answer."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from podium.api.answer import Answer, frame_of
from podium.plan.make_plan import Plan, plan_record
from podium.plan.plan_text import opening_lines, plan_text, search_rows

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class PlanAnswer(Answer):
    """What a study will do and cost, and what it can show.

    Attributes:
        found: the plan as values.
    """

    found: Plan

    @property
    def headline(self) -> str:
        """How many searches the study has."""
        return next(opening_lines(self.found.counts))

    @property
    def frame(self) -> "pl.DataFrame":
        """One row per search with counts of its trials and epochs, which are at most so many."""
        return frame_of(search_rows(self.found.counts))

    def to_dict(self) -> dict[str, Any]:
        """Counts, hours, power, fairness, splits and what is missing."""
        return plan_record(self.found)

    @property
    def full_text(self) -> str:
        """The text with all details, as ``podium plan --full`` prints it."""
        return plan_text(self.found, full=True)

    def __str__(self) -> str:
        return plan_text(self.found)
