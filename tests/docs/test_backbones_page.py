"""The table of networks says what the networks are."""

import pytest
import torch

from podium.trainables.network.backbone_facts import backbone_facts
from podium.trainables.network.make_backbone import make_backbone
from podium.trainables.registry import names
from podium.trainables.settings.trial_settings import BackboneSettings
from tests.docs.test_pages import rows_of_table
from tests.trainables.backbone_names import made

ROWS = {row[0].strip("`"): row[1:] for row in rows_of_table("docs/reference/backbones.md", "name")}


def test_every_network_is_in_the_table():
    assert set(ROWS) == set(names("backbones"))


@pytest.mark.parametrize("name", ROWS)
def test_facts_are_those_of_the_class(name):
    facts, (_, _, has_map, published, sides) = backbone_facts(name), ROWS[name]
    assert has_map == ("yes" if facts.has_map else "no")
    short = ", ".join(item.removeprefix("IMAGENET1K_") for item in facts.published_weights)
    assert published == (short or ("by file" if facts.weights_note else "none"))
    if facts.takes_features:
        assert sides == "vectors"
        return
    rules = []
    if facts.side_multiple > 1:
        slack = f" and up to {facts.side_slack} more" if facts.side_slack else ""
        rules.append(f"multiples of {facts.side_multiple}{slack}")
    if facts.min_side > facts.side_multiple:
        rules.append(f"at least {facts.min_side}")
    assert sides == (", ".join(rules) or "any")


@pytest.mark.parametrize("name", [made(name) for name in ROWS if name not in ("mlp", "identity")])
def test_sizes_are_those_of_the_network(name):
    with torch.device("meta"):  # its sizes need no memory
        backbone = make_backbone(BackboneSettings(name=name))
    features, parameters, *_ = ROWS[name]
    number = sum(weight.numel() for weight in backbone.parameters())
    assert int(features) == backbone.num_features
    unit, size = (1e6, "M") if number > 1e5 else (1e3, "k")
    digits = 1 if size == "M" else 0
    assert parameters == f"{number / unit:.{digits}f} {size}"
