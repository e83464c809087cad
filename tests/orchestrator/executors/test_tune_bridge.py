"""Processes that hang before their trial begins; Ray Tune's books are made up, no Ray starts."""

from types import SimpleNamespace

import pytest

from podium.orchestrator.executors import tune_bridge
from podium.orchestrator.executors.tune_bridge import TuneBridge
from podium.orchestrator.study.resource_demand import Demand
from podium.orchestrator.trials.specification import TrialJob

JOB = TrialJob(
    trial_id="t",
    search="s",
    attempt=1,
    paths=None,
    settings=None,
    demand=Demand(cpus=1.0, gpus=0.0),
)


class Scheduler:
    """Has one job, and hears what becomes of it."""

    def __init__(self):
        self.lost = []
        self.is_stopping = False

    def next_job(self, capacity):
        return JOB

    def trials_to_kill(self, capacity):
        return {}

    def trials_started(self, trial_ids):
        """They began."""

    def trial_lost(self, trial_id, loss):
        self.lost.append((trial_id, loss.cause))


class Trial:
    """As far as Tune's own matters here."""

    def __init__(self):
        self.trial_id = "tune"
        self.status = "PENDING"
        self.temporary_state = SimpleNamespace(ray_actor=None)


class Books:
    """A bridge with one trial, what Tune knows of its process, and a clock."""

    def __init__(self, monkeypatch):
        self.now, self.killed = 1000.0, []
        monkeypatch.setattr(tune_bridge, "time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(tune_bridge.ray, "kill", self.killed.append)
        self.scheduler, self.trial, self.live = Scheduler(), Trial(), {}
        self.trial_to_actor = {self.trial: "waits"}
        self.bridge = TuneBridge(self.scheduler, watch=None, capacity=lambda: None)
        self.bridge.suggest("tune")
        manager = SimpleNamespace(_live_actors_to_ray_actors_resources=self.live)
        self.controller = SimpleNamespace(
            _trial_to_actor=self.trial_to_actor, _actor_manager=manager
        )
        self.bridge.added(self.controller, self.trial)

    def pass_seconds(self, seconds):
        end = self.now + seconds
        while self.now < end:
            self.now += 1.0
            self.bridge.check_trials()

    def hang(self, process):
        self.place(process)
        self.pass_seconds(610)
        self.bridge.ended("tune", failed=True)
        self.bridge.suggest("tune")
        self.bridge.added(self.controller, self.trial)

    def place(self, process):
        self.trial_to_actor[self.trial] = process
        self.live[process] = (f"actor of {process}", "place")


@pytest.fixture
def books(monkeypatch):
    return Books(monkeypatch)


def test_a_trial_may_wait_for_a_place_as_long_as_it_takes(books):
    books.pass_seconds(5000)
    assert books.killed == []


def test_a_process_that_does_not_start_is_killed_and_its_trial_lost(books):
    books.pass_seconds(5000)
    books.place("new")
    books.pass_seconds(590)
    assert books.killed == []
    books.pass_seconds(20)
    assert books.killed == ["actor of new"]
    books.bridge.ended("tune", failed=True)
    assert books.scheduler.lost == [("t", "stuck")]


def test_each_process_has_its_own_time_to_start(books):
    books.place("new")
    books.pass_seconds(500)
    books.place("another")
    books.pass_seconds(500)
    assert books.killed == []
    books.bridge.started("tune")
    books.pass_seconds(5000)
    assert books.killed == []


def test_a_process_that_does_not_let_go_of_its_last_trial_has_a_minute(books):
    books.place("used")
    books.trial.temporary_state.ray_actor = "actor of used"
    books.pass_seconds(55)
    assert books.killed == []
    books.pass_seconds(10)
    assert books.killed == ["actor of used"]


def test_a_run_in_which_no_process_starts_is_given_up(books):
    for process in ("a", "b", "c", "d"):
        books.hang(process)
    assert books.bridge.error is None
    books.hang("e")
    assert books.bridge.error.exit_code == 3
    assert "5 processes in a row hung before theirs began" in str(books.bridge.error)


def test_a_run_in_which_a_trial_runs_continues_while_others_cannot_start(books):
    books.bridge.suggest("other")
    books.bridge.started("other")
    for process in ("a", "b", "c", "d", "e", "f"):
        books.hang(process)
    assert books.bridge.error is None
    books.bridge.ended("other", failed=False)
    books.pass_seconds(1)
    assert books.bridge.error is not None


def test_a_process_that_starts_makes_up_for_those_that_did_not(books):
    for process in ("a", "b", "c", "d"):
        books.hang(process)
    books.bridge.started("tune")
    books.bridge.ended("tune", failed=False)
    books.bridge.suggest("tune")
    books.bridge.added(books.controller, books.trial)
    books.hang("e")
    assert books.bridge.error is None
