"""Saves checkpoints of one attempt at a trial, as often as the study wants them."""

import time

from podium.orchestrator.results.storage.files import put
from podium.orchestrator.trials.specification import TrialJob


class CheckpointSaver:
    """Saves checkpoints of one attempt.

    Args:
        job: the job of which it is an attempt.

    Attributes:
        has_saved: whether it saved one, or may have before it failed to.
    """

    def __init__(self, job: TrialJob) -> None:
        self._job = job
        self._saved = time.monotonic()
        self.has_saved = False

    def is_due(self) -> bool:
        """Whether the last checkpoint, or the start, is as long ago as the study lets it be."""
        return time.monotonic() - self._saved >= 60.0 * self._job.checkpoint_minutes

    def __call__(self, state: bytes) -> None:
        """Replace the checkpoint of the trial, whether or not that is due."""
        self.has_saved = True
        put(self._job.paths.checkpoint(self._job.trial_id), state)
        self._saved = time.monotonic()
