"""Every kind of file, damaged in every way: verify names it, and no run goes on in silence."""

import shutil
from dataclasses import replace

import pytest
from polars.testing import assert_frame_equal

from orchestrator.executors.in_process import InProcessExecutor
from orchestrator.results.records.asks import read_ask
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.checksummed_text import read_checksummed, text_without_checksum
from orchestrator.results.trial_files.reader import Reader
from orchestrator.verify.verify_store import verify_store
from podium.errors import CorruptFileError, PodiumError
from podium.kept_files.tensor_file import decode_tensors
from tests.orchestrator.damaged_stores import (
    KEEPING,
    TINY,
    a_file,
    careful_trial,
    copy_of,
    finished_store,
    flip,
    interrupted_store,
    run,
    some_bits,
)
from tests.orchestrator.small_study import tables
from trainables.errors import CheckpointError
from trainables.trial.checkpoint import verified_archive

# Kind -> which of the folders it lies in, and where.
KINDS = {
    "store.json": ("interrupted", "store.json"),
    "study.yaml": ("interrupted", "study.yaml"),
    "provenance.json": ("interrupted", "provenance.json"),
    "trial": ("interrupted", "trials/*/*.parquet"),
    "ask": ("interrupted", "asks/*/000001.json"),
    "attempt": ("interrupted", "attempts/*/*-1.json"),
    "gathered asks": ("finished", "asks/*.json"),
    "gathered attempts": ("finished", "attempts/*.json"),
    "checkpoint": ("interrupted", "checkpoints/*/state.pt"),
    "gathered trials": ("finished", "trials/*/*.gathered.parquet"),
    "model": ("finished", "models/*.safetensors"),
    "embeddings": ("finished", "embeddings/*.safetensors"),
}
DAMAGES = ("first byte", "half", "all but one byte", "empty", "flipped", "foreign", "deleted")
EVERY = {(kind, damage) for kind in KINDS for damage in DAMAGES}
# What a deleted file of that kind leaves: only its trial's attempts know of a trial file.
TRACES = {
    "ask": "000001.json",
    "attempt": "attempts/",
    "gathered asks": "000000.json",
    "gathered attempts": "attempts/",
    "gathered trials": "must hold the 8 trials that runs completed",
}
# Nobody can say that there was a checkpoint; whose it is stands within, where only torch looks.
UNTRACEABLE = {("checkpoint", "deleted"), ("checkpoint", "foreign")}


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """Two folders to be copied, and those of another study, with files of the same names."""
    place = tmp_path_factory.mktemp("stores")
    other = {"name": "other", "protocols": (replace(TINY.protocols[0], split_seed=7),), "seed": 7}
    return {
        "interrupted": interrupted_store(place / "interrupted"),
        "finished": finished_store(place / "finished", KEEPING),
        "other interrupted": interrupted_store(place / "other", replace(TINY, **other)),
        "other finished": finished_store(place / "others", replace(KEEPING, **other)),
    }


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    storage = tmp_path_factory.mktemp("undisturbed")
    run(storage)
    return tables(storage)


def damaged(stores, kind, damage, tmp_path):
    """A folder with one damaged file, and that file."""
    which, pattern = KINDS[kind]
    paths = copy_of(stores[which], tmp_path)
    file = a_file(paths, pattern)
    content = file.read_bytes()
    match damage:
        case "first byte":
            file.write_bytes(content[:1])
        case "half":
            file.write_bytes(content[: len(content) // 2])
        case "all but one byte":
            # Without the line break at its end JSON is the same.
            file.write_bytes(content[: -2 if file.suffix == ".json" else -1])
        case "empty":
            file.write_bytes(b"")
        case "flipped":
            flip(file, some_bits(file, 1)[0])
        case "foreign":
            shutil.copy(a_file(stores[f"other {which}"], pattern), file)
        case "deleted":
            file.unlink()
    return paths, file


def told_of(folder):
    try:
        found = verify_store(folder)
    except PodiumError as error:
        return str(error), str(error)
    return "\n".join(map(str, found.problems)), "\n".join(map(str, found.notes))


def test_the_folders_are_sound(stores):
    for paths in stores.values():
        assert verify_store(paths.folder).problems == []


@pytest.mark.parametrize(("kind", "damage"), sorted(EVERY - UNTRACEABLE))
def test_a_damaged_file_is_named_by_verify(stores, tmp_path, kind, damage):
    paths, file = damaged(stores, kind, damage, tmp_path)
    before = bytes_of(paths)
    problems, notes = told_of(paths.folder)
    name = TRACES.get(kind, file.name) if damage == "deleted" else file.name
    if (kind, damage) == ("trial", "deleted"):
        assert file.stem in notes
    else:
        assert name in problems
    assert bytes_of(paths) == before


@pytest.mark.parametrize(("kind", "damage"), sorted(EVERY))
def test_a_run_on_a_damaged_file_refuses_it_by_name_or_is_unharmed(
    stores, undisturbed, tmp_path, kind, damage
):
    paths, file = damaged(stores, kind, damage, tmp_path)
    study = KEEPING if KINDS[kind][0] == "finished" else TINY
    before = bytes_of(paths)
    executor = Started(careful_trial)
    refusal = None
    try:
        run(tmp_path, study, executor)
    except PodiumError as error:
        refusal = error
    if refusal is None:
        assert kind in UNHARMED or (kind, damage) in UNHARMED
        assert_frame_equal(tables(tmp_path, study), undisturbed)
        return
    assert refusal.exit_code == 2
    assert file.name in str(refusal) or str(paths.folder) in str(refusal)
    assert not executor.has_started
    assert bytes_of(paths) == before


# What no number of a study depends on, or what is made again to the same bits.
UNHARMED = {
    *("attempt", "gathered attempts", "checkpoint", "model", "embeddings"),
    *(("trial", "deleted"), ("gathered trials", "deleted")),
}


class Started(InProcessExecutor):
    """Knows whether it was ever asked to run."""

    has_started = False

    def run(self, scheduler):
        self.has_started = True
        super().run(scheduler)


def bytes_of(paths: StudyPaths):
    """Every file but the log of a run, which says why it was refused."""
    return {
        str(path.relative_to(paths.folder)): path.read_bytes()
        for path in sorted(paths.folder.rglob("*"))
        if path.is_file() and path.name != ".lock-guard" and path.parent != paths.logs
    }


def read_as(kind, paths, file):
    """What the reader of that kind makes of a file."""
    match kind:
        case "trial" | "gathered trials":
            return Reader(paths.folder).trials().collect().rows()
        case "ask":
            return read_ask(paths, file)
        case "checkpoint":
            return verified_archive(file.read_bytes())
        case "model" | "embeddings":
            return decode_tensors(file.read_bytes(), kind, str(file)).facts
        case "study.yaml":
            return text_without_checksum(file, file.read_bytes())
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
