"""Runs trials one after the other in this process: for tests, debugging and ``--local``."""

from orchestrator.executors.base import Director, NoJob
from orchestrator.worker import TrialWorker

__all__ = ["InProcessExecutor"]


class InProcessExecutor:
    """One slot, no Ray."""

    def run(self, director: Director) -> None:
        """Run every job to its end, one at a time."""
        worker = TrialWorker()
        while not director.is_stopping:
            job = director.next_job()
            if isinstance(job, NoJob):
                assert job is NoJob.FINISHED, "nothing is running, so there is nothing to wait for"
                return
            worker.start(job)
            while not director.is_stopping and director.hear(job.trial_id, worker.step()):
                pass
            worker.stop()
