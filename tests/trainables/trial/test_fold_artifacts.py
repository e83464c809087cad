from dataclasses import replace

import numpy as np
import pytest
import torch

from podium.kept_files.embeddings_file import read_embeddings
from podium.trainables.dataset_interface.load_dataset import load_dataset
from podium.trainables.errors import TrialInputError
from podium.trainables.metrics.first_positive_rank import first_positive_ranks
from podium.trainables.metrics.recall_at_k import recall_scores
from podium.trainables.saved_models.model_file import ModelFile, Transform, read_model
from podium.trainables.saved_models.trained_model import TrainedModel
from podium.trainables.settings.trial_settings import BackboneSettings, DatasetSettings
from podium.trainables.trial.fold_artifacts import FoldArtifacts
from podium.trainables.trial.run_trial import run_trial
from podium.trainables.trial_reports import TestReport
from tests.soak import soak
from tests.trainables.tiny_trials import tiny_trial, two_folds, untimed


def kept_of(settings, **options):
    """Reports and what was kept, in order."""
    kept: list[FoldArtifacts] = []
    return list(run_trial(settings, keep=kept.append, **options)), kept


@pytest.fixture(scope="module")
def proxies(cache_folder):
    settings = tiny_trial(cache_folder, loss="proxy_anchor", epochs=3)
    reports, (kept,) = kept_of(settings)
    return settings, reports, kept


def written(artifacts, folder):
    """Both files, read again."""
    (folder / "m").write_bytes(artifacts.model.to_bytes())
    (folder / "e").write_bytes(artifacts.embeddings.to_bytes())
    return read_model(folder / "m"), read_embeddings(folder / "e")


def test_keeping_changes_no_number(cache_folder):
    settings = tiny_trial(cache_folder)
    assert untimed(kept_of(settings)[0]) == untimed(run_trial(settings))


def test_the_stored_network_gives_the_stored_embeddings_bit_for_bit(proxies, tmp_path):
    settings, _, kept = proxies
    model, embeddings = written(kept, tmp_path)
    dataset = load_dataset(settings.dataset, settings.cache_folder)
    again_ND, images = TrainedModel(model).embed_test(dataset)
    assert np.array_equal(again_ND.cpu().numpy(), embeddings.embeddings_ND)
    assert np.array_equal(images.labels_N.cpu().numpy(), embeddings.labels_N)
    assert np.isin(embeddings.labels_N, dataset.test_classes).all()
    assert np.array_equal(images.indices_N.numpy(), embeddings.indices_N)


def test_the_stored_embeddings_have_the_recall_that_was_reported(proxies, tmp_path):
    settings, reports, kept = proxies
    _, embeddings = written(kept, tmp_path)
    ranks = first_positive_ranks(
        torch.from_numpy(embeddings.embeddings_ND), torch.from_numpy(embeddings.labels_N)
    )
    reported = [score for score in reports[-1].scores if score.metric == "recall"]
    assert list(recall_scores(ranks, settings.ks, role="test")) == reported
    told = {(score["metric"], score["k"]): score["value"] for score in embeddings.scores}
    assert told["recall", 1] == reported[0].value


def test_the_model_says_what_it_is(proxies, tmp_path):
    settings, reports, kept = proxies
    model, _ = written(kept, tmp_path)
    dataset = load_dataset(settings.dataset, settings.cache_folder)
    assert model.transform == Transform(channels=1, height=32, width=32, evaluation_crop=None)
    assert model.settings.embedding_dim == settings.embedding_dim
    assert model.settings.cache_folder is None
    assert model.dataset["fingerprint"] == dataset.fingerprint
    assert model.dataset["test_hash"] == dataset.test_hash
    best = max(reports[:-1], key=lambda report: report.recall(1))
    assert model.epoch == best.epoch
    assert set(model.train_classes) <= set(dataset.train_class_names)
    assert model.test_classes == tuple(dataset.class_names[i] for i in dataset.test_classes)


def test_proxies_of_the_best_epoch_are_kept_in_the_order_of_the_classes(cache_folder):
    # So many steps on so few classes that a proxy ends nearest to the images of its own class.
    settings = tiny_trial(cache_folder, loss="softmax", epochs=15)
    _, (kept,) = kept_of(settings)
    (proxies_CD,) = kept.model.loss_parameters.values()
    dataset = load_dataset(settings.dataset, settings.cache_folder)
    assert len(kept.model.train_classes) == len(proxies_CD)
    embedder = kept.model.make_embedder()
    right = 0
    for row, name in enumerate(kept.model.train_classes):
        members = np.flatnonzero(dataset.labels == dataset.class_names.index(name))
        images = torch.from_numpy(dataset.pixels.images_NHW[members])[:, None]
        with torch.no_grad():
            centre_D = torch.nn.functional.normalize(embedder(images)).mean(0)
        cosines_C = torch.nn.functional.cosine_similarity(proxies_CD, centre_D[None])
        right += int(cosines_C.argmax()) == row
    assert right > 0.7 * len(proxies_CD)


def test_proxies_do_not_come_from_a_later_epoch(cache_folder):
    settings = tiny_trial(cache_folder, loss="proxy_anchor", epochs=6)
    _, (kept,) = kept_of(settings)
    best = kept.model.epoch
    assert best < 6
    shorter = tiny_trial(cache_folder, loss="proxy_anchor", epochs=best)
    _, (until_best,) = kept_of(shorter)
    assert torch.equal(
        kept.model.loss_parameters["proxies"], until_best.model.loss_parameters["proxies"]
    )


def test_every_fold_is_kept_once_and_before_its_state_is_saved(cache_folder):
    order = []
    reports = run_trial(
        two_folds(cache_folder, epochs=1),
        keep=lambda kept: order.append(("kept", kept.model.fold)),
        save=lambda state: order.append(("saved",)),
    )
    for report in reports:
        if isinstance(report, TestReport):
            order.append(("reported", report.fold))
    assert [event for event in order if event != ("saved",)] == [
        ("kept", 0),
        ("reported", 0),
        ("kept", 2),
        ("reported", 2),
    ]
    kept = order.index(("kept", 0))
    assert order[kept + 1 : kept + 3] == [("saved",), ("reported", 0)]


def test_a_trial_killed_between_keeping_and_saving_keeps_equal_bytes(cache_folder):
    settings = tiny_trial(cache_folder, loss="proxy_anchor")
    _, (undisturbed,) = kept_of(settings)

    class Killed(Exception):
        pass

    saved, kept = [], []

    def kill_at_the_test(state):
        if kept:
            raise Killed
        saved.append(state)

    with pytest.raises(Killed):
        list(run_trial(settings, save=kill_at_the_test, keep=kept.append))
    list(run_trial(settings, resume=saved[-1], keep=kept.append))
    assert len(kept) == 2
    for again in kept:
        assert again.model.to_bytes() == undisturbed.model.to_bytes()
        assert again.embeddings.to_bytes() == undisturbed.embeddings.to_bytes()


@pytest.mark.parametrize("name", ["bn_inception", *soak("googlenet", "resnet18")])
def test_networks_of_photographs_work_on_from_their_file(tmp_path, cache_folder, name):
    settings = tiny_trial(
        cache_folder,
        loss="untrained",
        epochs=0,
        backbone=BackboneSettings(name=name),
        dataset=DatasetSettings(name="glyphs", options={"classes": 12, "instances_per_class": 2}),
    )
    training = replace(settings.training, pooling="average+max", layer_norm=True, l2=True)
    _, (kept,) = kept_of(replace(settings, training=training))
    model, embeddings = written(kept, tmp_path)
    dataset = load_dataset(settings.dataset, settings.cache_folder)
    again_ND, _ = TrainedModel(model).embed_test(dataset)
    assert np.array_equal(again_ND.cpu().numpy(), embeddings.embeddings_ND)


def test_the_paths_of_files_stay_at_home(proxies, tmp_path):
    settings, _, kept = proxies
    options = {**settings.dataset.options, "root": "/home/somebody/cub"}
    dataset = DatasetSettings(name="glyphs", options=options)
    backbone = BackboneSettings(name="conv_small", weights="/home/somebody/my_weights.pth")
    moved = {
        **_values(kept.model),
        "settings": replace(settings, dataset=dataset, backbone=backbone),
    }
    content = ModelFile(**moved).to_bytes()
    assert b"somebody" not in content
    assert b"instances_per_class" in content
    assert b"my_weights.pth" in content


def test_weights_of_another_network_are_reported(proxies):
    _, _, kept = proxies
    weights = dict(kept.model.weights)
    del weights["embedding.weight"]
    model = ModelFile(**{**_values(kept.model), "weights": weights})
    with pytest.raises(TrialInputError, match=r"do not fit the backbone conv_small.*embedding"):
        model.make_embedder()


def test_another_data_set_is_reported(proxies):
    settings, _, kept = proxies
    other = DatasetSettings(name="glyphs", options={"classes": 12, "instances_per_class": 8})
    dataset = load_dataset(other, settings.cache_folder)
    with pytest.raises(TrialInputError, match="are not those this model was tested on"):
        TrainedModel(kept.model).embed_test(dataset)


def _values(model):
    return {name: getattr(model, name) for name in ModelFile.__dataclass_fields__}
