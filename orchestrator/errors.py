"""Errors of the orchestrator that a user can fix."""

from collections.abc import Sequence

from orchestrator.results.errors import PodiumError

__all__ = ["StudyError"]


class StudyError(PodiumError):
    """A study is invalid.

    Attributes:
        problems: one line for each problem shown, as ``key: rule; got value; choices``.
    """

    def __init__(self, problems: Sequence[str], num_more: int = 0) -> None:
        """``num_more`` problems are counted and not shown."""
        self.problems = tuple(problems)
        num = len(problems) + num_more
        count = "1 problem" if num == 1 else f"{num} problems"
        more = [f"... and {num_more} more"] if num_more else []
        super().__init__("\n".join([f"{count} with the study:", *problems, *more]))
