"""A worker slot that has one trial at a time."""

from podium.orchestrator.worker.slot_worker import SlotWorker


class TrialWorker(SlotWorker):
    """Takes a job, and gives its messages alone."""

    def start(self, job):
        super().start([job])

    def step(self):
        return next(iter(super().step().values()))
