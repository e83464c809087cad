import subprocess
import sys
from pathlib import Path

import pytest

from podium import cli
from podium.cli import COMMANDS
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth
from tests.podium.calling import call

ROOT = Path(__file__).parents[2]
SMALL = Truth(scripts=("greek", "latin"), embedding_dims=(16,), search_trials=4, seeds=2)
HEAVY = (
    *("torch", "ray", "optuna", "polars", "pyarrow", "scipy", "matplotlib", "pandas"),
    *("scipy.stats", "matplotlib.pyplot"),
)


def loaded_by(*calls):
    """Which heavy libraries a process has loaded after ``podium ARGUMENTS`` of each call."""
    code = f"""
import sys
from podium.cli import main
for arguments in {[list(map(str, arguments)) for arguments in calls]!r}:
    try:
        main(arguments)
    except SystemExit as ended:
        assert not ended.code
print(*[name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return done.stderr.split()


def test_help_lists_every_command(capsys):
    helped = call(capsys, "--help")
    assert helped.code == 0
    for name, (_, line) in COMMANDS.items():
        assert f" {name} " in helped.out
        assert line in helped.out


def test_help_facts_and_plans_load_nothing_heavy(tmp_path):
    plan = ("plan", ROOT / "studies" / "quickstart.yaml", "--storage", tmp_path)
    facts = (("losses",), ("losses", "contrastive"))
    assert loaded_by(("--help",), ("--version",), *facts, plan) == []


def test_a_plan_with_results_loads_only_what_reads_them(tmp_path):
    folder = write_store(tmp_path / "synthetic", SMALL)
    assert loaded_by(("plan", folder)) == ["polars", "pyarrow"]


def test_reports_and_rankings_load_nothing_that_takes_seconds(tmp_path):
    folder = write_store(tmp_path / "synthetic", SMALL)
    ranked = ("tournament", ROOT / "studies" / "thesis_cub200.csv", "--where", "k=1")
    slow = {"torch", "ray", "optuna", "scipy.stats", "matplotlib.pyplot"}
    assert slow.isdisjoint(loaded_by(("report", folder), ranked))


def test_no_command_loads_torch_or_ray_before_it_is_needed():
    """One after the other in one process: what none of them loads is not loaded at the end."""
    calls = [(name, "--help") for name in COMMANDS]
    assert {"torch", "ray"}.isdisjoint(loaded_by(*calls))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(capsys, name):
    helped = call(capsys, name, "--help")
    assert helped.code == 0
    assert f"Usage: podium {name}" in helped.out


def test_no_command_is_left_out_of_the_table():
    files = (ROOT / "podium" / "commands").glob("[!_]*.py")
    assert {file.stem.partition("_")[0] for file in files} == set(COMMANDS)


def test_a_mistyped_command_shows_the_nearest(capsys):
    called = call(capsys, "rnu")
    assert called.code == 2
    assert "No such command 'rnu'. Did you mean 'run'?" in called.err


def test_errors_of_the_user_are_a_message_and_exit_code_2(capsys, tmp_path):
    called = call(capsys, "plan", tmp_path / "no.yaml")
    assert called.code == 2
    assert called.err.startswith("podium: 1 problem with the study:\n")
    assert "the study file cannot be read: No such file" in called.err
    assert "Traceback" not in called.err


@pytest.mark.parametrize(("returned", "code"), [(None, 0), (0, 0), (1, 1), (3, 3)])
def test_what_a_command_returns_is_the_exit_code(capsys, monkeypatch, returned, code):
    def command() -> int | None:
        return returned

    monkeypatch.setattr(cli, "_load", lambda name: command)
    assert call(capsys, "losses").code == code


def test_errors_of_ours_keep_their_traceback_without_secrets(capsys, monkeypatch):
    monkeypatch.setenv("SOME_PASSWORD", "kq3v9x7w2m5b8n4c")

    def command() -> None:
        raise ZeroDivisionError("a bug, password=kq3v9x7w2m5b8n4c")

    monkeypatch.setattr(cli, "_load", lambda name: command)
    called = call(capsys, "losses")
    assert called.code == 1
    assert called.err.startswith("Traceback (most recent call last):\n")
    assert called.err.endswith("ZeroDivisionError: a bug, password=***\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("status", "FOLDER", "--storage", "FOLDER"), "--storage goes with a study file"),
        (("status", "FOLDER/nowhere"), "STUDY must be a study file or a results folder; got"),
        *(
            (("trial", "train", "--loss", "contrastive", option, 10**19), "less than or equal to")
            for option in ("--embedding-dim", "--image-size", "--seed")
        ),
    ],
)
def test_words_that_do_not_fit_are_bad_input(capsys, tmp_path, words, message):
    called = call(capsys, *(str(word).replace("FOLDER", str(tmp_path)) for word in words))
    assert called.code == 2
    assert message in " ".join(called.err.replace("│", "").split())
