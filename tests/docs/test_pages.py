"""The pages say what the code says, and lead nowhere that is not there."""

import re
import tomllib
from dataclasses import asdict, fields
from pathlib import Path

import pytest
import yaml

from docs.generate import made_pages
from podium.analysis.tournament.standings_record import tournament_record
from podium.analysis.tournament.tournament import hold_tournament
from podium.analysis.typed_tables.score_table import read_table
from podium.analysis.typed_tables.table_options import TableOptions
from podium.orchestrator.results.records.metric_columns import known_test_columns
from podium.orchestrator.study.resolved_study import resolved_dict
from podium.orchestrator.study_validation.load_study import load_study
from podium.trainables.datasets._glyph_alphabets import ALPHABETS
from podium.trainables.datasets.glyphs import _Options
from podium.trainables.recipes import training_for
from tests.docs.code_blocks import DOCS, ROOT, TEXTS

STATISTICS = "docs/explanation/statistics"
EXAMPLES = {"NAME", "foo", "snr_contrastive"}  # files that a reader is to make

every_page = pytest.mark.parametrize("page", TEXTS)


def anchors(text):
    """The names GitHub gives to headings."""
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def rows_of_table(page, head):
    """The rows of the table that begins with ``head``, cell by cell."""
    lines = TEXTS[page].split(f"| {head} |", 1)[1].splitlines()[2:]
    table = lines[: next((i for i, line in enumerate(lines) if not line.startswith("|")), None)]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table]


def test_pages_made_from_the_code_are_current():
    for name, text in made_pages().items():
        written = (DOCS / name).read_text(encoding="utf-8")
        assert written == text, f"python -m docs.generate: {name}"


@every_page
def test_links_lead_somewhere(page):
    folder = (ROOT / page).parent
    for target in re.findall(r"\]\(([^)\s]+)\)", TEXTS[page]):
        if target.startswith(("https://", "http://")):
            continue
        path, _, anchor = target.partition("#")
        file = folder / path if path else ROOT / page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file.read_text(encoding="utf-8")), target


def test_badges_say_what_the_project_and_its_checks_say():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    checks = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8"))
    badges = dict(re.findall(r"img.shields.io/badge/(\w+)-(.+)-blue", TEXTS["README.md"]))
    assert badges == {
        "python": "_|_".join(checks["jobs"]["tests"]["strategy"]["matrix"]["python"]),
        "licence": project["project"]["license"],
        "types": "mypy_strict" if project["tool"]["mypy"]["strict"] else None,
        "style": "ruff" if "ruff" in project["tool"] else None,
    }


@every_page
def test_files_and_tests_that_are_named_exist(page):
    known = (
        r"(?:tests|orchestrator|trainables|search_spaces|analysis|podium|docs|studies|benchmarks)"
    )
    for name in re.findall(rf"`({known}/[\w./]+)`", TEXTS[page]):
        assert Path(name).stem in EXAMPLES or (ROOT / name).exists(), name
    for name in re.findall(r"`(test(?:_[a-z0-9]+){3,})`", TEXTS[page]):
        assert name in TESTS or known_test_columns([name]), name
    for name in re.findall(r"`python -m ([\w.]+)", TEXTS[page]):
        assert (ROOT / f"{name.replace('.', '/')}.py").exists(), name


TESTS = {
    name
    for file in (ROOT / "tests").rglob("test_*.py")
    for name in re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
}


def flat(values, prefix=""):
    """Dotted key -> value; the lists of a study are values."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def test_the_page_of_the_study_file_has_every_key_with_its_default(tmp_path):
    file = tmp_path / "s.yaml"
    file.write_text("study: x\nlosses: [contrastive]\n", encoding="utf-8")
    resolved = resolved_dict(load_study(file))
    (protocol,) = resolved.pop("protocols")
    expected = dict(flat({**resolved, "protocol": protocol}))
    expected["study"], expected["metrics.k"] = expected.pop("name"), expected.pop("ks")
    del expected["protocol.val_classes"]  # what is read in the classes_file
    expected["datasets"] = [{"name": item["name"]} for item in expected["datasets"]]
    expected["search.early_stopping"] = expected["search.early_stopping.kind"]
    expected["search.population"] = False  # off
    expected["log"] = []
    expected["declared_differences"] = {}
    training = asdict(training_for("fast", dataset="glyphs", backbone="conv_small"))
    expected |= {f"training.{name}": value for name, value in training.items()}
    documented = {
        key.strip("`"): default
        for key, default, _ in rows_of_table("docs/reference/study-file.md", "key")
    }
    assert documented.keys() == expected.keys()
    for key in expected.keys() - {"study", "losses"}:
        assert yaml.safe_load(documented[key].strip("`")) == expected[key], key
    assert documented["study"] == documented["losses"] == "must be given"


def test_the_page_of_data_sets_has_every_option_and_script_of_glyphs():
    page = "docs/reference/data-sets.md"
    options = {row[0].strip("`") for row in rows_of_table(page, "option")}
    assert options == {field.name for field in fields(_Options)}
    scripts = {name.strip("`"): int(n) for name, n in rows_of_table(page, "script")}
    assert scripts == {name: len(characters) for name, characters in ALPHABETS.items()}


def test_the_page_of_statistics_names_what_a_tournament_prints():
    by = ("dataset", "backbone", "embedding_dim")
    table = read_table(
        ROOT / "studies" / "thesis_cub200.csv",
        TableOptions(by=by, competitor="loss", score="recall", where=["k=1"]),
    )
    held = hold_tournament(table.cells, by=by, competitor="loss", score="recall")
    record = tournament_record(held)
    pages = [text for page, text in TEXTS.items() if page.startswith(STATISTICS)]
    documented = set(re.findall(r"`([a-z_]+)`", "\n".join(pages)))
    inputs = {"by", "blocks", "competitors", "pairs", "excluded", "alpha"}
    standing = record["competitors"][0].keys() - {"competitor", "blocks"}
    assert (record.keys() - inputs) | standing <= documented
    rows = rows_of_table(f"{STATISTICS}/leaderboard.md", "number")
    named = {name for row in rows for name in re.findall(r"`([a-z_.]+)`", row[0])}
    printed = {*record, *standing, *record["classic"], *record["pairs"][0]}
    assert named <= printed


def test_a_newcomer_meets_at_most_twelve_words_of_podium():
    """On the way through the README and the first tutorial, command lines and names left out."""
    way = (ROOT / "README.md").read_text() + TEXTS["docs/tutorial/first-tournament.md"]
    prose = re.sub(r"```.*?```|`[^`]*`", "", way, flags=re.DOTALL)
    words = [
        word for row in rows_of_table("docs/glossary.md", "word") for word in row[0].split(", ")
    ]
    met = [word for word in words if re.search(rf"\b{word}s?\b", prose, re.IGNORECASE)]
    assert "search" in met
    assert len(met) <= 12, met


def test_pictures_are_light():
    assert (DOCS / "images" / "quickstart.png").stat().st_size < 200_000
    assert sum(file.stat().st_size for file in (DOCS / "images").iterdir()) < 1_500_000
