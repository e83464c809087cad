"""Makes docs/reference/facts.md: tables that papers print of losses and networks, from the code itself."""

import torch
from torch.utils.flop_counter import FlopCounterMode

from docs.make.losses_page import loss_link
from docs.make.markdown import TOLD, table
from docs.make.step_costs import step_cost
from podium.trainables.registry import load, names

_BATCH_SIZE, _NUM_CLASSES = 64, 64
_SIDE = 224

# Orders of an epoch that Kim et al. 2020, Proxy Anchor Loss, print in their table 1.
_PRINTED = {
    "contrastive": "M^2",
    "contrastive_l2": "M^2",
    "lifted_song": "M^3",
    "n_pair": "M^3",
    "proxy_anchor": "M C",
    "proxy_nca": "M C",
    "soft_triple": "M C U^2",
    "triplet": "M^3 / B^2",
    "triplet_l2": "M^3 / B^2",
}

_OPENING = """\
# Losses and networks in figures

Papers print these tables from formulas; here they are measured from podium's own code.
"""
_COST_OPENING = f"""
## What a step costs

Numbers that one forward and backward pass computes, in millions: of a batch of {_BATCH_SIZE} images, four a class, 128
dimensions and {_NUM_CLASSES} training classes. The exponents say how that grows with the batch and with the number of
training classes: 2 means four times as much for twice as many. Seconds are in
[benchmarks/RESULTS.md](../../benchmarks/RESULTS.md).

As printed: the order of an epoch in Kim et al. 2020, *Proxy Anchor Loss*, table 1, of M training images, C classes,
U proxies a class and B batches, with the pairs and triplets of the whole training set. In podium a batch has a constant
size, so an epoch of a loss on pairs grows with M, and of a loss with proxies with M C.
"""
_NETWORKS_OPENING = f"""
## Networks

Features are what the embedding layer gets. Parameters and multiply-adds are those of the network without its embedding
layer, the latter of one image of {_SIDE} x {_SIDE} pixels. [Backbones](backbones.md) has weights and image sizes.
"""

_TIMM = """
## Networks of timm

What is known of 71 of them before a trial (parameters, features, multiply-adds, memory for training, image size, pooling, prefix
tokens, licence of the weights) is a table that ships: `trainables/network/timm_networks.csv`. `podium plan` prints the rows of a
study's networks.
"""


def facts_page() -> str:
    """The text of the page."""
    losses = names("losses")
    return "\n".join(
        [
            TOLD,
            _OPENING,
            _COST_OPENING,
            table(("loss", "million numbers", "batch", "classes", "as printed"), _costs(losses)),
            _NETWORKS_OPENING,
            table(
                ("network", "features", "million parameters", "billion multiply-adds"), _networks()
            ),
            _TIMM,
            "",
        ]
    )


def _costs(losses: tuple[str, ...]) -> list[tuple[str, ...]]:
    rows = []
    for name in losses:
        cost = step_cost(name, batch_size=_BATCH_SIZE, num_classes=_NUM_CLASSES)
        orders = (f"{order:.1f}" for order in (cost.batch_order, cost.class_order))
        rows.append(
            (
                loss_link(name, folder="losses/"),
                f"{cost.numbers / 1e6:.2g}",
                *orders,
                _PRINTED.get(name, ""),
            )
        )
    return rows


def _networks() -> list[tuple[str, ...]]:
    rows = []
    images_BCHW = torch.zeros(1, 3, _SIDE, _SIDE, dtype=torch.uint8, device="meta")
    for name in names("backbones"):
        kind = load("backbones", name)
        if kind.takes_features:
            continue
        with torch.device("meta"):
            network = kind().eval()
        with torch.no_grad(), FlopCounterMode(display=False) as counted:
            network(images_BCHW)
        num_parameters = sum(parameter.numel() for parameter in network.parameters())
        billions = counted.get_total_flops() / 2e9
        rows.append(
            (
                f"`{name}`",
                str(network.num_features),
                f"{num_parameters / 1e6:.2f}",
                f"{billions:.2f}",
            )
        )
    return rows
