"""What a trainer gives to losses that need more than embeddings and labels."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.trainables.tiny_trials import tiny_trial, untimed
from trainables.class_text import write_class_text
from trainables.datasets.loading import load_dataset
from trainables.errors import TrialInputError
from trainables.fold_run import FoldRun
from trainables.trial import run_trial
from trainables.trial_setup import set_up

# One of each kind: a memory, a sequence, random triplets, several views, a foreign loss.
WITH_STATE = {
    "memory:contrastive": {"memory_size": 40, "memory_start_epoch": 1},
    "proxy_anchor>contrastive": {},
    "margin": {},
    "statistical": {},
    "contrastive+pytorch_metric_learning.losses:ProxyNCALoss": {},
}


@pytest.mark.parametrize("loss", WITH_STATE)
def test_a_trial_continues_as_if_undisturbed_whatever_its_loss_remembers(cache_folder, loss):
    settings = tiny_trial(cache_folder, epochs=3, loss=loss, hyperparameters=WITH_STATE[loss])
    undisturbed = untimed(run_trial(settings))
    assert all(report.scores for report in undisturbed)
    saved = []
    interrupted = run_trial(settings, save=saved.append)
    for _ in range(2):
        next(interrupted)
    del interrupted
    assert untimed(run_trial(settings, resume=saved[-1])) == undisturbed


def test_the_backbone_rests_while_the_head_warms_up(cache_folder):
    settings = tiny_trial(cache_folder, hyperparameters={"warm_up_epochs": 1})
    run = FoldRun(set_up(settings), 0, torch.device("cpu"))

    def weights():
        parameters = run.state_dict()["embedder"].items()
        return {name: value.clone() for name, value in parameters if "weight" in name}

    start = weights()
    run.train(1)
    warm = weights()
    run.train(2)
    moved = {name for name in start if not torch.equal(start[name], warm[name])}
    assert moved == {"embedding.weight"}
    assert all(not torch.equal(warm[name], value) for name, value in weights().items())


def test_class_text_reaches_the_loss_and_changes_what_is_learned(cache_folder, tmp_path):
    settings = tiny_trial(cache_folder, loss="contrastive+language_guidance")
    names = load_dataset(settings.dataset, cache_folder).train_class_names
    results = []
    for seed in (0, 1):
        vectors = np.random.default_rng(seed).normal(size=(len(names), 5)).astype(np.float32)
        file = tmp_path / f"{seed}.csv"
        write_class_text(file, dict(zip(names, vectors, strict=True)))
        options = {**settings.dataset.options, "class_text": str(file)}
        dataset = replace(settings.dataset, options=options)
        results.append(untimed(run_trial(replace(settings, dataset=dataset))))
    assert results[0] != results[1]
    with pytest.raises(TrialInputError, match="class_text"):
        list(run_trial(settings))
