"""Values of a stored study replaced by others: one line each, and other studies are listed."""

import copy
import random
import shutil

import pytest

from podium.orchestrator.results.storage.checksummed_text import (
    read_checksummed,
    write_checksummed,
)
from tests.podium.calling import call

VALUES = (None, [], {}, "", -1, 10**30, 1e300, "a\nb", "../../x", [1, "a"], True, 0.5)
DELETED = object()


def places(values, place=()):
    """Where a value lies, of all values and of those in them."""
    if place:
        yield place
    items = values.items() if isinstance(values, dict) else enumerate(values[:2])
    for key, value in items:
        if isinstance(value, dict | list):
            yield from places(value, (*place, key))
        else:
            yield (*place, key)


def changed(values, place, value):
    found = copy.deepcopy(values)
    parent = found
    for key in place[:-1]:
        parent = parent[key]
    if value is DELETED:
        del parent[place[-1]]
    else:
        parent[place[-1]] = value
    return found


@pytest.mark.parametrize("share", [0.03, pytest.param(1.0, marks=pytest.mark.soak)])
def test_whatever_a_value_is_commands_end_in_one_line_and_other_studies_are_listed(
    finished_study, tmp_path, capsys, share
):
    for name in ("changed", "whole"):
        shutil.copytree(finished_study, tmp_path / name)
    file = tmp_path / "changed" / "study.json"
    study = read_checksummed(file)
    drawn = random.Random(7)
    for place in places(study):
        for value in (*VALUES, DELETED):
            if drawn.random() > share:
                continue
            write_checksummed(file, changed(study, place, value))
            commands = (("tournament", file.parent), ("status", "--storage", tmp_path))
            for command in (("status", file.parent), ("trials", file.parent), *commands):
                called = call(capsys, *command)
                assert called.code in (0, 2), (place, value, called.err)
                assert called.code == 0 or called.err.count("podium:") == 1, (place, value)
            assert "whole" in called.out, (place, value)
