"""Trials that train on all training classes, that stop early, and that are tested in part."""

from dataclasses import replace

import pytest

from podium.trainables.dataset_interface.load_dataset import load_dataset
from podium.trainables.errors import CheckpointError, TrialInputError
from podium.trainables.settings.trial_settings import (
    ProtocolSettings,
    TrialSettings,
)
from podium.trainables.trial.run_trial import run_trial
from podium.trainables.trial.setup import set_up
from podium.trainables.trial_reports import EpochReport, TestReport
from tests.trainables.tiny_trials import (
    assert_continues_after_any_report,
    masks,
    tiny_trial,
    two_folds,
    untimed,
)

TEST_TUNED = ProtocolSettings(kind="test_tuned", val_fraction=None)
REFIT = ProtocolSettings(kind="refit", val_fraction=None)


def reports_and_weights(settings, **options):
    kept = []
    *epochs, test = run_trial(settings, keep=kept.append, **options)
    return untimed(epochs), untimed([test])[0], kept[0].model


def recalls(report, role):
    return [
        (score.k, score.value, score.hits, score.queries, score.gallery)
        for score in report.scores
        if (score.role, score.metric) == (role, "recall")
    ]


def trained(report):
    return [score for score in report.scores if score.role == "train"]


def frozen(settings):
    return replace(settings, training=replace(settings.training, mode="frozen_features"))


def test_test_tuned_selects_the_epoch_that_is_best_on_test_and_reports_it_as_both(cache_folder):
    settings = tiny_trial(cache_folder, protocol=TEST_TUNED, epochs=5)
    epochs, test, model = reports_and_weights(settings)
    best = max(report.recall(1) for report in epochs)
    selected = next(report for report in epochs if report.recall(1) == best)
    assert test.epoch == selected.epoch == model.epoch
    assert recalls(selected, "val") == recalls(test, "test")
    assert [replace(hits, role="test") for hits in selected.class_hits] == list(test.class_hits)
    dataset = load_dataset(settings.dataset, cache_folder)
    assert selected.class_hits[0].class_ids == dataset.test_classes
    assert all(report.has_validation for report in epochs)


@pytest.mark.parametrize("protocol", [TEST_TUNED, REFIT], ids=lambda it: it.kind)
def test_all_training_classes_are_trained_on(cache_folder, protocol):
    settings = tiny_trial(cache_folder, protocol=protocol, loss="proxy_anchor")
    _, _, model = reports_and_weights(settings)
    names = load_dataset(settings.dataset, cache_folder).train_class_names
    assert model.train_classes == names
    (proxies_CD,) = model.loss_parameters.values()
    assert len(proxies_CD) == len(names) == 20


@pytest.mark.parametrize("change", [lambda it: it, masks, frozen])
def test_refit_trains_as_test_tuned_does_and_tests_its_last_epoch(cache_folder, change):
    """Both train on the same classes, so that one tells what the other's epochs score."""
    settings = change(tiny_trial(cache_folder, epochs=4))
    tuned, _, _ = reports_and_weights(replace(settings, protocol=TEST_TUNED))
    epochs, test, model = reports_and_weights(replace(settings, protocol=REFIT))
    assert [trained(report) for report in epochs] == [trained(report) for report in tuned]
    assert test.epoch == model.epoch == 4
    of_last = [it for it in tuned[-1].scores if it.role == "val" and it.k is not None]
    of_test = [replace(score, role="val") for score in test.scores if score.k is not None]
    assert of_test == of_last


def test_refit_validates_nothing(cache_folder):
    *epochs, _ = run_trial(tiny_trial(cache_folder, protocol=REFIT))
    for report in epochs:
        assert {score.role for score in report.scores} == {"train"}
        assert report.class_hits == ()
        assert not report.has_validation
        with pytest.raises(KeyError, match="no validation recall at K = 1"):
            report.recall(1)


@pytest.mark.parametrize("protocol", [TEST_TUNED, REFIT], ids=lambda it: it.kind)
def test_the_untrained_baseline_is_the_same_under_every_protocol(cache_folder, protocol):
    settings = tiny_trial(cache_folder, epochs=0, loss="untrained")
    expected, baseline = run_trial(settings)
    report, test = run_trial(replace(settings, protocol=protocol))
    assert untimed([test]) == untimed([baseline])
    assert (report.epoch, report.has_validation) == (0, protocol is TEST_TUNED)
    assert expected.has_validation
    if protocol is TEST_TUNED:
        assert recalls(report, "val") == recalls(test, "test")


@pytest.mark.parametrize(("protocol", "stop_epoch"), [(TEST_TUNED, None), (REFIT, 2)])
def test_an_interrupted_trial_continues_as_if_undisturbed(cache_folder, protocol, stop_epoch):
    settings = tiny_trial(
        cache_folder, protocol=protocol, epochs=3, stop_epoch=stop_epoch, loss="proxy_anchor"
    )
    assert_continues_after_any_report(settings)


@pytest.mark.parametrize("protocol", [ProtocolSettings(val_fraction=0.3), TEST_TUNED, REFIT])
def test_a_trial_that_stops_has_the_epochs_of_the_one_that_continues(cache_folder, protocol):
    settings = tiny_trial(cache_folder, protocol=protocol, epochs=4, evaluate_test=False)
    schedule = {"step_epochs": 1, "step_factor": 0.3}
    settings = replace(settings, training=replace(settings.training, **schedule))
    whole = untimed(run_trial(settings))
    stopped = untimed(run_trial(replace(settings, stop_epoch=3)))
    assert len(whole) == 4
    assert stopped == whole[:3]


def test_what_a_trial_that_stops_tests_is_the_best_of_its_own_epochs(cache_folder):
    settings = tiny_trial(cache_folder, epochs=6)
    *epochs, test = run_trial(replace(settings, stop_epoch=2))
    assert [report.epoch for report in epochs] == [1, 2]
    assert test.epoch == max(epochs, key=lambda report: report.recall(1)).epoch


def test_a_hyperparameter_says_how_many_epochs_are_planned(cache_folder):
    settings = tiny_trial(cache_folder, epochs=8, stop_epoch=3, evaluate_test=False)
    planned = replace(settings, hyperparameters={"epochs": 3})
    assert len(list(run_trial(planned))) == 3
    with pytest.raises(TrialInputError, match=r"stop_epoch must be in 1\.\.2, .*; got 3"):
        next(run_trial(replace(settings, hyperparameters={"epochs": 2})))


@pytest.mark.parametrize("change", [lambda it: it, masks])
def test_a_test_in_part_has_the_numbers_of_the_whole_one(cache_folder, change):
    settings = change(tiny_trial(cache_folder))
    *epochs, whole = untimed(run_trial(settings))
    *same, part = untimed(run_trial(replace(settings, test_scores="recall")))
    for one, other in zip(same, epochs, strict=True):
        spread = [it for it in other.scores if it.role == "val" and it.k is None]
        assert replace(other, scores=tuple(it for it in other.scores if it not in spread)) == one
    assert part.retrievals == ()
    assert len(whole.retrievals) == 6
    assert part.scores == tuple(score for score in whole.scores if score.k is not None)
    assert (part.class_hits, part.epoch) == (whole.class_hits, whole.epoch)


def test_a_test_after_each_fold_changes_nothing_of_the_folds_to_come(cache_folder):
    settings = two_folds(cache_folder, loss="proxy_anchor")
    reports = untimed(run_trial(replace(settings, test_scores="recall")))
    assert [type(report) for report in reports] == 2 * [EpochReport, EpochReport, TestReport]
    untested = replace(settings, test_scores="recall", evaluate_test=False)
    found = [report for report in reports if isinstance(report, EpochReport)]
    assert found == untimed(run_trial(untested))


def test_a_name_is_no_part_of_a_checkpoint_and_a_stop_is(cache_folder):
    settings = tiny_trial(cache_folder, protocol=REFIT)
    saved = []
    reports = list(run_trial(settings, save=saved.append))
    named = replace(settings, protocol=replace(REFIT, name="all classes"))
    assert list(run_trial(named, resume=saved[-1])) == reports
    with pytest.raises(CheckpointError, match="of another trial"):
        next(run_trial(replace(settings, stop_epoch=1), resume=saved[-1]))


def test_protocols_of_one_split_do_not_share_checkpoints(cache_folder):
    settings = tiny_trial(cache_folder)
    identities = {
        set_up(replace(settings, protocol=protocol)).identity
        for protocol in (TEST_TUNED, REFIT, settings.protocol)
    }
    assert len(identities) == 3


def test_settings_that_were_stored_before_still_read(cache_folder):
    settings = tiny_trial(cache_folder)
    stored = settings.to_dict()
    del stored["stop_epoch"], stored["test_scores"], stored["protocol"]["name"]
    assert TrialSettings.from_dict(stored) == settings


def test_a_protocol_has_a_label_and_tells_whether_it_leaks():
    assert [TEST_TUNED.label, replace(TEST_TUNED, name="habit").label] == ["test_tuned", "habit"]
    kinds = ("fixed", "kfold", "random_splits", "repeated_kfold", "published", "test_tuned")
    settings = [ProtocolSettings(kind=kind) for kind in (*kinds, "refit")]
    assert [it.kind for it in settings if it.leaks] == ["test_tuned"]
    assert [it.kind for it in settings if not it.is_validated] == ["refit"]
