"""A real results folder with every kind of file, and ways to damage it."""

import hashlib
import json
import random
import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl

from podium.errors import PodiumError
from podium.kept_files.tensor_file import encode_tensors
from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.files import put
from podium.orchestrator.study.study import FinalSettings, KeepSettings, StudyLoss
from podium.orchestrator.verify.verify_store import verify_store
from podium.trainables.errors import CheckpointError
from podium.trainables.trial.checkpoint import add_checksum, verified_archive
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.small_study import STUDY, InterruptedAfter, rows, run_here

TINY = replace(
    STUDY,
    embedding_dims=(8,),
    losses=(StudyLoss("contrastive"),),
    search=replace(STUDY.search, trials=5),
    final=FinalSettings(seeds=1),
    keep=KeepSettings(models=False, embeddings=False),
)
KEEPING = replace(TINY, keep=KeepSettings())
_STEPS = 9  # into the run: trials committed, one under way


def careful_trial(settings, *, resume, save, keep=None):
    """A simulated trial whose checkpoints are as safe as those of real ones."""
    own = hashlib.sha256(json.dumps(settings.to_dict()).encode()).hexdigest()
    state = None
    if resume is not None:
        values = json.loads(verified_archive(resume))
        if values["identity"] != own:
            raise CheckpointError("the checkpoint is of another trial or of other data")
        state = values["state"].encode()

    def sealed(content):
        save(add_checksum(json.dumps({"identity": own, "state": content.decode()}).encode()))

    yield from simulated_trial(settings, resume=state, save=sealed, keep=keep)


def run(storage, study=TINY, executor=None):
    """Run a study to its end, or as far as the executor goes."""
    return run_here(study, storage, executor or InProcessExecutor(careful_trial))


def interrupted_store(storage, study=TINY, steps=_STEPS):
    """Loose trial files, and a trial under way with its checkpoint."""
    assert run(storage, study, InterruptedAfter(steps, careful_trial)).interrupted
    return StudyPaths(storage / study.name)


def finished_store(storage, study=TINY):
    """Gathered files, weights and embeddings."""
    paths = StudyPaths(storage / study.name)
    run(storage, study)
    tested = rows(storage, study).filter(pl.col("stage") != "search")
    for trial_id, stage, fold in tested.select("trial_id", "stage", "fold").rows():
        facts = {"origin": {"trial_id": trial_id}}
        if stage == "final":
            put(paths.model(trial_id, fold), encode_tensors("model", facts, {}))
        put(paths.test_embeddings(trial_id, fold), encode_tensors("embeddings", facts, {}))
    return paths


def problems(folder):
    """What verify has to say against a folder."""
    try:
        return "\n".join(verify_store(folder).problems)
    except PodiumError as error:
        return str(error)


def a_file(paths: StudyPaths, pattern: str, number: int = 0) -> Path:
    """A file of the folder."""
    return sorted(paths.folder.glob(pattern))[number]


def a_place(paths: StudyPaths, pattern: str) -> Path:
    """A path in a folder that is there or is made."""
    above, _, name = pattern.rpartition("/")
    folder = a_file(paths, above) if "*" in above else paths.folder / above
    folder.mkdir(exist_ok=True)
    return folder / name


def copy_of(paths: StudyPaths, storage: Path) -> StudyPaths:
    """The same folder in another storage."""
    shutil.copytree(paths.folder, storage / paths.folder.name)
    return StudyPaths(storage / paths.folder.name)


def flip(path: Path, bit: int) -> None:
    """Flip one bit of a file."""
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)


def some_bits(path: Path, count: int, seed: int = 0) -> list[int]:
    """Bits of a file."""
    return random.Random(seed).sample(range(8 * path.stat().st_size), count)
