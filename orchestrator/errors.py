"""The orchestrator's errors a user can do something about."""

from orchestrator.results.errors import PodiumError

__all__ = ["StudyError"]


class StudyError(PodiumError):
    """A study file is wrong: one line for each problem, all of them at once."""
