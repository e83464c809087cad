"""Every code block of every page runs, or is read by what would run it."""

import json
import re
import shlex
from pathlib import Path

import pytest
import yaml

from podium.cli import COMMANDS
from podium.orchestrator.study_validation.load_study import load_study
from tests.docs.code_blocks import (
    FRAGMENT,
    OTHER_YAML,
    ROOT,
    TEXTS,
    assert_shell_reads,
    blocks,
    parse,
    podium_calls,
    run_python,
    shown_output,
    typed_lines,
)
from tests.podium.calling import call

LANGUAGES = {"python", "yaml", "console", "bash", "json", "text"}
OF_FILES = {"plan", "tournament", "losses", "init"}
OF_RESULTS = {"status", "trials", "cv", "importance", "protocols", "verify"}
"""Commands that only read, and are called where what they are given is there."""


def with_blocks(*languages):
    pages = [page for page in TEXTS if blocks(page, *languages)]
    return pytest.mark.parametrize("page", pages)


def test_every_language_is_one_that_is_checked():
    for page, text in TEXTS.items():
        fences = re.findall(r"^ *```(.*)$", text, re.MULTILINE)
        assert set(fences[::2]) <= LANGUAGES, page
        assert set(fences[1::2]) <= {""}, page


@with_blocks("python")
def test_python_runs(page, in_prepared):
    run_python(page)


@with_blocks("yaml")
def test_study_files_load(page, in_prepared):
    for block in blocks(page, "yaml"):
        keys = yaml.safe_load(block.text)
        if block.mark == OTHER_YAML:
            continue
        text = block.text
        if block.mark.startswith(FRAGMENT):
            text = yaml.safe_dump(whole(block.mark.removeprefix(FRAGMENT)) | keys)
        file = in_prepared / "study-of-page.yaml"
        file.write_text(text, encoding="utf-8")
        assert load_study(file).losses, block.place


def whole(name):
    """The study that a fragment is part of."""
    if name == "a study":
        return {"study": "whole", "losses": ["contrastive"]}
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


@with_blocks("console", "bash")
def test_the_shell_reads_what_is_to_be_typed(page):
    assert_shell_reads("\n".join(typed_lines(page)))
    for block in blocks(page, "bash"):
        assert_shell_reads(block.text)


@with_blocks("json")
def test_json_is_read(page):
    for block in blocks(page, "json"):
        json.loads(block.text)


@pytest.mark.parametrize("page", TEXTS)
def test_podium_accepts_every_command(page):
    for words in podium_calls(page):
        parse(words, complete=True)
    for line in re.findall(r"`podium ([a-z]+ [^`]+)`", TEXTS[page]):
        words = shlex.split(line, comments=True)
        if words[0] in COMMANDS or words[0] not in ("on", "with"):
            parse(words, complete=False)


@pytest.mark.parametrize("page", TEXTS)
def test_targets_of_make_exist(page):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    lines = typed_lines(page) + re.findall(r"`(make [a-z-]+)`", TEXTS[page])
    for line in lines:
        if line.startswith("make "):
            assert line.split()[1] in targets, line


CALLS = sorted(
    {
        (shlex.join(words), page)
        for page in TEXTS
        for words in podium_calls(page)
        if words[0] in OF_FILES | OF_RESULTS and "--probe" not in words
    }
)


@pytest.mark.parametrize(("line", "page"), CALLS)
def test_commands_that_only_read_print_what_is_shown(line, page, in_prepared, capsys):
    words = shlex.split(line)
    shown = [" ".join(piece.split()) for piece in shown_output(page, f"podium {line}")]
    if not is_here(words):
        assert not any(shown), "output of a command that cannot be called here"
        pytest.skip("reads what only a reader has")
    called = call(capsys, *words)
    assert called.code == 0
    printed = " ".join((called.err + called.out).split())
    assert [piece for piece in shown if piece not in printed] == []


def is_here(words):
    """Whether the study, results or table that a command reads is in the current folder."""
    given = next((word for word in words[1:] if not word.startswith("-")), "")
    if words[0] in OF_RESULTS:
        return (Path("podium-results") / Path(given).stem / "store.json").exists()
    return words[0] in OF_FILES and (given == "quickstart" or Path(given).exists())
