"""A results folder of another author: data to be read, whatever it holds, and never code."""

import sys
import unicodedata

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import read_store
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth
from tests.orchestrator.results.store_rows import change_json, rewrite_gathered
from tests.podium.calling import call

TRUTH = Truth(scripts=("greek", "latin"), embedding_dims=(16,), search_trials=5, seeds=2)
MODULE = "podium_hostile_module"
HOSTILE = (
    "<script>document.title='owned'</script><img src=x onerror=document.title='owned'>"
    "\x1b]0;owned\x07\x1b[2J\r\nforged\u202e[red]x[/red]\x9b5m{{ 7*7 }}"
)
WORDS = ("message", "traceback", "log", "node", "device", "git_commit", "cause")
READERS = [
    (
        *("report", "{study}", "--output", "{out}/report.html"),
        *("--csv", "{out}/csv", "--latex", "{out}/latex", "--json", "-"),
    ),
    ("status", "{study}"),
    ("trials", "{study}"),
    ("trials", "{study}", "--failed"),
    ("trials", "{study}", "--failed", "--json"),
    ("tournament", "{study}"),
    ("protocols", "{study}"),
    ("importance", "{study}"),
    ("verify", "{study}"),
    ("export", "optuna", "{study}", "--output", "{out}/journal.log"),
    ("export", "tensorboard", "{study}", "--output", "{out}/runs"),
]


def _hostile_store(folder, names, words):
    """A whole store whose losses have other names and whose trials say other words."""
    paths = StudyPaths(write_store(folder / "synthetic", TRUTH, renamed=names))
    schema = read_store(paths).schema
    for file in [*paths.trials.rglob("*.parquet")]:
        table = pq.ParquetFile(file).read()
        for name in words:
            column = pa.array([HOSTILE] * len(table), pa.string())
            table = table.set_column(table.column_names.index(name), schema.field(name), column)
        rewrite_gathered(file, table)
    return paths


def _filled(words, study, out):
    return [word.format(study=study, out=out) for word in words]


@pytest.fixture(scope="module")
def naming_code(tmp_path_factory):
    """Results whose losses are named by import path, and the module: it leaves a mark."""
    folder = tmp_path_factory.mktemp("naming_code")
    (folder / f"{MODULE}.py").write_text(f"open({str(folder / 'mark')!r}, 'w').close()")
    names = {"proxy_anchor": f"{MODULE}:Loss", "contrastive": f"memory:{MODULE}:Loss"}
    return _hostile_store(folder, names, ())


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_what_a_folder_names_is_never_imported(naming_code, tmp_path, monkeypatch, capsys, words):
    folder = naming_code.folder.parent
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    done = call(capsys, *_filled(words, naming_code.folder, tmp_path))
    assert MODULE not in sys.modules
    assert not (folder / "mark").exists()
    if "optuna" in words:
        assert (done.code, "--trust-code" in done.err) == (2, True)
    elif "verify" not in words:  # which finds what these stores are not made to keep
        assert done.code == 0, done.err


def test_the_module_would_leave_its_mark_if_it_is_trusted(
    naming_code, tmp_path, monkeypatch, capsys
):
    folder = naming_code.folder.parent
    monkeypatch.syspath_prepend(folder)
    words = ("export", "optuna", "{study}", "--output", "{out}/journal.log", "--trust-code")
    call(capsys, *_filled(words, naming_code.folder, tmp_path))
    assert (folder / "mark").exists()
    assert sys.modules.pop(MODULE)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Results whose every word that podium prints would do harm."""
    names = {"proxy_anchor": "<img src=x>[red]{{ 7*7 }}"}
    paths = _hostile_store(tmp_path_factory.mktemp("hostile"), names, WORDS)
    change_json(paths.provenance, podium_version=HOSTILE, command=HOSTILE, git_commit=HOSTILE)
    return paths


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_no_word_of_a_folder_reaches_the_terminal_as_a_control(hostile, tmp_path, capsys, words):
    done = call(capsys, *_filled(words, hostile.folder, tmp_path))
    printed = done.out + done.err
    controls = {it for it in printed if unicodedata.category(it) == "Cc" or it == "\u202e"}
    assert controls <= {"\n", "\t"}
    assert [line for line in printed.splitlines() if line.startswith("forged")] == []
    if "verify" not in words:
        assert done.code == (2 if "optuna" in words else 0), done.err
