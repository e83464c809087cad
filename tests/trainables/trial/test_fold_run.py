import pytest
import torch

from podium.trainables.errors import Collapsed, Diverged
from podium.trainables.trial.fold_run import FoldRun
from podium.trainables.trial.setup import set_up
from tests.trainables.tiny_trials import tiny_trial, untimed

CPU = torch.device("cpu")


def start(cache_folder, device=CPU, **changes):
    return FoldRun(set_up(tiny_trial(cache_folder, **changes)), 0, device)


def weights(run):
    return run.state_dict()["embedder"]


def test_all_losses_and_the_baseline_start_from_the_same_network(cache_folder):
    untrained = weights(start(cache_folder, loss="untrained", epochs=0))
    for loss in ("contrastive", "proxy_anchor"):
        torch.testing.assert_close(
            weights(start(cache_folder, loss=loss)), untrained, rtol=0, atol=0
        )
    other = weights(start(cache_folder, seed=4))
    assert not torch.equal(other["embedding.weight"], untrained["embedding.weight"])


def test_a_nan_weight_is_a_diverged_loss_at_the_first_step(cache_folder):
    run = start(cache_folder)
    weights(run)["embedding.weight"].fill_(torch.nan)
    with pytest.raises(
        Diverged, match=r"the loss is nan at step 1 of 3 \(fold 0, epoch 7\)"
    ) as at:
        run.run_epoch(7)
    assert (at.value.fold, at.value.epoch) == (0, 7)


@pytest.mark.parametrize("clip_value", [0.0, 10.0])  # clipped, an infinite number is finite
def test_a_gradient_that_overflows_is_reported_though_the_loss_is_finite(cache_folder, clip_value):
    run = start(cache_folder, hyperparameters={"clip_value": clip_value})
    # The product with the gradient of the normalisation overflows, the loss does not.
    state = weights(run)
    state["backbone.layers.7.weight"].fill_(1e30)
    state["embedding.weight"].mul_(1e-25)
    with pytest.raises(Diverged, match=r"the norm of the gradient is (inf|nan) at step 1 of 3"):
        run.run_epoch(1)


def test_embeddings_that_are_not_finite_have_no_recall(cache_folder):
    run = start(cache_folder, loss="untrained", epochs=0)
    weights(run)["embedding.bias"][0] = torch.inf
    with pytest.raises(Diverged, match="48 of 48 val embeddings are NaN or infinite"):
        run.run_epoch(0)


def test_embeddings_that_all_coincide_have_no_recall(cache_folder):
    run = start(cache_folder, loss="untrained", epochs=0)
    weights(run)["embedding.weight"].fill_(0.0)
    weights(run)["embedding.bias"].fill_(1.0)
    with pytest.raises(Collapsed, match=r"all 48 val embeddings coincide \(fold 0, epoch 0\)"):
        run.run_epoch(0)


def test_of_few_batches_of_batch_norm_the_failure_says_that_they_may_be_why(cache_folder):
    run = start(cache_folder)
    run.run_epoch(1)
    weights(run)["embedding.weight"].fill_(0.0)
    weights(run)["embedding.bias"].fill_(1.0)
    told = r"coincide; its BatchNorm has followed 3 batches, .* \(fold 0, epoch 1\)"
    with pytest.raises(Collapsed, match=told):
        run.validate(1)


def test_an_earlier_epoch_is_selected_among_equals(cache_folder):
    run = start(cache_folder)
    recalls = [run.validate(epoch)[0][0].value for epoch in (1, 2)]
    assert recalls[0] == recalls[1]
    assert run.test().epoch == 1


def test_queries_are_the_same_for_every_loss_and_seed(cache_folder):
    shown = []
    for changes in ({}, {"loss": "proxy_anchor", "seed": 8, "embedding_dim": 3}):
        run = start(cache_folder, **changes)
        run.run_epoch(1)
        shown.append([found.png for found in run.test().retrievals])
    assert shown[0] == shown[1]
    assert len(set(shown[0])) == 6


def test_retrieved_images_come_nearest_first_and_are_marked_by_their_class(cache_folder):
    run = start(cache_folder)
    run.run_epoch(1)
    test = run.test()
    assert len({found.class_name for found in test.retrievals}) == 6
    for found in test.retrievals:
        similarities = [neighbour.similarity for neighbour in found.neighbours]
        assert len(similarities) == 6
        assert similarities == sorted(similarities, reverse=True)
        assert all(neighbour.png != found.png for neighbour in found.neighbours)
        for neighbour in found.neighbours:
            assert neighbour.is_correct == (neighbour.class_name == found.class_name)


@pytest.mark.gpu
def test_a_gpu_trains_to_the_same_numbers_as_the_cpu_up_to_rounding(cache_folder):
    settings = {"loss": "proxy_anchor", "epochs": 2}
    on_cpu = start(cache_folder, **settings)
    on_gpu = start(cache_folder, torch.device("cuda"), **settings)
    again = start(cache_folder, torch.device("cuda"), **settings)
    cpu, gpu, repeated = ([run.run_epoch(1), run.run_epoch(2)] for run in (on_cpu, on_gpu, again))
    assert untimed(gpu) == untimed(repeated)
    for one, other in zip(cpu, gpu, strict=True):
        assert other.scores[0].value == pytest.approx(one.scores[0].value, rel=0.02)
        # A few of 48 queries may turn on the rounding of TF32.
        assert other.recall(1) == pytest.approx(one.recall(1), abs=5 / 48)
    assert gpu[0].peak_memory_mb > 1.0
