import hashlib
import subprocess
import sys
from dataclasses import replace

import pytest
import torch

from podium.trainables.dataset_interface.class_splits import make_split
from podium.trainables.dataset_interface.load_dataset import load_dataset
from podium.trainables.trial.run_trial import run_trial
from podium.trainables.trial.setup import set_up
from podium.trainables.trial_reports import EpochReport, TestReport, reports_to_json
from tests.soak import soak
from tests.trainables.tiny_trials import (
    assert_continues_after_any_report,
    tiny_trial,
    two_folds,
    untimed,
)


def test_another_seed_gives_other_numbers(cache_folder):
    settings = tiny_trial(cache_folder)
    assert untimed(run_trial(settings)) != untimed(run_trial(replace(settings, seed=4)))


@pytest.mark.parametrize("loss", ["multi_similarity", *soak("contrastive", "proxy_anchor")])
def test_a_loss_learns_letters_it_does_not_train_on(cache_folder, loss):
    options = {"classes": 160, "instances_per_class": 12}
    settings = tiny_trial(cache_folder, epochs=8, loss=loss, evaluate_test=False)
    settings = replace(
        settings,
        dataset=replace(settings.dataset, options=options),
        training=replace(settings.training, batch_size=64),
        embedding_dim=32,
    )
    (untrained,) = run_trial(
        replace(settings, loss="untrained", training=replace(settings.training, epochs=0))
    )
    *_, last = run_trial(settings)
    # 288 queries: one standard error is at most 3 points.
    assert last.recall(1) > untrained.recall(1) + 0.12


def test_a_trial_interrupted_after_any_report_continues_as_if_undisturbed(cache_folder):
    reports = assert_continues_after_any_report(two_folds(cache_folder, loss="proxy_anchor"))
    assert len(reports) == 6  # two folds of two epochs and a test


def test_a_trial_interrupted_after_every_report_ends_the_same(cache_folder):
    settings = two_folds(cache_folder, loss="multi_similarity")
    saved = []
    list(run_trial(settings, save=saved.append))
    state = None
    for number in range(6):
        again = []
        running = run_trial(settings, resume=state, save=again.append)
        for _ in range(number + 1):
            last = next(running)
        state = again[0]
    assert untimed([last]) == untimed(run_trial(settings))[-1:]
    # The last state of a finished trial holds its reports; none of its numbers may differ.
    assert untimed(run_trial(settings, resume=state)) == untimed(
        run_trial(settings, resume=saved[-1])
    )


def test_a_finished_trial_resumed_neither_trains_nor_saves(cache_folder):
    settings = two_folds(cache_folder)
    saved = []
    reports = list(run_trial(settings, save=saved.append))
    more = []
    assert list(run_trial(settings, resume=saved[-1], save=more.append)) == reports
    assert more == []


def test_threads_and_folders_are_no_part_of_a_trials_identity(cache_folder, tmp_path):
    settings = tiny_trial(cache_folder)
    moved = replace(settings, num_threads=2, cache_folder=str(tmp_path))
    assert set_up(settings).identity == set_up(moved).identity
    for other in ({"seed": 4}, {"hyperparameters": {"margin": 0.4}}):
        assert set_up(settings).identity != set_up(replace(settings, **other)).identity


def test_nothing_of_one_trial_reaches_another_in_the_same_process(cache_folder):
    """As in a fresh process: after another trial, after a failed one, and between its epochs."""
    settings = tiny_trial(cache_folder, loss="proxy_anchor")
    other = tiny_trial(cache_folder, loss="multi_similarity", embedding_dim=8)
    alone = _digest_in_fresh_process(settings)
    list(run_trial(replace(other, num_threads=2, training=replace(other.training, epochs=1))))
    assert _digest(run_trial(settings)) == alone
    with pytest.raises(ValueError, match="margin must be in"):
        next(run_trial(replace(settings, hyperparameters={"margin": 7.0})))
    interleaved, others = [], run_trial(replace(other, seed=9))
    for report in run_trial(settings):
        interleaved.append(report)
        next(others)
        torch.manual_seed(1)
    assert _digest(interleaved) == alone


def test_torch_is_left_as_it_was_found_after_every_report(cache_folder):
    torch.manual_seed(11)
    before = _torch_state()
    for _ in run_trial(two_folds(cache_folder, num_threads=1)):
        assert _torch_state() == before


def test_the_untrained_baseline_reports_epoch_0_alone(cache_folder):
    settings = tiny_trial(cache_folder, epochs=0, loss="untrained")
    epoch, test = run_trial(settings)
    assert isinstance(epoch, EpochReport)
    assert isinstance(test, TestReport)
    assert (epoch.epoch, test.epoch) == (0, 0)
    assert {score.role for score in epoch.scores} == {"val"}


def test_a_trial_of_the_search_is_never_tested(cache_folder):
    reports = list(run_trial(tiny_trial(cache_folder, evaluate_test=False)))
    assert [type(report) for report in reports] == [EpochReport, EpochReport]
    roles = {hits.role for report in reports for hits in report.class_hits}
    assert roles == {"val"}


def test_the_best_validation_epoch_is_tested_with_its_own_weights(cache_folder):
    settings = tiny_trial(cache_folder, epochs=6)
    *epochs, test = run_trial(settings)
    best = max(report.recall(1) for report in epochs)
    selected = next(report.epoch for report in epochs if report.recall(1) == best)
    assert test.epoch == selected
    # Epochs do not depend on how many are planned, so a trial that ends there tests those weights.
    assert selected < 6, "choose another seed: the last epoch shows nothing"
    shorter = replace(settings, training=replace(settings.training, epochs=selected))
    *_, test_of_shorter = run_trial(shorter)
    assert untimed([test]) == untimed([test_of_shorter])


def test_each_fold_validates_its_own_classes_and_tests_the_same_ones(cache_folder):
    settings = two_folds(cache_folder)
    dataset = load_dataset(settings.dataset, cache_folder)
    train_names = [dataset.class_names[class_id] for class_id in dataset.train_classes]
    for report in run_trial(settings):
        expected = dataset.test_classes
        if isinstance(report, EpochReport):
            val = make_split(train_names, settings.protocol, report.fold).val
            expected = tuple(dataset.class_names.index(name) for name in val)
        assert [hits.class_ids for hits in report.class_hits] == [expected] * len(settings.ks)


def test_per_class_hits_add_up_to_the_scores(cache_folder):
    settings = tiny_trial(cache_folder, ks=(1, 3))
    for report in run_trial(settings):
        scores = {score.k: score for score in report.scores if score.metric == "recall"}
        assert list(scores) == [1, 3]
        for hits in report.class_hits:
            assert sum(hits.hits) == scores[hits.k].hits
            assert sum(hits.queries) == scores[hits.k].queries == scores[hits.k].gallery


def test_training_is_reported_beside_validation(cache_folder):
    (report, *_) = run_trial(tiny_trial(cache_folder, loss="multi_similarity"))
    train = {score.metric: score.value for score in report.scores if score.role == "train"}
    assert train.keys() == {"loss", "active_fraction", "gradient_norm"}
    assert 0.0 < train["active_fraction"] <= 1.0
    assert train["gradient_norm"] > 0.0
    assert report.peak_memory_mb > 10.0
    assert 0.0 < report.seconds < 60.0


def _digest(reports):
    return hashlib.sha256(reports_to_json(untimed(reports)).encode()).hexdigest()


def _digest_in_fresh_process(settings):
    code = (
        "from tests.trainables.trial.test_run_trial import _digest\n"
        "from podium.trainables.settings.trial_settings import TrialSettings\n"
        "from podium.trainables.trial.run_trial import run_trial\n"
        f"print(_digest(run_trial(TrialSettings.from_dict({settings.to_dict()!r}))))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def _torch_state():
    return (
        torch.get_rng_state().tolist(),
        torch.get_num_threads(),
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
        torch.utils.deterministic.fill_uninitialized_memory,
        torch.backends.cudnn.benchmark,
        torch.is_grad_enabled(),
        torch.get_default_dtype(),
        torch.get_float32_matmul_precision(),
    )
