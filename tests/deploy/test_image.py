"""The image is not built here; its file is read, and what it names is checked."""

import re
import shlex
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "deploy" / "Dockerfile").read_text()
IGNORED = (ROOT / ".dockerignore").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())

KNOWN = {"FROM", "RUN", "COPY", "ENV", "WORKDIR", "USER", "CMD"}


def instructions(text):
    """(name, rest) of each instruction, with continued lines joined."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [tuple(line.split(maxsplit=1)) for line in joined.splitlines() if line.strip()]


def is_sent(path, rules):
    """Whether the builder is sent ``path``; of the rules that match, the last one counts."""
    sent = True
    for rule in rules.splitlines():
        pattern = rule.removeprefix("!").removeprefix("**/")
        if rule and not rule.startswith("#") and _matches(path, pattern):
            sent = rule.startswith("!")
    return sent


def _matches(path, pattern):
    parts = Path(path).parts
    return any(
        fnmatch("/".join(parts[first:last]), pattern)
        for first in range(len(parts))
        for last in range(first + 1, len(parts) + 1)
    )


def problems(text, ignored):
    """What is wrong with an image's file, as lines."""
    steps = instructions(text)
    yield from (f"unknown instruction {name}" for name, _ in steps if name not in KNOWN)
    bases = [rest for name, rest in steps if name == "FROM"]
    if not all(":" in base and not base.endswith(":latest") for base in bases):
        yield "the base has no version"
    users = [rest for name, rest in steps if name == "USER"]
    if not users or not users[-1].isdigit() or users[-1] == "0":
        yield "it runs as root, or Kubernetes cannot tell"
    yield from _copy_problems(steps, ignored)
    for name, rest in steps:
        if name in {"ENV", "RUN"}:
            yield from _run_problems(rest)


def _copy_problems(steps, ignored):
    copied = [source for name, rest in steps if name == "COPY" for source in rest.split()[:-1]]
    for source in copied:
        if not (ROOT / source).exists():
            yield f"{source} does not exist"
        elif not is_sent(source, ignored):
            yield f"{source} is not sent to the builder"
    for package in PROJECT["tool"]["setuptools"]["packages"]["find"]["include"]:
        if package.split(".")[0] not in copied:
            yield f"the package {package} is not copied"


def _run_problems(rest):
    if re.search(r"(TOKEN|SECRET|PASSWORD|_KEY)\w*=", rest):
        yield "a secret is written down"
    if "pip install" in rest:
        words = shlex.split(rest)
        given = [words[at + 1] for at, word in enumerate(words) if word == "--constraint"]
        if given != ["constraints.txt", "deploy/constraints.txt"]:
            yield "a library has no fixed version"
    if "apt-get" in rest and "rm -rf /var/lib/apt/lists" not in rest:
        yield "lists of packages stay in the image"


def test_nothing_is_wrong_with_the_image():
    assert list(problems(TEXT, IGNORED)) == []


def test_its_python_is_one_that_podium_supports():
    (minor,) = re.findall(r"^FROM python:3\.(\d+)", TEXT, re.MULTILINE)
    (least,) = re.findall(r">=3\.(\d+)", PROJECT["project"]["requires-python"])
    assert int(minor) >= int(least)


@pytest.mark.parametrize(
    "path",
    [
        ".git/config",
        ".venv/bin/python",
        "podium-results/study/study.yaml",
        "token",
        "podium/__pycache__/cli.pyc",
        "tests/conftest.py",
        ".env",
    ],
)
def test_the_builder_is_not_sent(path):
    assert not is_sent(path, IGNORED)


def test_demands_the_token():
    assert "RAY_AUTH_MODE=token" in TEXT


def pins(file):
    lines = (ROOT / file).read_text().splitlines()
    return {re.sub("[-_.]+", "-", line.split("==")[0]).lower() for line in lines}


def test_the_pins_of_the_image_add_to_those_of_podium():
    more = (ROOT / "deploy" / "constraints.txt").read_text().splitlines()
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in more)
    assert not pins("deploy/constraints.txt") & pins("constraints.txt")
    assert "faiss-gpu" in pins("deploy/constraints.txt")


@pytest.mark.parametrize(
    ("right", "wrong", "problem"),
    [
        ("USER 1000", "", "as root"),
        ("USER 1000", "USER podium", "as root"),
        ("python:3.12-slim", "python:latest", "no version"),
        ("COPY podium ", "COPY podiun ", "podiun does not exist"),
        ("COPY analysis ./analysis", "", "package analysis"),
        ("COPY pyproject.toml", "COPY Makefile", "Makefile is not sent"),
        ("--constraint deploy/constraints.txt", "", "no fixed version"),
        ("RAY_USAGE_STATS_ENABLED=0", "RAY_AUTH_TOKEN=abc", "a secret"),
        ("WORKDIR /opt", "WORKDIRR /opt", "unknown instruction WORKDIRR"),
        ("&& rm -rf /var/lib/apt/lists/*", "", "lists of packages"),
    ],
)
def test_a_wrong_image_would_be_found(right, wrong, problem):
    assert right in TEXT
    found = list(problems(TEXT.replace(right, wrong), IGNORED))
    assert any(problem in line for line in found)
