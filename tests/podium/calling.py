"""Calls the command line in this process."""

from dataclasses import dataclass

import pytest

from podium.cli import main

__all__ = ["Called", "call"]


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
