"""The rankings on the page are those of `podium tournament` with the same --where and --score."""

import csv
import json
import shutil

import pytest

from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth
from tests.analysis.thesis_cub200 import RECALLS
from tests.podium.calling import call, output_of

STUDY = Truth(
    scripts=("greek", "latin"),
    embedding_dims=(16, 32),
    search_trials=3,
    seeds=2,
    has_without_k=True,
    failed_finals=(("glyphs-greek/conv_small/16", "contrastive"),),
)
SCORES = {"Recall@1": "recall@1", "Recall@4": "recall@4", "NMI": "nmi", "MAP@R": "map_at_r"}


def rankings_of(folder, capsys, *arguments):
    """(Data set, score) -> the rows of the table, as the page's CSV has them."""
    output_of(capsys, "report", *arguments, "--output", folder / "p.html", "--csv", folder / "csv")
    with (folder / "csv" / "rankings-table.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = {}
    for row in rows:
        found.setdefault((row["Data set"], row["Score"]), []).append(row)
    return found


def check(rows, record, mean, *, scale):
    assert [row["Competitor"] for row in rows] == [
        it["competitor"] for it in record["competitors"]
    ]
    for row, it in zip(rows, record["competitors"], strict=True):
        assert float(row["Rank"]) == it["place"]
        assert float(row["Average rank"]) == it["average_rank"]
        assert float(row["Wins"]) == it["wins"]
        assert float(row[mean]) == pytest.approx(scale * it["mean_score"], rel=1e-12)
        assert float(row["Blocks"]) == len(record["blocks"])


def test_every_data_set_and_score_of_a_study_is_ranked_as_the_command_ranks_it(tmp_path, capsys):
    store = write_store(tmp_path / "s", STUDY)
    found = rankings_of(tmp_path, capsys, store)
    datasets = {dataset for dataset, _ in found}
    assert datasets == {"all", "glyphs-greek", "glyphs-latin"}
    assert set(SCORES) <= {score for _, score in found}
    for (dataset, label), rows in found.items():
        if label not in SCORES or (dataset != "all" and label != "Recall@1"):
            continue
        where = () if dataset == "all" else ("--where", f"dataset={dataset}")
        called = call(capsys, "tournament", store, "--score", SCORES[label], *where, "--json")
        assert called.code == 0, called.err
        check(rows, json.loads(called.out), "Mean score, %", scale=100)


def test_every_k_of_a_table_is_ranked_and_that_of_the_page_comes_first(tmp_path, capsys):
    table = shutil.copy(RECALLS, tmp_path / "thesis.csv")
    found = rankings_of(tmp_path, capsys, table)
    assert next(iter(found)) == ("all", "recall, K = 1")
    for (_, label), rows in found.items():
        k = label.rpartition(" ")[2]
        record = json.loads(output_of(capsys, "tournament", table, "--where", f"k={k}", "--json"))
        check(rows, record, "Mean score", scale=1)
