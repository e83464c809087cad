"""Losses put together: sums, memories, pre-trainings, and losses of another library."""

import copy

import pytest
import torch
from pytorch_metric_learning import losses as pml
from torch import nn

from podium.trainables.errors import TrialInputError
from podium.trainables.loss_composition.batch import Batch, References
from podium.trainables.loss_composition.make_criterion import hyperparameter_names, make_criterion
from podium.trainables.registry import load, names
from tests.trainables.losses.loss_cases import (
    BATCHES,
    DIM,
    embeddings,
    full_batch,
)

HERE = "tests.trainables.loss_composition.test_make_criterion"
X, LABELS, NUM_CLASSES = BATCHES["clustered"]
BATCH = Batch.of(X, LABELS)


class PairOfValues(nn.Module):
    def forward(self, x, labels):
        return x.sum(1)


class HasAWeight(nn.Module):
    def __init__(self, weight=1.0, memory_size=1.0):
        super().__init__()
        self.factor = weight * memory_size

    def forward(self, x, labels):
        return self.factor * x.square().mean()


class RefusesAnyhow(nn.Module):
    def __init__(self, scale=1.0):
        raise KeyError(scale)


class TakesNoLabels(nn.Module):
    def forward(self, x):
        return x.square().mean()


class NeedsAValue(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x, labels):
        return self.scale * x.square().mean()


def prepared(expression, **hyperparameters):
    criterion = make_criterion(expression, {**hyperparameters})
    criterion.prepare(NUM_CLASSES, DIM, torch.Generator().manual_seed(1))
    return criterion


def value(criterion, batch=BATCH):
    return criterion(batch).value


# Sums


def test_a_sum_weighs_its_terms_and_shares_their_needs():
    one, other = prepared("contrastive"), prepared("proxy_anchor")
    both = prepared("contrastive+proxy_anchor", **{"proxy_anchor.weight": 0.25})
    torch.testing.assert_close(value(both), value(one) + 0.25 * value(other))
    assert both.needs == one.needs | other.needs
    assert len(list(both.parameters())) == 1
    mean = (one(BATCH).active_fraction + other(BATCH).active_fraction) / 2
    torch.testing.assert_close(both(BATCH).active_fraction, mean)


def test_a_term_of_weight_zero_changes_nothing():
    both = prepared("contrastive+multi_similarity", **{"multi_similarity.weight": 0.0})
    assert torch.equal(value(both), value(prepared("contrastive")))


@pytest.mark.parametrize("base", ["multi_similarity", "triplet_l2", "proxy_anchor"])
def test_language_guidance_of_weight_zero_is_the_base(base):
    batch = full_batch(X, LABELS)
    guided = prepared(f"{base}+language_guidance", **{"language_guidance.weight": 0.0})
    assert torch.equal(value(guided, batch), value(prepared(base), batch))
    assert not torch.equal(
        value(prepared(f"{base}+language_guidance"), batch), value(guided, batch)
    )


def test_a_term_takes_its_own_hyperparameters():
    both = prepared("contrastive+multi_similarity", **{"contrastive.margin": 0.1})
    expected = value(prepared("contrastive", margin=0.1)) + value(prepared("multi_similarity"))
    torch.testing.assert_close(value(both), expected)


def test_a_real_hyperparameter_may_be_written_as_a_whole_number():
    whole = prepared("probability_driven", initial_scale=3, initial_offset=-2)
    real = prepared("probability_driven", initial_scale=3.0, initial_offset=-2.0)
    assert torch.equal(value(whole), value(real))


# Memories


def filled(memory, batches):
    for batch in batches:
        memory(batch)
    return memory


def test_a_memory_adds_the_loss_against_the_last_samples_of_earlier_batches():
    earlier = [Batch.of(embeddings(24, seed=seed), LABELS) for seed in (1, 2)]
    memory = prepared("memory:contrastive", memory_size=30, memory_weight=0.5)
    filled(memory, earlier)
    memory.start_epoch(2)
    x = torch.cat([batch.embeddings_BD for batch in earlier])[-30:]
    labels = torch.cat([LABELS, LABELS])[-30:]
    references = References(x, nn.functional.normalize(x), labels)
    alone = prepared("contrastive")
    against = alone(BATCH._replace(references=references)).value
    torch.testing.assert_close(value(memory), value(alone) + 0.5 * against)


def test_before_its_start_epoch_a_memory_fills_but_does_not_count():
    memory = filled(prepared("memory:contrastive"), [BATCH])
    memory.start_epoch(1)
    assert torch.equal(value(memory), value(prepared("contrastive")))
    memory.start_epoch(2)
    assert not torch.equal(value(memory), value(prepared("contrastive")))


def test_an_empty_memory_changes_nothing_and_gives_a_finite_gradient():
    memory = prepared("memory:multi_similarity", memory_start_epoch=1)
    x = X.clone().requires_grad_()
    output = memory(Batch.of(x, LABELS))
    assert torch.equal(output.value, value(prepared("multi_similarity")))
    assert torch.autograd.grad(output.value, x)[0].isfinite().all()


@pytest.mark.parametrize(
    "name", [name for name in names("losses") if load("losses", name).takes_references]
)
def test_every_loss_with_references_trains_with_a_memory(name):
    memory = filled(prepared(f"memory:{name}", memory_start_epoch=1), [BATCH])
    x = X.flip(0).clone().requires_grad_()
    memory(Batch.of(x, LABELS)).value.backward()
    assert x.grad.isfinite().all()
    assert x.grad.any()


def test_no_gradient_reaches_the_memory_and_it_is_saved_with_the_state():
    memory = filled(prepared("memory:contrastive", memory_start_epoch=1), [BATCH])
    assert not memory.embeddings_MD.requires_grad
    other = prepared("memory:contrastive", memory_start_epoch=1)
    other.load_state_dict(copy.deepcopy(memory.state_dict()))
    later = Batch.of(embeddings(24, seed=9), LABELS)
    assert torch.equal(value(other, later), value(memory, later))


def test_a_batch_larger_than_the_memory_leaves_its_end():
    memory = filled(prepared("memory:contrastive", memory_size=5), [BATCH])
    assert torch.equal(memory.embeddings_MD.sort(0).values, X[-5:].sort(0).values)


def test_a_loss_that_compares_within_a_batch_only_has_no_memory():
    with pytest.raises(TrialInputError, match="ProxyAnchor compares within a batch only"):
        make_criterion("memory:proxy_anchor", {})
    with pytest.raises(TrialInputError, match="only a loss of podium can have a memory"):
        make_criterion(f"memory:{HERE}:PairOfValues", {})


# Pre-training


def test_a_pretraining_is_trained_alone_for_its_epochs():
    criterion = prepared("proxy_anchor>contrastive", pretraining_epochs=2)
    parts = prepared("proxy_anchor"), prepared("contrastive")
    for epoch, part in ((1, 0), (2, 0), (3, 1)):
        criterion.start_epoch(epoch)
        assert torch.equal(value(criterion), value(parts[part]))


def test_a_pretraining_that_stays_in_the_sum_keeps_its_proxies():
    criterion = prepared("proxy_anchor>contrastive+proxy_anchor")
    assert len(list(criterion.parameters())) == 1
    assert "contrastive.margin" in hyperparameter_names("proxy_anchor>contrastive+proxy_anchor")


# Losses of another library


def test_a_loss_of_another_library_gives_its_own_value():
    ours = prepared("pytorch_metric_learning.losses:CircleLoss", gamma=64)
    torch.testing.assert_close(value(ours), pml.CircleLoss(gamma=64)(X, LABELS))
    assert ours(BATCH).active_fraction == 1.0


def test_its_constructor_gets_the_classes_and_the_dimension_it_asks_for():
    criterion = prepared("pytorch_metric_learning.losses:ProxyAnchorLoss", margin=0.2)
    assert criterion.needs == {"proxies"}
    (proxies,) = criterion.parameters()
    assert proxies.shape == (NUM_CLASSES, DIM)
    again = prepared("pytorch_metric_learning.losses:ProxyAnchorLoss", margin=0.2)
    assert torch.equal(proxies, next(again.parameters()))
    assert hyperparameter_names("pytorch_metric_learning.losses:ProxyAnchorLoss") == (
        "margin",
        "alpha",
    )


def test_its_own_arguments_are_not_taken_for_those_of_a_sum_or_a_memory():
    criterion = prepared(f"{HERE}:HasAWeight", weight=3.0, memory_size=2.0)
    torch.testing.assert_close(value(criterion), 6.0 * X.square().mean())
    both = prepared(f"{HERE}:HasAWeight+nca", **{"HasAWeight.weight": 3.0, "nca.weight": 0.0})
    torch.testing.assert_close(value(both), 3.0 * X.square().mean())


@pytest.mark.parametrize("what", ["empty positives", "one class"])
def test_where_a_foreign_loss_is_zero_nothing_is_active(what):
    labels = torch.arange(24) if what == "empty positives" else torch.zeros(24, dtype=torch.int64)
    criterion = prepared("pytorch_metric_learning.losses:TripletMarginLoss")
    output = criterion(Batch.of(X, labels))
    assert output.value == output.active_fraction == 0.0


@pytest.mark.parametrize(
    ("expression", "hyperparameters", "rule"),
    [
        ("no_such_package:Loss", {}, "cannot import no_such_package"),
        ("pytorch_metric_learning.losses:CircelLoss", {}, "unknown loss .*did you mean 'CircleL"),
        ("pathlib:Path", {}, "pathlib:Path must be a subclass of torch.nn.Module"),
        (f"{HERE}:RefusesAnyhow", {"scale": 3.5}, r"RefusesAnyhow: KeyError: 3\.5"),
        (f"{HERE}:TakesNoLabels", {}, r"called as loss\(embeddings, labels\): too many"),
        ("contrastive", {"margin": 10**400}, r"margin must be in \[-1, 1\]"),
        (f"{HERE}:NeedsAValue", {}, "NeedsAValue: .*missing 1 required .*'scale'"),
        ("contrastive+proxy_anchor", {"proxy_anchor.weight": -1}, r"weight must be in \[0, 1e"),
        ("memory:contrastive", {"memory_size": 0}, "memory_size must be a whole number in"),
        (
            "proxy_anchor>contrastive",
            {"pretraining_epochs": 1.5},
            "pretraining_epochs must be",
        ),
        ("contrastive", {"margin": 3.0}, "loss contrastive: margin must be in"),
    ],
)
def test_what_cannot_be_made_is_refused_with_its_rule(expression, hyperparameters, rule):
    with pytest.raises(TrialInputError, match=rule):
        prepared(expression, **hyperparameters)


class Returns(torch.nn.Module):
    """Gives what its argument says."""

    def __init__(self, what="tensor"):
        super().__init__()
        self.what = what

    def forward(self, embeddings, labels):
        total = embeddings.sum()
        return {
            "tensor": total,
            "one element": total[None],
            "vector": embeddings[:, 0],
            "zero": 0.0,
            "constant": torch.tensor(0.0),
            "integer": torch.tensor(3),
            "detached": embeddings.detach().sum(),
            "dict": {"loss": total},
            "tuple": (total, {}),
            "in place": embeddings.mul_(2).sum(),
        }[self.what]


@pytest.mark.parametrize(
    ("what", "got"),
    [
        ("vector", r"one number for a batch, a tensor; got shape \(24,\)$"),
        ("zero", r"one number for a batch, a tensor; got 0\.0$"),
        ("dict", "one number for a batch, a tensor; got {'loss'"),
        ("tuple", r"one number for a batch, a tensor; got \(tensor"),
        ("constant", r"got 0, which has no gradient\. .*return embeddings.sum\(\) \* 0$"),
        ("integer", "got 3, which has no gradient"),
        ("detached", "which has no gradient"),
    ],
)
def test_a_foreign_loss_is_told_what_to_return(what, got):
    with pytest.raises(TrialInputError, match=f"^Returns must give .*{got}"):
        value(prepared(f"{HERE}:Returns", what=what), Batch.of(X.clone().requires_grad_(), LABELS))


@pytest.mark.parametrize("what", ["tensor", "one element", "in place"])
def test_what_a_foreign_loss_returns_has_one_shape_and_a_gradient(what):
    embeddings_BD = X.clone().requires_grad_()
    found = value(prepared(f"{HERE}:Returns", what=what), Batch.of(embeddings_BD, LABELS))
    found.backward()
    assert found.shape == ()
    assert embeddings_BD.grad is not None
    assert torch.equal(embeddings_BD.detach(), X)


def test_a_foreign_loss_is_not_asked_for_a_gradient_where_there_is_none():
    assert value(prepared(f"{HERE}:Returns", what="constant")) == 0
