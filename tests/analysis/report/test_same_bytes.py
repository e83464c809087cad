"""The same results give the same bytes, in whatever files and order they lie."""

import json
import shutil

import pyarrow.parquet as pq
import pytest

from podium.analysis.page.html_page import render_page
from podium.analysis.page.table_files import csv_files, latex_files, page_record
from podium.analysis.report.report import study_report, table_report
from podium.analysis.study_results.study_results import read_results
from podium.analysis.tournament.table_tournament import rank_table
from podium.analysis.typed_tables.score_table import read_table
from podium.analysis.typed_tables.table_options import TableOptions
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.trial_files.gather_trials import gather_all
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth
from tests.analysis.thesis_cub200 import BY, RECALLS
from tests.orchestrator.results.store_rows import rewrite_gathered

SMALL = Truth(
    scripts=("cyrillic", "greek", "latin"), embedding_dims=(16,), search_trials=4, seeds=2
)


def files_of(page, results=None):
    ranked = results.tournament if results else None
    return {
        "page.html": render_page(page),
        "report.json": json.dumps(page_record(page, ranked)),
        **csv_files(page),
        **latex_files(page),
    }


def study_files(folder):
    results = read_results(folder)
    return files_of(study_report(results), results)


@pytest.fixture(scope="module")
def three_block_store(tmp_path_factory):
    return write_store(tmp_path_factory.mktemp("store") / "s", SMALL, is_over=False)


@pytest.fixture(scope="module")
def files(three_block_store):
    return study_files(three_block_store)


def copied(store, folder):
    """The same files, made in the opposite order."""
    for file in sorted(store.rglob("*"), reverse=True):
        if file.is_file():
            target = folder / file.relative_to(store)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
    return folder


def reverse_rows(folder):
    """Of the gathered files."""
    for file in list(StudyPaths(folder).trials.rglob("*.parquet")):
        table = pq.ParquetFile(file).read()
        rewrite_gathered(file, table.take(list(range(len(table) - 1, -1, -1))))


def test_files_made_in_another_order(three_block_store, files, tmp_path):
    assert study_files(copied(three_block_store, tmp_path / "s")) == files
    assert len(files) > 30


def test_gathered_and_then_with_its_rows_turned_round(three_block_store, files, tmp_path):
    folder = copied(three_block_store, tmp_path / "s")
    gather_all(StudyPaths(folder))
    reverse_rows(folder)
    assert study_files(folder) == files


def test_a_table_with_its_rows_turned_round(tmp_path):
    head, *rows = RECALLS.read_text().splitlines()
    shuffled = tmp_path / RECALLS.name
    shuffled.write_text("\n".join([head, *reversed(rows)]) + "\n")
    found = []
    for path in (RECALLS, shuffled):
        table = read_table(
            path, TableOptions(by=BY, competitor="loss", score="recall", where=["k=1"])
        )
        results = rank_table(table)
        found.append(files_of(table_report(results, title="t", source="s"), results))
    assert found[0] == found[1]
