"""Writes study files for tests and loads them."""

import re
from pathlib import Path

import pytest

from orchestrator.errors import StudyError
from orchestrator.study.study import Study
from orchestrator.study_validation.load_study import load_study

__all__ = ["MINIMAL", "assert_matches", "load", "problems_of"]

MINIMAL = "study: x\nlosses: [contrastive]\n"


def load(folder: Path, text: str, *overrides: str) -> Study:
    """The study with this text, from a file called ``s.yaml``."""
    file = folder / "s.yaml"
    file.write_text(text)
    return load_study(file, overrides)


def problems_of(folder: Path, text: str, *overrides: str) -> list[str]:
    """What is said to be wrong with the text, without the folder's name."""
    with pytest.raises(StudyError, match=r"^\d+ problems? with the study:") as caught:
        load(folder, text, *overrides)
    return [re.sub(re.escape(str(folder)) + "/", "", line) for line in caught.value.problems]


def assert_matches(lines, patterns):
    """Each line is its pattern, in which only ``.*`` and ``\\d+`` are special."""
    assert len(lines) == len(patterns), lines
    for line, pattern in zip(lines, patterns, strict=True):
        literal = re.escape(pattern).replace(r"\.\*", ".*").replace(r"\\d\+", r"\d+")
        assert re.fullmatch(literal, line), f"{line!r} is not {pattern!r}"
