import csv
from pathlib import Path

import pytest

from orchestrator.study.loss_facts import facts_of
from search_spaces.catalogue import loss_names

DATA = Path(__file__).parents[1] / "data"

# Names the thesis uses, where ours differ.
OUR_NAMES = {
    ("MultiSimilarity", "scale_alpha"): "alpha",
    ("MultiSimilarity", "scale_beta"): "beta",
    ("ProxyAnchor", "scale_alpha"): "alpha",
    ("SoftTriple", "scale_alpha"): "scale",
    ("SoftTriple", "weights_lr"): "proxy_learning_rate",
}


def thesis_ranges():
    with (DATA / "loss_names.csv").open() as lines:
        ours = {row["thesis_name"]: row["name"] for row in csv.DictReader(lines)}
    with (DATA / "thesis_search_spaces.csv").open() as lines:
        for row in csv.DictReader(lines):
            if ours[row["loss"]] in loss_names():
                yield pytest.param(
                    ours[row["loss"]], row, id=f"{row['loss']}-{row['hyperparameter']}"
                )


@pytest.mark.parametrize(("loss", "row"), list(thesis_ranges()))
def test_thesis_spaces_and_defaults_are_those_of_the_thesis(loss, row):
    facts = facts_of(loss)
    name = OUR_NAMES.get((row["loss"], row["hyperparameter"]), row["hyperparameter"])
    tried = facts.spaces["thesis"].parameters[name]
    step = float(row["step"])
    low = float(row["low"]) + (0.0 if row["low_inclusive"] == "true" else step)
    assert (tried.low, tried.high, tried.step) == (low, float(row["high"]), step)
    published = {**facts.defaults, **facts.published_training}
    assert published[name] == float(row["published_default"])
