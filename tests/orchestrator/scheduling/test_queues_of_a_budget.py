"""When the searches of a study with a budget end, and what is kept back for their finals."""

from dataclasses import dataclass, field, replace

import pytest

from podium.orchestrator.run.resume_study import search_run
from podium.orchestrator.scheduling import trial_queues
from podium.orchestrator.scheduling.final_stage import FinalStage
from podium.orchestrator.scheduling.trial_queues import StudyQueues
from podium.orchestrator.search_samplers.suggester import Outcome
from podium.orchestrator.study.blocks import searches
from podium.orchestrator.study.study import FinalSettings
from podium.orchestrator.trials.specification_maker import TrialSpecMaker
from podium.trainables.dataset_interface.load_dataset import load_dataset
from tests.orchestrator.shared_finals import FOLDS, KFOLD, SMALL

PRUNED = Outcome(state="PRUNED", objective=None, path=(), selected_epoch=None)
STUDY = replace(
    SMALL,
    search=replace(SMALL.search, trials=2, order="asynchronous"),
    final=FinalSettings(seeds=1, protocol=KFOLD),
)


@dataclass
class Quotas:
    """BudgetShares that let each search have so many trials."""

    are_limited = True
    quotas: dict[str, int] = field(default_factory=dict)
    ended: dict[str, int] = field(default_factory=dict)
    run_seconds: float = 0.0
    looks: int = 0

    def allowed(self, runs, final_stage, num_slots):
        self.looks += 1
        return {run.search.id for run in runs if run.num_distinct < self.quotas[run.search.id]}

    def end(self, trials):
        self.ended |= trials


@pytest.fixture(scope="module")
def maker():
    datasets = {item.label: load_dataset(item, None) for item in STUDY.datasets}
    return TrialSpecMaker(STUDY, datasets)


@pytest.fixture
def queues(maker):
    runs = [search_run(STUDY, search, maker) for search in searches(STUDY)]
    final_stage = FinalStage(
        STUDY, searches(STUDY), maker, baselines=(), committed={}, refit_epochs={}
    )
    return StudyQueues(STUDY, runs, final_stage, Quotas())


def next_spec(queues):
    return queues.next_spec(lambda ask: None, num_slots=1)


def test_a_search_without_a_share_waits_for_what_running_trials_may_leave(queues):
    whole, short = (run.search.id for run in queues.runs)
    queues._budget_shares.quotas = {whole: 2, short: 1}
    specs = [next_spec(queues) for _ in range(3)]
    assert next_spec(queues) is None
    last = next(spec for spec in specs if spec.search.id == whole)
    for spec in specs:
        if spec is not last:
            queues.finish(spec, PRUNED)
    assert next_spec(queues) is None
    assert queues._budget_shares.ended == {}
    queues.finish(last, PRUNED)
    assert next_spec(queues).stage == "final"
    assert queues._budget_shares.ended == {short: 1}


def test_shares_are_looked_at_again_after_enough_changes_or_time_or_if_none_is_left(
    queues, monkeypatch
):
    shares = queues._budget_shares
    shares.quotas = {run.search.id: 2 for run in queues.runs}
    monkeypatch.setattr(trial_queues, "_CHANGES_PER_SEARCH", 2.0)  # 4 of 2 searches
    assert next_spec(queues) is not None
    assert next_spec(queues) is not None
    assert shares.looks == 1
    shares.run_seconds = 1.0
    assert next_spec(queues) is not None
    assert shares.looks == 2
    shares.quotas = dict.fromkeys(shares.quotas, 0)
    shares.run_seconds = 2.0
    for looks in (3, 4):
        assert next_spec(queues) is None
        assert shares.looks == looks
    shares.quotas = dict.fromkeys(shares.quotas, 2)
    assert next_spec(queues) is not None, "that none had a share is not taken for granted"


def test_nothing_is_kept_back_for_finals_that_are_copies(queues):
    first, second = (run.search.id for run in queues.runs)
    queues._budget_shares.quotas = {first: 2, second: 1}
    specs = [next_spec(queues) for _ in range(3)]
    for spec in specs:
        queues.finish(spec, PRUNED)
    # The second has the finals of the published default in common with the first.
    queues._budget_shares.quotas[second] = 2
    queues.finish(next_spec(queues), PRUNED)
    finals = []
    while (spec := next_spec(queues)) is not None:
        finals.append(spec)
    assert len(finals) == FOLDS
    left = [queues.final_stage.of[run.search.id].num_to_train for run in queues.runs]
    assert sum(left) == FOLDS
    queues.final_stage.finish(finals[0], "COMPLETE")
    left = [queues.final_stage.of[run.search.id].num_to_train for run in queues.runs]
    assert sum(left) == FOLDS - 1
