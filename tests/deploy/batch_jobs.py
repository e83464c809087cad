"""What batch jobs see. Only Slurm itself is stood in for, by `fake_slurm/`."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "deploy" / "slurm"
FAKE_SLURM = Path(__file__).with_name("fake_slurm")
JOB = 10_000 + os.getpid() % 10_000  # names a folder in /tmp: other tests run beside

STUDY = """
study: tiny
datasets: [{name: glyphs, script: greek, classes: 40, instances_per_class: 6}]
backbones: [conv_small]
embedding_dims: [8]
losses: [contrastive]
protocol: {kind: fixed, val_fraction: 0.4}
search: {trials: 12, early_stopping: none, max_concurrent: 2}
final: {seeds: 1}
training: {epochs: 2}
"""


def environment(folder, *first_on_path, **more):
    path = os.pathsep.join(
        map(str, (*first_on_path, FAKE_SLURM, Path(sys.executable).parent, os.environ["PATH"]))
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    return {
        **kept,
        "PATH": path,
        "PYTHONPATH": str(ROOT),
        "RAY_worker_niceness": "0",
        "FAKE_SLURM_LOG": str(folder / "slurm.log"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "SLURM_JOB_ID": str(JOB),
        "SLURM_JOB_NUM_NODES": "2",
        "SLURM_CPUS_PER_TASK": "1",
        **more,
    }


def requeues(folder):
    log = folder / "slurm.log"
    lines = log.read_text().splitlines() if log.exists() else []
    return lines.count(f"scontrol requeue {JOB}")
