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


def arguments_of(instruction):
    """The rest of each such instruction, with continued lines joined."""
    lines = [line for line in TEXT.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return re.findall(rf"^{instruction}\s+(.*)$", joined, re.MULTILINE)


def is_sent(path):
    """Whether the builder is sent ``path``; of the rules that match, the last one counts."""
    sent = True
    for rule in IGNORED.splitlines():
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


def test_its_base_has_a_version_of_a_python_that_podium_supports():
    (minor,) = re.findall(r"^FROM python:3\.(\d+)\S*$", TEXT, re.MULTILINE)
    (least,) = re.findall(r">=3\.(\d+)", PROJECT["project"]["requires-python"])
    assert int(minor) >= int(least)


def test_it_runs_as_a_user_of_whom_kubernetes_can_tell_that_he_is_not_root():
    user = arguments_of("USER")[-1]
    assert user.isdigit()
    assert user != "0"


def test_every_package_is_copied_and_what_is_copied_is_sent_to_the_builder():
    copied = [source for rest in arguments_of("COPY") for source in rest.split()[:-1]]
    assert [source for source in copied if not (ROOT / source).exists()] == []
    assert [source for source in copied if not is_sent(source)] == []
    packages = PROJECT["tool"]["setuptools"]["packages"]["find"]["include"]
    assert {package.split(".")[0] for package in packages} <= set(copied)


def test_all_libraries_are_pinned_and_no_list_of_packages_stays():
    for rest in arguments_of("RUN"):
        words = shlex.split(rest)
        given = [words[at + 1] for at, word in enumerate(words) if word == "--constraint"]
        pinned = ["constraints.txt", "deploy/constraints.txt"]
        assert given == (pinned if "pip install" in rest else [])
        assert "apt-get" not in rest or "rm -rf /var/lib/apt/lists" in rest


def test_a_token_is_demanded_and_no_secret_written_down():
    assert "RAY_AUTH_MODE=token" in TEXT
    assert not re.search(r"(TOKEN|SECRET|PASSWORD|_KEY)\w*=", TEXT)


@pytest.mark.parametrize(
    "path",
    [
        *(".git/config", ".venv/bin/python", "podium-results/study/study.json", "token"),
        *("podium/__pycache__/cli.pyc", "tests/conftest.py", ".env"),
    ],
)
def test_the_builder_is_not_sent(path):
    assert not is_sent(path)


def pins(file):
    lines = (ROOT / file).read_text().splitlines()
    return {re.sub("[-_.]+", "-", line.split("==")[0]).lower() for line in lines}


def test_the_pins_of_the_image_add_to_those_of_podium():
    more = (ROOT / "deploy" / "constraints.txt").read_text().splitlines()
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in more)
    assert not pins("deploy/constraints.txt") & pins("constraints.txt")
    assert "faiss-gpu" in pins("deploy/constraints.txt")
