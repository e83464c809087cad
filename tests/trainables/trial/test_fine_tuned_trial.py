"""A network of timm, fine-tuned as large ones are, from images to a model file that works."""

import numpy as np
import pytest
from PIL import Image

from podium.kept_files.embeddings_file import read_embeddings
from podium.trainables.dataset_interface.load_dataset import load_dataset
from podium.trainables.saved_models.model_file import read_model
from podium.trainables.saved_models.trained_model import TrainedModel
from podium.trainables.settings.training_settings import TrainingSettings
from podium.trainables.settings.trial_settings import BackboneSettings, DatasetSettings
from podium.trainables.trial.run_trial import run_trial
from tests.trainables.small_photographs import photograph
from tests.trainables.tiny_trials import assert_continues_after_any_report, tiny_trial


@pytest.mark.parametrize("lora_rank", [0, 2])
def test_it_resumes_and_the_stored_network_gives_the_stored_embeddings(tmp_path, lora_rank):
    for package in ("timm", "peft")[: 1 + bool(lora_rank)]:
        pytest.importorskip(package)
    root = tmp_path / "data"
    for label in range(16):
        (root / f"{label:02}").mkdir(parents=True)
        for number in range(3):
            picture = Image.fromarray(photograph(40, 50 + number, label))
            picture.save(root / f"{label:02}" / f"{number}.png")
    training = TrainingSettings(
        epochs=3,
        batch_size=8,
        samples_per_class=2,
        augmentation="random_crop",
        schedule="cosine",
        linear_warm_up_epochs=1,
        layer_decay=0.7,
        lora_rank=lora_rank,
        gradient_checkpointing=True,
    )
    settings = tiny_trial(
        str(tmp_path / "cache"),
        dataset=DatasetSettings(name="folder", options={"root": str(root)}),
        backbone=BackboneSettings(name="timm:test_vit"),
        image_size=32,
        training=training,
    )
    assert_continues_after_any_report(settings)
    kept = []
    list(run_trial(settings, keep=kept.append))
    (tmp_path / "m").write_bytes(kept[0].model.to_bytes())
    (tmp_path / "e").write_bytes(kept[0].embeddings.to_bytes())
    dataset = load_dataset(settings.dataset, settings.cache_folder)
    again_ND, _ = TrainedModel(read_model(tmp_path / "m")).embed_test(dataset)
    expected_ND = read_embeddings(tmp_path / "e").embeddings_ND
    assert np.array_equal(again_ND.cpu().numpy(), expected_ND)
