import json

import pytest

from tests.analysis.protocol_store import write_protocol_store
from tests.analysis.protocol_truth import ProtocolTruth
from tests.analysis.slow_protocols import SlowStudy
from tests.analysis.synthetic_protocols import study_frames
from tests.podium.calling import call

TRUTH = ProtocolTruth(losses=("contrastive", "triplet"), repeats=3, configs=4, seeds=1, classes=6)
SEED = 4


@pytest.fixture(scope="module")
def protocol_store(tmp_path_factory):
    return write_protocol_store(tmp_path_factory.mktemp("store") / "crossed", TRUTH, SEED)


@pytest.fixture(scope="module")
def slow():
    return SlowStudy(study_frames(TRUTH, SEED))


@pytest.fixture
def protocols(capsys):
    def run(*arguments, code=0):
        called = call(capsys, "protocols", *arguments)
        assert called.code == code, called.err
        return called.err if code else called.out

    return run


def test_json_from_parquet_equals_a_slow_computation(protocols, protocol_store, slow):
    record = json.loads(protocols(protocol_store, "--json"))
    means = {(row["protocol"], row["measure"]): row["mean"] for row in record["scale"]["means"]}
    finals = {(row["protocol"], row["measure"]): row["mean"] for row in record["finals"]}
    costs = {row["protocol"]: row for row in record["costs"]}
    for protocol in TRUTH.judges:
        assert means[protocol, "regret"] == pytest.approx(slow.regret(protocol, "test_tuned"))
        assert means[protocol, "tau"] == pytest.approx(slow.tau(protocol, "test_tuned"))
        expected = slow.final(protocol, "winner", "all")
        assert finals[protocol, "tuned_all"] == pytest.approx(expected)
        assert costs[protocol]["search_hours"] == pytest.approx(slow.hours(protocol, "search"))
    searches = record["scale"]["searches"]
    assert len(searches) == len(TRUTH.judges) * len(slow.cells())
    of_fixed = [row["regret"] for row in searches if row["protocol"] == "fixed"]
    assert sum(of_fixed) / len(of_fixed) == pytest.approx(slow.regret("fixed", "test_tuned"))
    readings = sum(row["readings"] for row in record["test_readings"])
    assert readings == sum(row["test_readings"] for row in slow.trials.values())
    assert record["reasons"] == {}


def test_the_text_leads_with_sentences_and_marks_what_leaks(protocols, protocol_store):
    out = protocols(protocol_store)
    printed = " ".join(out.split())
    assert "3 protocols, 1 setting, 2 losses, 3 repeats of each search" in printed
    assert "scored best on test: Recall@1" in printed
    assert "Test classes were scored" in printed
    assert printed.index("scored best on test") < printed.index("of finalists on test, in %")
    assert max(map(len, out.splitlines())) <= 99
    assert printed.count("test_tuned") == printed.count("test_tuned (leaks)")


def test_an_unknown_k_is_reported_with_those_there_are(protocols, protocol_store):
    assert "k must be one of 1; got 3" in protocols(protocol_store, "--k", "3", code=2)
