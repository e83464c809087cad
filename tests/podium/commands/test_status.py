"""How far each search is, on terminals of any width and for other programs."""

import csv
import io
import json

import pytest

from podium.trainables.registry import names
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth
from tests.podium.calling import output_of

LOSSES = names("losses")[:46]


def write(folder, scripts):
    of_losses = dict.fromkeys(LOSSES, 0.0)
    truth = Truth(
        scripts=scripts,
        embedding_dims=(512,),
        strengths=of_losses,
        tuning_gains=of_losses,
        search_trials=50,
    )
    return write_store(folder, truth, stages=())


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return write(tmp_path_factory.mktemp("store") / "many", ("greek", "latin"))


@pytest.mark.parametrize("width", [50, 80, 160])
def test_the_text_of_many_losses_fits(capsys, monkeypatch, store, width):
    monkeypatch.setenv("COLUMNS", str(width))
    said = output_of(capsys, "status", store).splitlines()
    assert [line for line in said if len(line) > width] == []
    header, *lines = said[said.index("") + 1 :]
    rows = lines[: 2 * len(LOSSES)]
    assert " ".join(said[: said.index("")]) == "planned: 0 of 5160 trials done"
    assert all(row.startswith(("glyphs-", "glyphs…")) for row in rows)
    assert header.split()[:2] == ["search", "done"]
    if width >= 80:
        assert [row.split()[1] for row in rows] == 2 * list(LOSSES)


def test_a_study_of_one_block_names_its_losses_alone(capsys, tmp_path):
    _, _, _, *lines = output_of(capsys, "status", write(tmp_path / "one", ("greek",))).splitlines()
    assert [line.split()[0] for line in lines[: len(LOSSES)]] == list(LOSSES)


def test_json_and_csv_have_every_count_and_the_id_of_a_search(capsys, store):
    found = json.loads(output_of(capsys, "status", store, "--json"))["progress"]["searches"]
    of_csv = list(csv.DictReader(io.StringIO(output_of(capsys, "status", store, "--csv"))))
    assert [{**row} for row in of_csv] == [
        {name: "" if it is None else str(it) for name, it in row.items()} for row in found
    ]
    assert found[0]["id"] == f"glyphs-greek.conv_small.512.{LOSSES[0]}.fixed.0"
    assert found[0]["name"] == f"glyphs-greek/conv_small/512 {LOSSES[0]}"
    assert {"running", "pruned", "failed", "best", "finals_done"} <= found[0].keys()
