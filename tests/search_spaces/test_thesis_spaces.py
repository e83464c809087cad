import csv
import re
from pathlib import Path

import pytest

from podium.orchestrator.study.loss_facts import facts_of
from podium.trainables.registry import names

DATA = Path(__file__).parents[1] / "data"

# Names the thesis uses, where ours differ.
OUR_NAMES = {
    ("MultiSimilarity", "scale_alpha"): "alpha",
    ("MultiSimilarity", "scale_beta"): "beta",
    ("ProxyAnchor", "scale_alpha"): "alpha",
    ("SoftTriple", "scale_alpha"): "scale",
    ("SoftTriple", "weights_lr"): "proxy_learning_rate",
}


def rows_of(name):
    with (DATA / name).open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def our_names():
    return {row["thesis_name"]: row["name"] for row in rows_of("loss_names.csv")}


def thesis_ranges():
    ours = our_names()
    for row in rows_of("thesis_search_spaces.csv"):
        if ours[row["loss"]] in names("losses"):
            yield pytest.param(ours[row["loss"]], row, id=f"{row['loss']}-{row['hyperparameter']}")


@pytest.mark.parametrize(("loss", "row"), list(thesis_ranges()))
def test_thesis_spaces_and_defaults_are_those_of_the_thesis(loss, row):
    facts = facts_of(loss)
    name = OUR_NAMES.get((row["loss"], row["hyperparameter"]), row["hyperparameter"])
    tried = facts.spaces["psomas2020"].parameters[name]
    step = float(row["step"])
    low = float(row["low"]) + (0.0 if row["low_inclusive"] == "true" else step)
    assert (tried.low, tried.high, tried.step) == (low, float(row["high"]), step)
    trained = {name: item.value for name, item in facts.published_training.items()}
    assert {**facts.defaults, **trained}[name] == float(row["published_default"])


def values_of_table_4():
    """Loss -> the values that the thesis prints for it, in no order."""
    values = {}
    for row in rows_of("thesis_loss_defaults.csv"):
        values.setdefault(our_names()[row["loss"]], []).append(float(row["value"]))
    return values


@pytest.mark.parametrize("loss", names("losses"))
def test_what_is_said_to_be_of_table_4_is_printed_there(loss):
    facts = facts_of(loss)
    # The equation of its margin loss is on cosines, that of its authors on distances.
    in_table = "margin" if loss == "margin_cosine" else loss
    printed = values_of_table_4().get(in_table, [])
    for item in facts.parameters.values():
        if item.source.startswith("thesis table 4"):
            assert item.default in printed
        for other in re.findall(r"\(thesis table 4: (.*)\)", item.source):
            assert float(other) in printed
    for item in facts.published_training.values():
        assert ("table 4" in item.source) == (item.value in printed)


@pytest.mark.parametrize("loss", ["thesis_loss_1", "thesis_loss_2"])
def test_values_of_the_losses_of_the_thesis_itself_are_ours_for_it_prints_none(loss):
    facts = facts_of(loss)
    assert loss not in values_of_table_4()
    for name in ("alpha", "margin"):
        assert facts.parameters[name].source == "own: proxy_anchor's"
        assert facts.defaults[name] == facts_of("proxy_anchor").defaults[name]
    assert facts.source.startswith("Psomas 2020")
    assert "psomas2020" not in facts.spaces
