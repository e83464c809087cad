"""Head-only trials: their features, what they share, and that they train as whole networks do."""

import inspect
from dataclasses import replace

import numpy as np
import pytest
import torch

from podium.trainables.backbones.conv_small import ConvSmall
from podium.trainables.batches.labelled_images import images_of_classes
from podium.trainables.dataset_interface.load_dataset import load_dataset
from podium.trainables.network.make_backbone import make_backbone
from podium.trainables.registry import load, names
from podium.trainables.reproducibility import reproducible
from podium.trainables.settings.trial_settings import BackboneSettings, DatasetSettings
from podium.trainables.training_loop.evaluation import embed
from podium.trainables.trial.checkpoint import decode
from podium.trainables.trial.fold_run import FoldRun
from podium.trainables.trial.frozen_features import FrozenFeatures, source_files
from podium.trainables.trial.run_trial import run_trial
from podium.trainables.trial.setup import set_up
from podium.trainables.trial_reports import EpochReport
from tests.trainables.tiny_trials import (
    ON_THE_CPU,
    assert_continues_after_any_report,
    tiny_trial,
    two_folds,
    untimed,
)

CPU = torch.device("cpu")
LETTERS = DatasetSettings(name="glyphs", options={"classes": 40, "instances_per_class": 8})


def frozen_trial(cache_folder, of=tiny_trial, mode="frozen_features", **changes):
    training = changes.pop("training", {})
    settings = of(str(cache_folder), **{"dataset": LETTERS, **changes})
    return replace(settings, training=replace(settings.training, mode=mode, **training))


def feature_files(cache_folder):
    return {file.name for file in (cache_folder / "features").glob("glyphs-*.npy")}


@pytest.mark.parametrize("head_init", ["uniform", "kaiming"])
def test_the_head_starts_as_it_does_behind_the_backbone(tmp_path, head_init):
    setup = set_up(frozen_trial(tmp_path, training={"head_init": head_init}))
    frozen = FrozenFeatures(setup, ON_THE_CPU, seed=5)
    with reproducible(5, 1):
        whole = setup.make_embedder().embedding
    for _ in range(2):  # from the backbone, and from what is kept of it
        with reproducible(5, 1):
            head = frozen.make_embedder().embedding
        torch.testing.assert_close(head.state_dict(), whole.state_dict(), rtol=0, atol=0)


@pytest.mark.filterwarnings("ignore:the backbone never trains")
@pytest.mark.filterwarnings("ignore:training.batch_norm 'frozen' freezes statistics")
@pytest.mark.parametrize(
    ("loss", "head"),
    [
        ("contrastive", {}),
        ("proxy_anchor", {"layer_norm": True, "l2": True, "clip_value": 0.01}),
    ],
)
def test_a_trial_is_that_of_a_network_whose_backbone_rests(tmp_path, loss, head):
    frozen = frozen_trial(tmp_path, loss=loss, epochs=3, training=head)
    resting = {"warm_up_epochs": 3, "batch_norm": "frozen", "augmentation": "none"}
    whole = frozen_trial(
        tmp_path, mode="fine_tune", loss=loss, epochs=3, training={**head, **resting}
    )
    runs = [FoldRun(set_up(settings), 0, CPU) for settings in (frozen, whole)]
    for epoch in (1, 2, 3):
        one, other = (run.run_epoch(epoch) for run in runs)
        for score, expected in zip(one.scores, other.scores, strict=True):
            # Of 48 queries one may turn on the rounding.
            tolerance = 1 / 48 if score.metric == "recall" else 1e-4 * expected.value
            assert score.value == pytest.approx(expected.value, abs=tolerance)
    weights, of_whole = (run.state_dict()["embedder"] for run in runs)
    assert not torch.equal(weights["embedding.weight"], _start(frozen)["embedding.weight"])
    for name, value in weights.items():
        torch.testing.assert_close(value, of_whole[name], rtol=1e-3, atol=1e-5)


def _start(settings):
    return FoldRun(set_up(settings), 0, CPU).state_dict()["embedder"]


def test_nothing_of_the_backbone_is_in_a_checkpoint(tmp_path):
    settings = frozen_trial(tmp_path, loss="proxy_anchor")
    saved = []
    list(run_trial(settings, save=saved.append))
    _, state = decode(saved[0], set_up(settings).identity)
    head = {"embedding.weight", "embedding.bias"}
    assert set(state["embedder"]) == set(state["best_weights"]) == head


def test_the_model_that_is_kept_is_the_whole_network(tmp_path):
    settings = frozen_trial(tmp_path, loss="proxy_anchor")
    kept = []
    list(run_trial(settings, keep=kept.append))
    dataset = load_dataset(settings.dataset, settings.cache_folder)
    images = images_of_classes(dataset, dataset.test_classes, ON_THE_CPU)
    embeddings = embed(kept[0].model.make_embedder(), images)
    torch.testing.assert_close(embeddings, torch.from_numpy(kept[0].embeddings.embeddings_ND))


def test_the_second_trial_uses_what_the_first_one_computed(tmp_path, monkeypatch):
    first = untimed(run_trial(frozen_trial(tmp_path)))

    def untouchable(self, images_BCHW):
        raise AssertionError("the backbone must not be used again")

    monkeypatch.setattr(ConvSmall, "forward", untouchable)
    assert untimed(run_trial(frozen_trial(tmp_path))) == first
    list(run_trial(frozen_trial(tmp_path, loss="proxy_anchor", embedding_dim=5)))


def test_a_search_never_looks_at_a_test_image(tmp_path):
    list(run_trial(frozen_trial(tmp_path, evaluate_test=False)))
    (of_training,) = feature_files(tmp_path)
    assert len(np.load(tmp_path / "features" / of_training)) == 20 * 8
    list(run_trial(frozen_trial(tmp_path)))
    assert len(feature_files(tmp_path)) == 2


def num_files(cache_folder, *trials):
    for settings in trials:
        next(run_trial(replace(settings, evaluate_test=False)))
    return len(feature_files(cache_folder))


def test_what_the_backbone_does_not_see_computes_nothing_anew(tmp_path):
    training = {"batch_size": 16, "weight_decay": 0.01, "sampler": "random", "l2": True}
    # These have nothing to act on, and nobody is warned of what a recipe says.
    training |= {"augmentation": "random_resized_crop", "micro_batch_size": 8}
    training |= {"batch_norm": "frozen", "warm_up_epochs": 1}
    changes = {"loss": "multi_similarity", "embedding_dim": 3, "ks": (3,), "training": training}
    changes["hyperparameters"] = {"learning_rate": 0.1}
    assert num_files(tmp_path, frozen_trial(tmp_path), frozen_trial(tmp_path, **changes)) == 1


def test_what_changes_the_features_computes_them_anew(tmp_path):
    changes = (
        {"seed": 4},  # draws another network
        {"num_threads": 2},
        {"training": {"precision": "bf16"}},
        {"training": {"channels_last": False}},
        {"dataset": replace(LETTERS, options={**LETTERS.options, "seed": 1})},
    )
    trials = [frozen_trial(tmp_path), *(frozen_trial(tmp_path, **change) for change in changes)]
    assert num_files(tmp_path, *trials) == 6


def test_seeds_share_the_features_of_weights_that_come_from_a_file(tmp_path):
    files = []
    for seed in (0, 1):
        torch.manual_seed(seed)
        files.append(tmp_path / f"{seed}.pth")
        torch.save(ConvSmall().state_dict(), files[-1])
    one, other = (BackboneSettings(name="conv_small", weights=str(file)) for file in files)
    trials = [frozen_trial(tmp_path, backbone=one, seed=seed) for seed in (3, 4)]
    assert num_files(tmp_path, *trials) == 1
    assert num_files(tmp_path, frozen_trial(tmp_path, backbone=other)) == 2


def test_a_trial_interrupted_after_any_report_continues_as_if_undisturbed(cache_folder):
    settings = frozen_trial(cache_folder, of=two_folds, loss="proxy_anchor")
    assert len(assert_continues_after_any_report(settings)) == 6


def test_the_untrained_baseline_is_that_of_the_whole_network(tmp_path):
    changes = {"epochs": 0, "loss": "untrained"}
    frozen = list(run_trial(frozen_trial(tmp_path, **changes)))
    whole = list(run_trial(frozen_trial(tmp_path, mode="fine_tune", **changes)))
    assert isinstance(frozen[0], EpochReport)
    for one, other in zip(frozen, whole, strict=True):
        for score, expected in zip(one.scores, other.scores, strict=True):
            assert score.value == pytest.approx(expected.value, abs=0.02)
    assert frozen[1].retrievals[0].png == whole[1].retrievals[0].png


@pytest.mark.gpu
def test_a_gpu_trains_to_the_same_numbers_as_the_cpu_up_to_rounding(tmp_path):
    setup = set_up(frozen_trial(tmp_path, loss="proxy_anchor"))
    runs = [FoldRun(setup, 0, torch.device(device)) for device in ("cpu", "cuda", "cuda")]
    cpu, gpu, again = ([run.run_epoch(1), run.run_epoch(2)] for run in runs)
    assert untimed(gpu) == untimed(again)
    for one, other in zip(cpu, gpu, strict=True):
        assert other.scores[0].value == pytest.approx(one.scores[0].value, rel=0.02)
    assert len(feature_files(tmp_path)) == 2, "the order of additions is the device's own"


@pytest.mark.parametrize("name", names("backbones"))
def test_stored_features_are_distinguished_from_those_of_other_code(name):
    parts = [*load("backbones", name).__mro__, make_backbone]
    of_ours = {
        inspect.getfile(part) for part in parts if part.__module__.startswith("podium.trainables.")
    }
    assert len(of_ours) >= 3
    assert of_ours <= {str(file) for file in source_files()}


def test_an_edited_helper_of_an_own_backbone_computes_features_anew(tmp_path, monkeypatch):
    (tmp_path / "own_frozen_net.py").write_text(
        "from podium.trainables.backbones.conv_small import ConvSmall\nimport own_frozen_helper\n"
        "class Net(ConvSmall):\n    pass\n"
    )
    (tmp_path / "own_frozen_helper.py").write_text("SCALE = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    settings = frozen_trial(tmp_path, backbone=BackboneSettings(name="own_frozen_net:Net"))
    stored = []
    for scale in (1, 1, 2):
        (tmp_path / "own_frozen_helper.py").write_text(f"SCALE = {scale}\n")
        list(run_trial(settings))
        stored.append(len(feature_files(tmp_path)))
    assert stored[0] == stored[1] == stored[2] / 2
