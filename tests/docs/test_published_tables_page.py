"""The pages of published tables name every study and table that ships, as they are."""

import json
import re
from pathlib import Path

import pytest

from podium.orchestrator.study_validation.load_study import load_study
from tests.docs.code_blocks import TEXTS
from tests.docs.test_pages import rows_of_table
from tests.podium.calling import output_of
from tests.podium.test_protocol_studies import LIKE_THESE, PICTURES, SMALLER

ROOT = Path(__file__).parents[2]
PAGE = "docs/reference/published-tables.md"
HOW_TO = "docs/how-to/reproduce-a-table.md"
# Without those of no table, which are planned where their pictures are.
STUDIES = sorted(it for it in (ROOT / "studies").glob("*.yaml") if it.stem not in PICTURES)
RUN_LOCALLY = {*SMALLER, *LIKE_THESE}
# The columns after the number of a table.
THESIS = rows_of_table(
    PAGE, "table | chapter | what it prints | printed values | study | on letters | state"
)
GRADML = rows_of_table(
    PAGE, "table | what it prints | printed values | study | on letters | state"
)
TO_RUN = rows_of_table(HOW_TO, "study | reproduces | trials | GPU-hours | on letters")


def files(text):
    return re.findall(r"`((?:studies|tests)/[\w./-]+)`", text)


@pytest.mark.parametrize("page", [PAGE, HOW_TO])
def test_every_file_that_it_names_exists(page):
    named = files(TEXTS[page])
    assert len(named) > 10
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_study_that_expects_printed_values_is_on_it():
    expecting = {f"studies/{study.name}" for study in STUDIES if load_study(study).expect}
    assert expecting - {*files(TEXTS[PAGE])} == set()
    # The thesis's grids with validation classes reproduce no table.
    grids = {f"studies/thesis-{name}.yaml" for name in ("cub", "cars", "sop")}
    assert {name for row in TO_RUN for name in files(row[0])} == expecting - grids


def test_every_shipped_table_is_on_it():
    shipped = {f"studies/{table.name}" for table in (ROOT / "studies").glob("*.csv")}
    assert shipped - {*files(TEXTS[PAGE])} == set()


@pytest.mark.parametrize("row", [*THESIS, *GRADML], ids=lambda row: f"table {row[0]}")
def test_a_state_is_one_of_those_explained_and_true(row):
    explained = re.findall(r"^- \*\*(.+)\*\*", TEXTS[PAGE], re.MULTILINE)
    assert row[-1].startswith(tuple(explained))
    letters = {Path(name).stem for name in files(row[-2])}
    assert ("run on letters" in row[-1]) == bool(letters)
    assert letters <= RUN_LOCALLY


def test_every_study_on_letters_is_run():
    letters = {study.stem for study in STUDIES if study.stem.endswith("-glyphs")}
    assert letters == RUN_LOCALLY


def test_every_table_of_the_thesis_has_its_row():
    tables = ", ".join(row[0] for row in THESIS if not row[0].startswith("figures"))
    assert sorted(map(int, tables.split(", "))) == [*range(1, 22)]
    assert [row[0] for row in GRADML] == [*map(str, range(1, 7)), "figures 2, 3"]


def numbers(text):
    return [float(number.replace(",", "")) for number in re.findall(r"\d[\d,.]*", text)]


@pytest.mark.parametrize("row", TO_RUN, ids=lambda row: row[0])
def test_trials_and_hours_are_those_of_the_plan(capsys, tmp_path, monkeypatch, row):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # hours by shipped figures
    (study,) = files(row[0])
    planned = json.loads(output_of(capsys, "plan", ROOT / study, "--storage", tmp_path, "--json"))
    assert numbers(row[2]) == [planned["trials"]]
    assert numbers(row[3]) == pytest.approx([planned["gpu_hours"]], rel=0.05)  # two digits
    assert planned["hours_sources"] == ["shipped"]


def test_the_walk_counts_what_its_studies_plan(capsys, tmp_path):
    counts = {
        "thesis-tables-cub": "255 trials",
        "thesis-tables-glyphs": "86 trials",
        "thesis-cub": "8,523 trials",
    }
    assert f"the hours: {TO_RUN[0][3]} GPU-hours" in TEXTS[HOW_TO]
    for name, text in counts.items():
        arguments = ("plan", ROOT / f"studies/{name}.yaml", "--storage", tmp_path, "--json")
        trials = json.loads(output_of(capsys, *arguments))["trials"]
        assert text == f"{trials:,} trials"
        assert text in TEXTS[HOW_TO]
