"""Where results come from: versions, code and hardware."""

import os
import platform
import subprocess
import sys
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil

from podium.orchestrator.ids_and_seeds import NUMERICS_VERSION
from podium.orchestrator.redaction import redacted
from podium.trainables.metrics.clustering_facts import CLUSTERING

_LIBRARIES = ("torch", "ray", "optuna", "polars", "pyarrow", "numpy")

version = cache(metadata.version)
"""The version of an installed library, whose metadata take 20 ms to read."""


def current_versions() -> dict[str, str | None]:
    """Columns of every row, read without torch; no ``git_commit`` outside a git repository."""
    return {
        "podium_version": version("podium"),
        "torch_version": version("torch"),
        "python_version": platform.python_version(),
        "git_commit": _git("rev-parse", "HEAD"),
    }


def provenance() -> dict[str, Any]:
    """What is stored with the snapshot of a study: libraries, git state, hardware, command."""
    status = _git("status", "--porcelain")
    return {
        **current_versions(),
        "numerics_version": NUMERICS_VERSION,
        "clustering": CLUSTERING,
        "libraries": {name: version(name) for name in _LIBRARIES},
        "git_dirty": None if status is None else bool(status),
        "platform": platform.platform(),
        "cpus": psutil.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 2**30, 1),
        "visible_gpus": os.environ.get("CUDA_VISIBLE_DEVICES"),
        "command": redacted(" ".join([Path(sys.argv[0]).name, *sys.argv[1:]])),
    }


def _git(*arguments: str) -> str | None:
    """Output of a git command in the current folder, where studies and losses of one's own lie."""
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=Path.cwd(),
            capture_output=True,
            text=True,
            check=True,
            timeout=5,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
