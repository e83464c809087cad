"""The page on exports: its snippets run, and it names what is written."""

import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from analysis.scores.flat_tables import TABLES
from orchestrator.results.trial_files.reader import Reader
from orchestrator.results_tools.optuna_journal import append_searches
from tests.orchestrator.small_study import STUDY, run_here

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "export.md").read_text(encoding="utf-8")


@pytest.fixture
def snippets(tmp_path, monkeypatch):
    """What the names of all python blocks stand for, run in order beside a study `letters`."""
    run_here(replace(STUDY, name="letters"), tmp_path / "podium-results")
    append_searches(tmp_path / "podium-results" / "letters", tmp_path / "journal.log")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        exec(compile(block, "docs/how-to/export.md", "exec"), names)
    return names


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


def test_the_page_names_every_table():
    (told,) = re.findall(r"writes the tables of `Reader` .*?:\n(.*?)\. They", PAGE, re.DOTALL)
    assert re.findall(r"`(\w+)`", told) == list(TABLES)
