"""JSON that is not podium's in place of its records: what a command refuses, verify names."""

import copy
import itertools
import json
import random
import shutil

import pytest

from orchestrator.results.storage.checksummed_text import read_checksummed, with_checksum
from orchestrator.verify.verify_store import verify_store
from podium.errors import CorruptFileError, PodiumError
from tests.orchestrator.damaged_stores import a_file, copy_of, problems, run
from tests.podium.calling import call
from tests.soak import soak

RECORDS = {
    "store": "store.json",
    "provenance": "provenance.json",
    "ask": "asks/*/000001.json",
    "attempt": "attempts/*/*-1.json",
    "run": "runs/000001.json",
    "number of runs": "runs.json",
}
HOSTILE = (
    *(None, "x", -1, 1e300, [], {}, True, 10**30, 3.5, "", ["a"], {"a": 1}),
    *("../../x", "a\nNo problems.", "\x1b[2J"),
)
NUM_CHANGES = 12  # of each kind, seeded; in a short run the first few
FOREIGN = ("{}", "[]", '"text"', '{"name": "package", "version": "1.0.0"}', "null")
ADDED = (
    *("attempts/*/notes.json", "attempts/*/1 (copy).json", "attempts/mine/1.json"),
    *("attempts/*/01.json", "asks/*/notes.json", "asks/mine/000000.json", "runs/notes.json"),
    *("runs/000002.json", "runs/000001 (copy).json"),
)


def places(value, path=()):
    """The path of every value in a JSON object, a list's first values only."""
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value[:2])
    for key, child in children if isinstance(value, (dict, list)) else ():
        if isinstance(child, (dict, list)):
            yield from places(child, (*path, key))
        else:
            yield (*path, key)


def changed(values, path, new):
    values = copy.deepcopy(values)
    inner = values
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = new
    return values


def some_changes(kind, values):
    every = [(path, new) for path in places(values) if path for new in HOSTILE]
    return random.Random(kind).sample(every, NUM_CHANGES)


def ends_of_commands(paths, tmp_path, capsys):
    """How the commands that read a folder, and a run, end."""
    report = tmp_path / "report.html"
    ends = {
        name: call(capsys, name, paths.folder, *options).code
        for name, options in (("status", ()), ("trials", ()), ("report", ("--output", report)))
    }
    try:
        run(tmp_path)
    except PodiumError as error:
        return {**ends, "run": error.exit_code}
    return {**ends, "run": 0}


def is_named(folder):
    try:
        return bool(verify_store(folder).problems)
    except PodiumError:
        return True


@pytest.mark.parametrize("part", [slice(3), *soak(slice(3, None))], ids=["first", "others"])
@pytest.mark.parametrize("kind", RECORDS)
def test_whatever_a_value_is_no_command_breaks_and_what_one_refuses_is_named(
    interrupted, tmp_path, capsys, kind, part
):
    values = read_checksummed(a_file(interrupted, RECORDS[kind]))
    for path, new in some_changes(kind, values)[part]:
        paths = copy_of(interrupted, tmp_path)
        content = with_checksum(changed(values, path, new))
        a_file(paths, RECORDS[kind]).write_text(json.dumps(content))
        named = is_named(paths.folder)
        ends = ends_of_commands(paths, tmp_path, capsys)
        assert set(ends.values()) <= {0, 1, 2}
        assert named or not any(ends.values()), (path, new, ends)
        shutil.rmtree(paths.folder)


@pytest.mark.parametrize("content", FOREIGN)
@pytest.mark.parametrize("kind", RECORDS)
def test_foreign_json_in_place_of_a_record_is_named(interrupted, tmp_path, kind, content):
    paths = copy_of(interrupted, tmp_path)
    file = a_file(paths, RECORDS[kind])
    file.write_text(content)
    try:
        found = problems(paths.folder)
    except PodiumError as error:
        found = str(error)
    assert file.name in found or kind == "store"
    assert found


def first_of_either():
    """Every place with one content and every content in one place; the others in the soak."""
    for pattern, content in itertools.product(ADDED, FOREIGN):
        is_kept = pattern == ADDED[0] or content == FOREIGN[0]
        yield pytest.param(pattern, content, marks=[] if is_kept else pytest.mark.soak)


@pytest.mark.parametrize(("pattern", "content"), [*first_of_either()])
def test_foreign_json_beside_the_records_is_named(interrupted, tmp_path, capsys, pattern, content):
    paths = copy_of(interrupted, tmp_path)
    above, _, name = pattern.rpartition("/")
    folder = a_file(paths, above) if "*" in above else paths.folder / above
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(content)
    assert name in problems(paths.folder)
    report = call(capsys, "report", paths.folder, "--output", tmp_path / "report.html")
    if not pattern.startswith("asks/"):  # of which a report needs none
        assert report.code == 2
        assert name in report.err


def test_a_provenance_without_versions_is_named_and_no_run_goes_on(interrupted, tmp_path):
    paths = copy_of(interrupted, tmp_path)
    paths.provenance.write_text(json.dumps(with_checksum({"study": "small"})))
    found = problems(paths.folder)
    assert "provenance.json: lacks numerics_version, podium_version, python_version" in found
    with pytest.raises(CorruptFileError, match=r"provenance\.json lacks numerics_version"):
        run(tmp_path)


@pytest.mark.parametrize("lost", ["runs", "runs/000001.json"])
def test_lost_runs_are_named_and_their_hours_are_not_spent_anew(interrupted, tmp_path, lost):
    paths = copy_of(interrupted, tmp_path)
    shutil.move(paths.folder / lost, tmp_path / "kept")
    assert "runs/000001.json: is missing, while there were 1 runs" in problems(paths.folder)
    with pytest.raises(CorruptFileError, match=r"000001\.json is missing, .* Restore the file"):
        run(tmp_path)
    shutil.move(tmp_path / "kept", paths.folder / lost)
    assert problems(paths.folder) == ""
    assert not run(tmp_path).interrupted


def test_a_gap_between_runs_is_named(interrupted, tmp_path):
    paths = copy_of(interrupted, tmp_path)
    run(tmp_path)
    assert problems(paths.folder) == ""
    paths.run(1).unlink()
    assert "runs/000001.json: is missing, while there were 2 runs" in problems(paths.folder)


def test_trials_without_any_run_are_named(interrupted, tmp_path):
    paths = copy_of(interrupted, tmp_path)
    paths.run_count.unlink()
    assert problems(paths.folder) == ""
    shutil.rmtree(paths.runs)
    assert "runs: holds no account of a run, while there are trials" in problems(paths.folder)
    with pytest.raises(CorruptFileError, match="holds no account of a run"):
        run(tmp_path)
