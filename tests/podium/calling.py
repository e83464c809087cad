"""Calls the command line, in this process or in one of its own."""

import subprocess
import sys
from dataclasses import dataclass

import pytest

from podium.cli import main


@dataclass(frozen=True, slots=True)
class Called:
    """How a call ended."""

    code: int
    out: str
    err: str


def call(capsys, *arguments) -> Called:
    """``podium ARGUMENTS``."""
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return Called(ended.value.code or 0, captured.out, captured.err)


def output_of(capsys, *arguments, code=0) -> str:
    """What ``podium ARGUMENTS`` prints if it ends with ``code``: errors unless that is 0."""
    called = call(capsys, *arguments)
    assert called.code == code, called.err
    return called.err if code else called.out


def podium(*arguments, cwd) -> subprocess.CompletedProcess:
    """``podium ARGUMENTS`` in a process of its own, as a user calls it in the folder ``cwd``."""
    return subprocess.run(
        [sys.executable, "-m", "podium", *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
