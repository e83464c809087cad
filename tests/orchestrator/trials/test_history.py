import pytest

from podium.orchestrator.trials.history import TrialHistory, running_best
from podium.trainables.trial_reports import EpochReport, Score


def report(epoch, recall, fold=0):
    score = Score(role="val", metric="recall", k=1, value=recall)
    return EpochReport(
        fold=fold,
        epoch=epoch,
        scores=(score,),
        class_hits=(),
        seconds=2.0,
        peak_memory_mb=1.0,
    )


def history(*reports):
    filled = TrialHistory(primary_k=1)
    for item in reports:
        filled.add(item)
    return filled


def test_the_best_epoch_is_selected_and_the_earliest_on_ties():
    told = history(report(1, 0.2), report(2, 0.6), report(3, 0.6), report(4, 0.5))
    assert [item.epoch for item in told.selected()] == [2]
    assert told.objective() == 0.6


def test_hearing_a_report_again_changes_nothing():
    told = history(report(1, 0.2), report(2, 0.6), report(1, 0.2), report(2, 0.6))
    assert len(told.epochs) == 2
    assert told.seconds == 4.0


def test_the_objective_is_the_mean_over_folds_of_each_folds_best():
    told = history(report(1, 0.2), report(2, 0.4), report(1, 0.9, fold=1), report(2, 0.1, fold=1))
    assert told.objective() == pytest.approx(0.65)
    assert [item.epoch for item in told.selected()] == [2, 1]


def test_before_any_epoch_there_is_no_objective():
    assert history().objective() is None
    assert history().running_objectives() == ()


def test_the_running_best_never_falls_within_a_fold():
    assert running_best([(0, 1, 0.2), (0, 2, 0.1), (0, 3, 0.5)]) == ((1, 0.2), (2, 0.2), (3, 0.5))


def test_the_running_best_averages_the_folds_seen_so_far():
    path = running_best([(0, 1, 0.2), (0, 2, 0.4), (1, 1, 0.8)])
    assert path == ((1, 0.2), (2, 0.4), (3, pytest.approx(0.6)))
