"""Commands in processes of their own, and runs that something befalls."""

import sys

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
