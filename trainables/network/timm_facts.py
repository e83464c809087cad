"""What is known of networks of timm before torch is loaded: a table that is shipped."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import get_type_hints

from podium.trainables.errors import did_you_mean
from podium.trainables.network.backbone_facts import TIMM, sides_problem

POOLINGS = ("cls", "patch_mean", "cls_and_mean", "map")
"""What ``timm:NAME/POOLING`` may say of a network that gives tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimmFacts:
    """One network, at its own image size; made by ``python -m docs.make.timm_networks``.

    Attributes:
        name: with the tag of its weights.
        million_parameters: without a classifier.
        features: number of them.
        side: height and width of the images that it was trained on, in pixels.
        multiple: other sides must be multiples of it; 0 where there are none.
        giga_multiply_adds: of one image.
        activation_mb: what training keeps of one image for the gradient, in float32 and with fused
            attention.
        pooling: how its authors pool tokens; ``average`` of a map.
        prefix_tokens: tokens that are of no patch: CLS and registers.
        licence: of the weights, as timm states it.
    """

    name: str
    million_parameters: float
    features: int
    side: int
    multiple: int
    giga_multiply_adds: float
    activation_mb: float
    pooling: str
    prefix_tokens: int
    licence: str

    def size_problem(self, name: str, image_size: int) -> str | None:
        """Why the network called ``name`` does not take square images of this side, or None."""
        if self.multiple:
            return sides_problem(name, (image_size, image_size), self.multiple, self.multiple)
        if image_size == self.side:
            return None
        taken, got = (f"{side} x {side}" for side in (self.side, image_size))
        return f"{name} takes images of {taken} only, but got {got}"


def authors_pooling(network: str, own: str) -> str:
    """How the authors of a network pool, where timm does otherwise (``own``).

    DINOv3's vision transformers: timm takes the mean of patches, the paper the CLS token.
    """
    return "cls" if "dinov3" in network and own == "patch_mean" else own


def name_and_pooling(backbone: str) -> tuple[str, str]:
    """``timm:NAME/POOLING`` as timm's name and the pooling, which is empty if none is named."""
    name, _, pooling = backbone.removeprefix(TIMM).partition("/")
    return name, pooling


def poolings(own: str, num_prefix_tokens: int) -> tuple[str, ...]:
    """How `TimmBackbone` can pool what a network gives; ``own`` is how others pool it."""
    if own == "average":
        return (own,)
    of_cls = ("cls", "cls_and_mean") if num_prefix_tokens else ()
    return tuple(dict.fromkeys((own, *of_cls, "patch_mean")))


def pooling_problem(backbone: str) -> str | None:
    """Why a network of timm cannot pool as its name says, as far as is known before it is made."""
    name, pooling = name_and_pooling(backbone)
    if not pooling:
        return None
    if pooling not in POOLINGS:
        near = did_you_mean(pooling, POOLINGS)
        return f"{backbone}: unknown pooling {pooling!r}{near}; known: {', '.join(POOLINGS)}"
    facts = timm_networks().get(name)
    known = POOLINGS if facts is None else poolings(facts.pooling, facts.prefix_tokens)
    if pooling in known:
        return None
    return f"{backbone} does not pool by {pooling}; known: {', '.join(known)}"


@cache
def timm_networks() -> dict[str, TimmFacts]:
    """Name -> what is known of it, of every network in the table."""
    hints = get_type_hints(TimmFacts)
    with files(__package__).joinpath("timm_networks.csv").open(encoding="utf-8") as table:
        rows = [
            TimmFacts(**{name: hints[name](text) for name, text in row.items()})
            for row in csv.DictReader(table)
        ]
    return {row.name: row for row in rows}


def timm_facts(backbone: str) -> TimmFacts | None:
    """What the table has of a backbone; None of others than timm's, and of those not in it."""
    if not backbone.startswith(TIMM):
        return None
    return timm_networks().get(name_and_pooling(backbone)[0])
