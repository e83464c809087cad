"""The page on exports: its snippets run, and it names what is written."""

import re
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

from podium.analysis.scores.flat_tables import TABLES
from podium.orchestrator.results.trial_files.reader import Reader
from tests.docs.code_blocks import TEXTS, run_python

PAGE = TEXTS["docs/how-to/export.md"]


@pytest.fixture
def snippets(in_prepared):
    """What the names of all python blocks stand for, run beside a study `letters`."""
    return run_python("docs/how-to/export.md")


def test_the_snippets_give_frames_of_optuna_pandas_and_arrow(snippets):
    reader = Reader(Path("podium-results/letters"))
    trials = reader.trials().collect()
    assert isinstance(snippets["trials"], pd.DataFrame)
    assert snippets["trials"]["trial_id"].to_list() == trials["trial_id"].to_list()
    assert isinstance(snippets["scores"], pa.Table)
    assert pl.DataFrame(snippets["scores"]).equals(reader.test_scores().collect())
    assert len(snippets["names"]) == 4
    in_search = trials.filter(
        pl.col("stage") == "search", pl.format("letters/{}", "search") == snippets["names"][0]
    )
    frame = snippets["search"].trials_dataframe()
    assert sorted(frame["user_attrs_trial_id"]) == sorted(in_search["trial_id"])


def test_duckdb_finds_in_the_folder_what_polars_does(snippets):
    pytest.importorskip("duckdb", reason="duckdb is not installed")
    reader = Reader(Path("podium-results/letters"))
    searched = reader.trials().filter(stage="search")
    best = searched.group_by("loss").agg(pl.len(), pl.col("objective").max().round(4))
    assert snippets["best"].fetchall() == best.sort("loss").collect().rows()
    of_epoch = reader.scores().filter(role="val", metric="recall", k=1).group_by("loss", "epoch")
    expected = of_epoch.agg(recall_at_1=pl.col("value").mean()).sort("loss", "epoch").collect()
    assert_frame_equal(snippets["recall_by_epoch"], expected)


def test_the_page_names_every_table():
    (told,) = re.findall(r"writes the tables of `Reader` .*?:\n(.*?)\. They", PAGE, re.DOTALL)
    assert re.findall(r"`(\w+)`", told) == list(TABLES)
