"""``podium tournament --each``: the same ranking within parts of the blocks."""

import csv
import json

import pytest

from tests.analysis import thesis_cub200
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth
from tests.podium.calling import call

TABLE = thesis_cub200.RECALLS
TRUTH = Truth(scripts=("greek", "latin"), embedding_dims=(16, 32), search_trials=3, seeds=2)


@pytest.fixture(scope="module")
def four_block_store(tmp_path_factory):
    return write_store(tmp_path_factory.mktemp("store") / "synthetic", TRUTH)


def test_a_table_is_ranked_within_each_backbone(capsys):
    out = call(capsys, "tournament", TABLE, "--where", "k=1", "--each", "backbone", "--json").out
    slices = json.loads(out)["slices"]
    assert [one["value"] for one in slices] == ["BNInception", "GoogLeNet", "ResNet50"]
    assert {one["blocks"] for one in slices} == {4}
    assert all(one["competitors"][0]["competitor"] == "ProxyAnchor" for one in slices)


def test_a_column_besides_the_blocks_can_define_subgroups(capsys):
    out = call(capsys, "tournament", TABLE, "--each", "k", "--json").out
    first, *others = json.loads(out)["slices"]
    totals = {row["competitor"]: row["total_rank"] for row in first["competitors"]}
    assert totals == thesis_cub200.TOTALS
    assert [one["value"] for one in others] == [2, 4, 8]


def test_rows_of_csv_name_part_and_competitor(capsys):
    out = call(
        *(capsys, "tournament", TABLE, "--where", "k=1", "--each", "backbone,embedding_dim"),
        "--csv",
    ).out
    rows = list(csv.DictReader(out.splitlines()))
    assert len(rows) == (3 + 4) * 10
    found = {(row["each"], row["value"], row["competitor"]): row for row in rows}
    assert found["backbone", "GoogLeNet", "SoftTriple"]["place"] == "5"
    assert found["embedding_dim", "64", "NPair"]["average_rank"] == "10.0"


def test_text_shows_average_rank_and_place_of_each_part(capsys):
    out = call(capsys, "tournament", TABLE, "--where", "k=1", "--each", "backbone").out
    assert "Average rank by recall and place within each backbone" in out
    line = next(line for line in out.splitlines() if line.startswith("SoftTriple"))
    assert line.split("  ")[-1] == "2.50 (2)"
    assert "4.50 (5)" in line
    assert "(blocks ranked)  4" in out


def test_a_study_is_ranked_under_every_k(four_block_store, capsys):
    slices = json.loads(call(capsys, "tournament", four_block_store, "--each", "k", "--json").out)[
        "slices"
    ]
    assert [one["value"] for one in slices] == [1, 2, 4, 8]
    assert {one["blocks"] for one in slices} == {4}
    assert slices[0]["competitors"][0]["competitor"] == "proxy_anchor"


def test_a_study_is_ranked_within_each_dimension(four_block_store, capsys):
    out = call(capsys, "tournament", four_block_store, "--each", "embedding_dim", "--json").out
    assert [(one["value"], one["blocks"]) for one in json.loads(out)["slices"]] == [
        (16, 2),
        (32, 2),
    ]


def test_incomplete_blocks_are_counted(tmp_path, capsys):
    truth = Truth(
        scripts=("greek", "latin"),
        embedding_dims=(16, 32),
        search_trials=3,
        seeds=2,
        failed_finals=(("glyphs-greek/conv_small/16", "contrastive"),),
    )
    folder = write_store(tmp_path / "s", truth)
    called = call(capsys, "tournament", folder, "--each", "embedding_dim", "--json")
    slices = json.loads(called.out)["slices"]
    assert [(one["blocks"], one["excluded"]) for one in slices] == [(1, 1), (2, 0)]
    text = call(capsys, "tournament", folder, "--each", "embedding_dim").out
    assert "(incomplete, left out)  1" in text


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (("--each", "colour"), "each of a study must be among k, dataset, backbone"),
        (("--each", "k", "--where", "k=1"), "leave where k=... out"),
        (("--each", "k,"), "each must be column names divided by commas"),
    ],
)
def test_what_cannot_part_a_study_is_refused(four_block_store, capsys, arguments, printed):
    called = call(capsys, "tournament", four_block_store, *arguments)
    assert called.code == 2
    assert printed in called.err


def test_an_unknown_column_of_a_table_is_refused(capsys):
    called = call(capsys, "tournament", TABLE, "--where", "k=1", "--each", "colour")
    assert "no column 'colour'" in called.err
