"""Calls the command line, in this process or in one of its own."""

from dataclasses import dataclass

import pytest

from podium.cli import main
from tests.podium.warm_process import podium

__all__ = ["Called", "call", "output_of", "podium"]


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
