"""Where results come from: versions, code and hardware."""

import os
import platform
import subprocess
import sys
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil

from podium.orchestrator.ids_and_seeds import NUMERICS_VERSION
from podium.orchestrator.redaction import redacted
from podium.trainables.metrics.clustering_facts import CLUSTERING

_LIBRARIES = ("torch", "ray", "optuna", "polars", "pyarrow", "numpy")


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """Versions that go into every row; ``git_commit`` is None outside a git repository."""

    podium_version: str
    torch_version: str
    python_version: str
    git_commit: str | None

    def columns(self) -> dict[str, object]:
        """As columns of a trial's row."""
        return asdict(self)


def current_versions() -> Versions:
    """Versions of this process; read from package metadata, so torch is not imported."""
    return Versions(
        podium_version=metadata.version("podium"),
        torch_version=metadata.version("torch"),
        python_version=platform.python_version(),
        git_commit=_git("rev-parse", "HEAD"),
    )


def provenance() -> dict[str, Any]:
    """What is stored with the snapshot of a study: libraries, git state, hardware, command."""
    status = _git("status", "--porcelain")
    return {
        **asdict(current_versions()),
        "numerics_version": NUMERICS_VERSION,
        "clustering": CLUSTERING,
        "libraries": {name: metadata.version(name) for name in _LIBRARIES},
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
