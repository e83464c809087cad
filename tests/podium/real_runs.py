"""Commands in processes of their own, and runs that something befalls."""

import subprocess
import sys
import time

from tests.orchestrator.ray_cluster import ROOT
from tests.orchestrator.small_study import STUDY

TINY_STUDY = f"""
study: {STUDY.name}
datasets: [{{name: glyphs, script: latin, classes: 40, instances_per_class: 6}}]
losses: [contrastive]
embedding_dims: [8]
search: {{trials: 6}}
final: {{seeds: 1}}
training: {{epochs: 1}}
keep: {{models: false, embeddings: false}}
"""


def command(*arguments) -> list[str]:
    """The words of ``podium ARGUMENTS``."""
    return [sys.executable, "-m", "podium", *map(str, arguments)]


def run_with_first_trial(words, folder) -> subprocess.Popen:
    """A run under way that has stored its first trial."""
    running = subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    while not list(folder.glob("trials/*/*.parquet")):
        assert running.poll() is None, running.communicate()[0]
        time.sleep(0.02)
    return running
