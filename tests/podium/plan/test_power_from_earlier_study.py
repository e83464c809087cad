"""``podium plan --like``: assumptions from an earlier study."""

import json
import re

import pytest

from podium.plan.statistical_power import like_note
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth
from tests.orchestrator.study_files import MINIMAL
from tests.podium.calling import call


@pytest.fixture(scope="module")
def earlier(tmp_path_factory):
    truth = Truth(scripts=("latin", "greek"), embedding_dims=(16,), seeds=3)
    return write_store(tmp_path_factory.mktemp("earlier") / "synthetic", truth)


@pytest.fixture
def minimal_file(tmp_path):
    file = tmp_path / "s.yaml"
    file.write_text(MINIMAL)
    return file


def json_plan(capsys, *arguments):
    return json.loads(call(capsys, "plan", *arguments, "--json").out)


def test_a_plan_assumes_what_an_earlier_study_measured(capsys, minimal_file, earlier):
    found = json_plan(capsys, minimal_file, "--like", earlier)
    assumed = found["power"]["assumptions"]

    assert found["measured"]["seed_std"] == pytest.approx(0.4, abs=0.2)
    assert {name: assumed[name] for name in found["measured"]} == found["measured"]


def test_what_is_given_goes_before_what_was_measured(capsys, minimal_file, earlier):
    found = json_plan(capsys, minimal_file, "--like", earlier, "--assume", "seed_std=3.5")

    assert found["power"]["assumptions"]["seed_std"] == 3.5
    assert found["measured"]["seed_std"] < 1


def test_the_output_says_what_was_measured_and_what_was_not(capsys, minimal_file, earlier):
    text = " ".join(
        call(capsys, "plan", minimal_file, "--like", earlier, "--assume", "spread=7").out.split()
    )

    assert f"Measured in {earlier}: " in text
    printed = text[text.index("Measured in") :]
    assert re.search(r"seed_std 0\.[345]\d*, block_std", printed)
    assert "or given by --assume: spread 7" in printed


def test_without_it_nothing_is_measured(capsys, minimal_file):
    assert json_plan(capsys, minimal_file)["measured"] is None
    assert "Measured in" not in call(capsys, "plan", minimal_file).out


def test_a_folder_without_results_is_refused(capsys, minimal_file, tmp_path):
    refused = call(capsys, "plan", minimal_file, "--like", tmp_path)

    assert refused.code != 0
    assert "is not a results folder" in refused.err
    assert "Traceback" not in refused.err


def test_a_study_that_measured_nothing_says_so(tmp_path):
    assert like_note(tmp_path, {}, {"spread": 2.0}) == (
        f"Measured in {tmp_path}: nothing. Not measured there, or given by --assume: spread 2."
    )


def test_a_file_is_no_results_folder(capsys, tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text("study: a\nlosses: [contrastive, triplet]\n")
    called = call(capsys, "plan", path, "--like", path)
    assert called.code == 2
    assert "study.yaml is not a results folder" in called.err


def test_the_note_fits_a_terminal_of_80_columns(capsys, minimal_file, earlier, monkeypatch):
    monkeypatch.chdir(earlier.parent)
    lines = call(capsys, "plan", minimal_file, "--like", earlier.name).out.splitlines()
    assert any(line.startswith("Measured in") for line in lines)
    assert max(map(len, lines)) <= 80
