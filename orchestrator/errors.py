"""Errors of the orchestrator that a user can fix."""

from collections.abc import Sequence

from orchestrator.results.errors import PodiumError

__all__ = ["StudyError"]


class StudyError(PodiumError):
    """A study is invalid.

    Attributes:
        problems: one line for each problem, as ``key: rule; got value; choices``.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        super().__init__("\n".join([f"{count} with the study:", *problems]))
