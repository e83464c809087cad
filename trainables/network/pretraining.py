"""How pretrained networks pool, under which licence, and whether they have seen a data set."""

import csv
import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from podium.trainables.network.backbone_facts import TIMM
from podium.trainables.network.initial_weights import is_published
from podium.trainables.network.timm_facts import name_and_pooling, timm_facts
from podium.trainables.settings.trial_settings import RANDOM_WEIGHTS, BackboneSettings


def pretraining_note(backbone: BackboneSettings, datasets: Iterable[str]) -> str:
    """``pools by cls; weights: apache-2.0; images seen in pretraining: cub200 yes (SOURCE)``.

    Args:
        backbone: name and weights.
        datasets: names of data sets.
    """
    name, pooling = name_and_pooling(backbone.name)
    facts, is_random = timm_facts(backbone.name), backbone.weights == RANDOM_WEIGHTS
    parts = [f"pools by {pooling or facts.pooling}"] if facts else []
    if is_random:
        return "; ".join([*parts, "random weights"])
    parts += [f"weights: {facts.licence}"] if facts else []
    tag = name.partition(".")[2] if backbone.name.startswith(TIMM) else backbone.weights
    data = tag.lower() if is_published(backbone) else ""
    seen = (f"{dataset} {_saw(data, dataset)}" for dataset in sorted(set(datasets)))
    return "; ".join([*parts, f"images seen in pretraining: {', '.join(seen)}"])


def _saw(data: str, dataset: str) -> str:
    """Whether weights of what is named ``data`` saw a data set: yes, no or unknown; the source."""
    for row in _table():
        if row["dataset"] == dataset and re.search(row["weights"], data):
            return f"{row['saw']} ({row['source']})"
    return "unknown"


@cache
def _table() -> tuple[dict[str, str], ...]:
    with files(__package__).joinpath("pretraining.csv").open(encoding="utf-8") as table:
        return tuple(csv.DictReader(table))
