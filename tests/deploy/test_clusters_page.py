"""What docs/how-to/clusters.md tells to type exists, as far as one machine can tell."""

import re
import shlex
from pathlib import Path

import pytest
from ray.scripts.scripts import cli

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "how-to" / "clusters.md").read_text()
LINES = [
    line.removeprefix("$ ").strip("() ")
    for block in re.findall(r"^```console\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
]
# Files of this repository that are not made by the reader.
FILES = re.compile(
    r"\b((?:deploy/[\w./-]+|cluster|constraints)\.(?:yaml|txt|json|sbatch)|deploy/Dockerfile)\b"
)


def calls_of_ray():
    """The words of each `ray ...`, without what shells wrap around it."""
    last = [line.split("&& ")[-1] for line in LINES]
    words = [shlex.split(line.replace(")", ""), comments=True) for line in last]
    words = [[word for word in line if not word.startswith("RAY_")] for line in words]
    return [line[1:] for line in words if line[:1] == ["ray"]]


def test_every_file_that_is_named_exists():
    named = set(FILES.findall(TEXT))
    assert len(named) > 8
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("words", calls_of_ray(), ids=" ".join)
def test_ray_has_the_command_and_its_options(words):
    command = cli.commands[words[0]]
    known = {option for part in command.params for option in part.opts}
    assert {word for word in words if word.startswith("--")} <= known


def test_exit_codes_that_queue_a_job_again_are_those_of_the_scripts():
    rows = re.findall(r"^\| (\d[\w, ]*) \| .* \| (\w+)", TEXT, re.MULTILINE)
    assert [codes for codes, word in rows if word == "yes"] == ["3, warned"]
    never = [codes for codes, word in rows if word == "no"]
    assert never == ["0, 1, 2", "3, not warned", "4", "5"]
    for script in ("podium.sbatch", "one-node.sbatch"):
        text = (ROOT / "deploy" / "slurm" / script).read_text()
        (condition,) = re.findall(r"if \[\[ (.*) \]\]; then\n.*\n  scontrol requeue", text)
        assert condition.startswith("$code == 3 && $warned == yes && ")


def test_numbers_are_those_of_the_files():
    (minutes,) = re.findall(r"kept for (\d+)\n?", TEXT)
    assert f"idle_timeout_minutes: {minutes}\n" in (ROOT / "cluster.yaml").read_text()
    assert "threshold=5" in (ROOT / "cluster.yaml").read_text()
    assert "lost after five unanswered questions" in TEXT
    assert "three minutes before" in TEXT
    assert "USR1@180" in (ROOT / "deploy" / "slurm" / "podium.sbatch").read_text()
