"""The section of groups of losses: by kind, as a study declares them or by option."""

import pytest

from podium.analysis.page.table_files import csv_files, tables_of
from podium.analysis.report.leaderboard import loss_groups
from podium.analysis.report.report import table_report
from podium.analysis.study_results.study_results import read_results
from podium.analysis.tournament.table_tournament import rank_table
from podium.errors import PodiumError
from tests.analysis import thesis_cub200
from tests.analysis.page_text import page_of, rows_of, text_of
from tests.analysis.synthetic_study import change_snapshot, write_store
from tests.analysis.synthetic_trials import SMALL

KINDS = {"contrastive": "pair", "multi_similarity": "pair", "proxy_anchor": "proxy"}


def store_with(folder, *, kinds=None, groups=None):
    provenance = {"loss_kinds": kinds} if kinds else {}
    return change_snapshot(write_store(folder, SMALL), provenance=provenance, groups=groups)


def test_recorded_kinds_are_compared(tmp_path):
    results = read_results(store_with(tmp_path / "s", kinds=KINDS))
    page = page_of(results, loss_groups)
    rows = rows_of(page, "loss-groups-table")
    assert [row[:2] for row in rows] == [
        ["classification and proxy losses", "1"],
        ["losses on embeddings", "2"],
    ]
    assert [row[2] for row in rows] == ["1.00", "2.50"]
    assert rows[1][6] == "multi_similarity"
    text = text_of(page)
    scores = results.tournament.scores_BC
    gap = (scores[:, 0] - scores[:, 1:].mean(axis=1)).mean()
    assert (
        "classification and proxy losses minus losses on embeddings:"
        f" +{gap:.2f} points of Recall@1 on average." in text
    )


def test_declared_groups_come_before_kinds_and_asked_ones_before_both(tmp_path):
    declared = {"near": ["multi_similarity"], "far": ["contrastive"]}
    folder = store_with(tmp_path / "s", kinds=KINDS, groups=declared)
    asked = {"x": ("proxy_anchor",), "y": ("contrastive", "multi_similarity")}
    for groups, names in ((None, {"near", "far"}), (asked, {"x", "y"})):
        results = read_results(folder, groups=groups)
        assert {group.name for group in results.loss_groups.groups} == names
    assert "In no group: proxy_anchor." in text_of(page_of(read_results(folder), loss_groups))
    with pytest.raises(PodiumError, match="the group x must hold competitors among"):
        read_results(folder, groups={"x": ("margin",), "y": ("contrastive",)})


def test_a_published_table_compares_groups_when_asked(tmp_path):
    groups = {
        "embedding": ("Contrastive", "Triplet", "MultiSimilarity"),
        "proxies": ("ProxyNCA", "ProxyAnchor", "SoftTriple"),
    }
    results = rank_table(thesis_cub200.score_table(), groups=groups)
    page = table_report(results, title="CUB", source="the thesis")
    lines = csv_files(page)["loss-groups-table.csv"].splitlines()
    assert [line.split(",")[0] for line in lines] == ["Group", "proxies", "embedding"]
    assert lines[1].split(",")[-2] == "ProxyAnchor"
    without = table_report(rank_table(thesis_cub200.score_table()), title="CUB", source="x")
    assert "loss-groups-table" not in {table.name for table in tables_of(without)}
