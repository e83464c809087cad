"""`podium importance` as text, JSON and CSV."""

import json

import pytest

from tests.analysis.planted_searches import write_tuned_store
from tests.podium.calling import call


@pytest.fixture(scope="module")
def tuned_store(tmp_path_factory):
    return write_tuned_store(tmp_path_factory.mktemp("tuned"))


@pytest.fixture
def importance(capsys):
    def run(*arguments, code=0):
        called = call(capsys, "importance", *arguments)
        assert called.code == code, called.err
        return called.err if code else called.out

    return run


def test_text_names_what_matters_and_what_is_noise(tuned_store, importance):
    text = importance(tuned_store, "--loss", "contrastive")
    assert "proxy_anchor" not in text
    first = next(line for line in text.splitlines() if line.startswith("contrastive"))
    assert "margin" in first
    assert "above noise" in first
    assert "contrastive: margin matters most" in text
    assert "Warning: " in text
    assert "not corrected" in text


def test_json_has_searches_regions_and_test(tuned_store, importance):
    record = json.loads(importance(tuned_store, "--json"))
    assert {row["loss"] for row in record["importances"]} == {"contrastive", "proxy_anchor"}
    assert len(record["on_test"]) == len(record["importances"])
    margin = next(row for row in record["regions"] if row["hyperparameter"] == "margin")
    assert (margin["tried_low"], margin["tried_high"], margin["scale"]) == (0, 0.9, "linear")
    assert margin["warns_high"]
    rate = next(row for row in record["regions"] if row["hyperparameter"] == "learning_rate")
    assert rate["scale"] == "log"
    assert {row["num_configs"] for row in record["searches"]} <= {19, 20}


def test_what_does_not_exist_is_refused_with_what_does(tuned_store, importance):
    text = importance(tuned_store, "--loss", "triplet", code=2)
    assert "loss must be one of contrastive, proxy_anchor; got 'triplet'" in text
    assert "a protocol of this study is one of" in importance(
        tuned_store, "--protocol", "x", code=2
    )
