"""Every kind of file, damaged or foreign: verify names it, and no run goes on in silence."""

import copy
import functools
import itertools
import operator
import random
import re
import shutil
from dataclasses import replace

import pytest
from polars.testing import assert_frame_equal

from podium.errors import CorruptFileError, PodiumError
from podium.kept_files.tensor_file import decode_tensors
from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.results.records.journal import read_journals
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.checksummed_text import (
    read_checksummed,
    write_checksummed,
)
from podium.orchestrator.results.trial_files.reader import Reader
from podium.trainables.errors import CheckpointError
from podium.trainables.trial.checkpoint import verified_archive
from tests.orchestrator.damaged_stores import (
    KEEPING,
    TINY,
    a_file,
    a_place,
    careful_trial,
    copy_of,
    finished_store,
    flip,
    interrupted_store,
    problems,
    run,
    some_bits,
)
from tests.orchestrator.small_study import InterruptedAfter, tables
from tests.podium.calling import call
from tests.soak import soak

# Kind -> which of the folders it lies in, and where.
KINDS = {
    "store.json": ("interrupted", "store.json"),
    "study.json": ("interrupted", "study.json"),
    "provenance.json": ("interrupted", "provenance.json"),
    "trial": ("interrupted", "trials/*/*.parquet"),
    "journal": ("interrupted", "journal/*/000001.jsonl"),
    "checkpoint": ("interrupted", "checkpoints/*.pt"),
    "gathered trials": ("finished", "trials/*/*.gathered.parquet"),
    "model": ("finished", "models/*.safetensors"),
    "embeddings": ("finished", "embeddings/*.safetensors"),
}
DAMAGES = ("first byte", "half", "all but one byte", "empty", "flipped", "foreign", "deleted")
EVERY = {(kind, damage) for kind in KINDS for damage in DAMAGES}
# Where another file than the damaged one tells of it.
TRACES = {
    ("trial", "deleted"): "trials: must hold the 2 trials that runs completed",
    ("gathered trials", "deleted"): "trials: must hold the 9 trials that runs completed",
    **{("journal", damage): "journal/" for damage in DAMAGES},  # some lie in its other lines
}

# Records as JSON, and what takes the place of a value or of a file.
RECORDS = {
    "store": "store.json",
    "provenance": "provenance.json",
    "run": "runs/000001.json",
}
HOSTILE = (
    *(None, "x", -1, 1e300, [], {}, True, 10**30, 3.5, "", ["a"], {"a": 1}),
    *("../../x", "a\nNo problems.", "\x1b[2J"),
)
NUM_CHANGES = 12  # of each kind, seeded; in a short run the first few
FOREIGN = ("{}", "[]", '"text"', '{"name": "package", "version": "1.0.0"}', "null")
ADDED = (
    *("journal/*/notes.jsonl", "journal/*/000001 (copy).jsonl", "journal/mine/000001.jsonl"),
    *("journal/*/000002.jsonl", "runs/notes.json", "runs/000002.json", "runs/000001 (copy).json"),
)


@pytest.fixture(scope="module")
def stores(interrupted, finished, tmp_path_factory):
    """Two folders to be copied, and those of another study, with files of the same names."""
    place = tmp_path_factory.mktemp("stores")
    other = {"name": "other", "protocols": (replace(TINY.protocols[0], split_seed=7),), "seed": 7}
    found = {
        "interrupted": interrupted,
        "finished": finished,
        "other interrupted": interrupted_store(place / "other", replace(TINY, **other)),
        "other finished": finished_store(place / "others", replace(KEEPING, **other)),
    }
    assert not any(problems(paths.folder) for paths in found.values())
    return found


@pytest.fixture(scope="module")
def undisturbed(finished):
    return tables(finished.folder.parent, KEEPING)


def damaged(stores, kind, damage, tmp_path):
    """A folder with one damaged file, and that file."""
    which, pattern = KINDS[kind]
    paths = copy_of(stores[which], tmp_path)
    file = a_file(paths, pattern)
    # Without the line break at its end JSON is the same.
    kept = {"first byte": 1, "half": file.stat().st_size // 2, "empty": 0}
    kept["all but one byte"] = -2 if file.suffix in (".json", ".jsonl") else -1
    match damage:
        case "flipped":
            flip(file, some_bits(file, 1)[0])
        case "foreign":
            shutil.copy(a_file(stores[f"other {which}"], pattern), file)
        case "deleted":
            file.unlink()
        case _:
            file.write_bytes(file.read_bytes()[: kept[damage]])
    return paths, file


@pytest.mark.parametrize(("kind", "damage"), sorted(EVERY))
def test_a_damaged_file_is_named_by_verify_and_a_run_refuses_it_or_is_unharmed(
    stores, undisturbed, tmp_path, kind, damage
):
    paths, file = damaged(stores, kind, damage, tmp_path)
    before = bytes_of(paths)
    if kind != "checkpoint":  # of which only its trial decides whether it can be used
        assert TRACES.get((kind, damage), file.name) in problems(paths.folder)
        assert bytes_of(paths) == before
    study = KEEPING if KINDS[kind][0] == "finished" else TINY
    executor = Started(careful_trial)
    if kind in UNHARMED or (kind, damage) in UNHARMED:
        run(tmp_path, study, executor)
        assert_frame_equal(tables(tmp_path, study), undisturbed)
        return
    with pytest.raises(PodiumError) as refused:
        run(tmp_path, study, executor)
    assert refused.value.exit_code == 2
    assert file.name in str(refused.value) or str(paths.folder) in str(refused.value)
    assert not executor.has_started
    assert bytes_of(paths) == before


# What no number of a study depends on, or what is made again to the same bits.
UNHARMED = {
    *("checkpoint", "model", "embeddings"),
    *(("trial", "deleted"), ("gathered trials", "deleted")),
}


class Started(InProcessExecutor):
    """Knows whether it was ever asked to run."""

    has_started = False

    def run(self, scheduler):
        self.has_started = True
        super().run(scheduler)


def bytes_of(paths: StudyPaths):
    """Every file but the log of a run, which says why it was refused, and its lock."""
    return {
        str(path.relative_to(paths.folder)): path.read_bytes()
        for path in sorted(paths.folder.rglob("*"))
        if path.is_file() and path.parent not in (paths.logs, paths.locks)
    }


def read_as(kind, paths, file):
    """What the reader of that kind makes of a file."""
    match kind:
        case "trial" | "gathered trials":
            return Reader(paths.folder).trials().collect().rows()
        case "journal":
            return read_journals(paths)
        case "checkpoint":
            return verified_archive(file.read_bytes())
        case "model" | "embeddings":
            return decode_tensors(file.read_bytes(), kind, str(file))[0]
        case _:
            return read_checksummed(file)


@pytest.mark.parametrize("kind", KINDS)
def test_no_flipped_bit_changes_what_is_read(stores, tmp_path, kind):
    which, pattern = KINDS[kind]
    paths = copy_of(stores[which], tmp_path)
    file = a_file(paths, pattern)
    whole, expected = file.read_bytes(), read_as(kind, paths, file)
    told = 0
    for bit in some_bits(file, 300):
        flip(file, bit)
        try:
            # 1e-5 and 1E-5 are one number; text of JSON may differ where its values do not.
            assert read_as(kind, paths, file) == expected
        except (CorruptFileError, CheckpointError):
            told += 1
        file.write_bytes(whole)
    assert told >= 295


def places(value, path=()):
    """The path of every value in a JSON object, a list's first values only."""
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value[:2])
    for key, child in children if isinstance(value, (dict, list)) else ():
        if isinstance(child, (dict, list)):
            yield from places(child, (*path, key))
        else:
            yield (*path, key)


def some_changes(kind, values):
    every = [(path, new) for path in places(values) if path for new in HOSTILE]
    for path, new in random.Random(kind).sample(every, NUM_CHANGES):
        found = copy.deepcopy(values)
        inner = functools.reduce(operator.getitem, path[:-1], found)
        inner[path[-1]] = new
        yield found


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


@pytest.mark.parametrize("part", [slice(3), *soak(slice(3, None))], ids=["first", "others"])
@pytest.mark.parametrize("kind", RECORDS)
def test_whatever_a_value_is_no_command_breaks_and_what_one_refuses_is_named(
    interrupted, tmp_path, capsys, kind, part
):
    values = read_checksummed(a_file(interrupted, RECORDS[kind]))
    for changed in [*some_changes(kind, values)][part]:
        paths = copy_of(interrupted, tmp_path)
        write_checksummed(a_file(paths, RECORDS[kind]), changed)
        named = bool(problems(paths.folder))
        ends = ends_of_commands(paths, tmp_path, capsys)
        assert set(ends.values()) <= {0, 1, 2}
        assert named or not any(ends.values()), (changed, ends)
        shutil.rmtree(paths.folder)


def first_of_either():
    """Every place with one content and every content in one place; the others in the soak."""
    for pattern, content in itertools.product((*RECORDS.values(), *ADDED), FOREIGN):
        is_kept = pattern == ADDED[0] or content == FOREIGN[0]
        yield pytest.param(pattern, content, marks=[] if is_kept else pytest.mark.soak)


@pytest.mark.parametrize(("pattern", "content"), [*first_of_either()])
def test_foreign_json_as_a_record_or_beside_one_is_named(
    interrupted, tmp_path, capsys, pattern, content
):
    paths = copy_of(interrupted, tmp_path)
    file = a_place(paths, pattern)
    file.write_text(content)
    assert file.name in problems(paths.folder)
    report = call(capsys, "report", paths.folder, "--output", tmp_path / "report.html")
    assert report.code == 2
    assert file.name in report.err


def test_a_provenance_without_versions_is_named_and_no_run_goes_on(interrupted, tmp_path):
    paths = copy_of(interrupted, tmp_path)
    write_checksummed(paths.provenance, {"study": "small"})
    found = problems(paths.folder)
    assert "provenance.json is damaged at numerics_version: Field required" in found
    with pytest.raises(CorruptFileError, match=r"provenance\.json is damaged at numerics_version"):
        run(tmp_path)


@pytest.mark.parametrize(
    ("lost", "message"),
    [
        (["runs/000001.json"], r"000001\.json is missing, while there is 000002"),
        (["runs"], "runs:? holds no account of a run, while"),
    ],
)
def test_lost_runs_are_named_and_their_hours_are_not_spent_anew(
    interrupted, tmp_path, lost, message
):
    paths = copy_of(interrupted, tmp_path)
    run(tmp_path, TINY, InterruptedAfter(3, careful_trial))
    kept = copy_of(paths, tmp_path / "kept")
    for file in (paths.folder / name for name in lost):
        shutil.rmtree(file) if file.is_dir() else file.unlink()
    assert re.search(message, problems(paths.folder))
    with pytest.raises(CorruptFileError, match=message):
        run(tmp_path)
    shutil.copytree(kept.folder, paths.folder, dirs_exist_ok=True)
    assert problems(paths.folder) == ""
    assert not run(tmp_path).interrupted
