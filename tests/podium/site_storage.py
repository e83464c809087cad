"""A storage of small studies: two that are comparable, one that is not, and broken folders."""

import shutil
from dataclasses import replace

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.study.study import KeepSettings, StudyLoss
from tests.orchestrator.small_study import run_here, with_search

COMPARABLE = {"berlin": ("contrastive", "margin"), "kyoto": ("contrastive", "proxy_anchor")}
BROKEN = ("altered", "bitrot", "foreign", "half")


def run_small(storage, name, losses, *, trials=2):
    """Run a study that keeps neither weights nor embeddings."""
    study = replace(
        with_search(trials=trials),
        name=name,
        embedding_dims=(8,),
        losses=tuple(map(StudyLoss, losses)),
        keep=KeepSettings(models=False, embeddings=False),
    )
    assert run_here(study, storage).progress.failed == 0
    return storage / name


def make_storage(storage):
    """Two studies that may be merged, and one whose searches had another budget."""
    for name, losses in COMPARABLE.items():
        run_small(storage, name, losses)
    run_small(storage, "pilot", COMPARABLE["kyoto"], trials=3)
    return storage


def add_broken(storage):
    """A changed record, a flipped bit, a folder of somebody's, and half a study."""
    for name in BROKEN:
        shutil.copytree(storage / "pilot", storage / name)
    provenance = StudyPaths(storage / "altered").provenance
    provenance.write_text(provenance.read_text().replace('"cpus": ', '"cpus": 9'))
    flip_bit(storage / "bitrot")
    StudyPaths(storage / "foreign").store.unlink()
    for folder in ("compacted", "trials_segments"):
        shutil.rmtree(storage / "half" / folder)
    return storage


def flip_bit(folder):
    """Damage the trials of a study, as a failing disk does."""
    damaged = next((folder / "trials_segments").glob("*.parquet"))
    content = bytearray(damaged.read_bytes())
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
