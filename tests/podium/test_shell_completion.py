"""Completion in a real shell, by the script that ``podium --show-completion`` prints."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from podium import cli
from podium.arguments.shipped_files import shipped_studies
from tests.podium.calling import call

ROOT = Path(__file__).parents[2]
_TRY = """
eval "$(podium --show-completion bash)"
for line in "$@"; do
    COMP_WORDS=($line) COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
    $(complete -p podium | sed 's/.*-F \\([^ ]*\\).*/\\1/') podium
    echo "${COMPREPLY[*]}"
done
"""


def test_bash_completes_commands_studies_losses_and_options(tmp_path):
    command = tmp_path / "podium"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m podium "$@"\n')
    command.chmod(0o755)
    train = "podium trial train --loss proxy_an"
    lines = ["podium ru", "podium plan quick", train, "podium plan --fu"]
    done = subprocess.run(
        ["bash", "-c", _TRY, "bash", *lines],
        env={
            **os.environ,
            "PATH": f"{tmp_path}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            # else typer asks which shell called it
            "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1",
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["run", "quickstart", "proxy_anchor", "--full"]


@pytest.fixture
def completed(capsys, monkeypatch):
    """What is offered for a line, and which commands were imported for it."""

    imported, load = [], cli._load
    monkeypatch.setattr(cli, "_load", lambda name: (imported.append(name), load(name))[1])

    def complete(line):
        imported.clear()
        monkeypatch.setenv("_PODIUM_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        offered = call(capsys).out.split()
        return offered, [*imported]

    return complete


def test_no_command_is_imported_but_the_one_whose_words_are_completed(completed):
    assert completed("podium st") == (["status"], [])
    assert completed("podium losses circ") == (["circle"], ["losses"])


def test_a_study_is_a_shipped_one_or_a_file_or_folder_here(completed, tmp_path, monkeypatch):
    (tmp_path / "quiet.yaml").touch()
    (tmp_path / "quiet.csv").touch()
    (tmp_path / "questions").mkdir()
    monkeypatch.chdir(tmp_path)
    assert completed("podium run qu")[0] == ["questions/", "quiet.yaml", "quickstart"]
    assert set(completed("podium run ")[0]) >= {"quiet.yaml", *shipped_studies()}
    assert completed("podium run ./q")[0] == []  # the shell completes files by itself
