"""Writes study files for tests and loads them."""

import re
from pathlib import Path

import pytest

from podium.errors import StudyError
from podium.orchestrator.study.study import Study
from podium.orchestrator.study_validation.load_study import load_study

MINIMAL = "study: x\nlosses: [contrastive]\n"

# Nearly every key of a study file.
FULL = """
study: full.one-2
datasets: [{name: glyphs, script: latin, classes: 100}, {name: glyphs, script: greek}]
backbones: [conv_small]
embedding_dims: [16, 32]
losses:
  - contrastive
  - {loss: proxy_anchor, space: {alpha: {low: 4, high: 100, log: true}, margin: [0.1, 1]}}
protocol: {kind: fixed, val_fraction: 0.25, split_seed: 3}
search:
  sampler: random
  trials: 7
  space: joint
  tune: [learning_rate, proxy_learning_rate]
  early_stopping: {kind: asha, grace_epochs: 2, reduction_factor: 4}
  order: deterministic
  lag: 3
  repeats: 2
  max_concurrent: 4
final: {seeds: 5, protocol: {kind: kfold, folds: 5}}
training: {recipe: fast, epochs: 3, learning_rate: 2e-3, batch_size: 32}
metrics: {k: [2, 1]}
resources:
  cpus_per_trial: 2
  gpus_per_trial: 0.5
  trial_hours: 1.5
  stuck_minutes: null
seed: 11
storage: /data/podium
"""

FOUR_PROTOCOLS = """\
study: crossed
losses: [contrastive, proxy_anchor]
protocol:
  - {name: 80-20, val_fraction: 0.2}
  - {name: 60-40, kind: fixed, val_fraction: 0.4, split_seed: 3}
  - {kind: kfold, folds: 3}
  - {kind: test_tuned}
"""


def load(folder: Path, text: str, *overrides: str) -> Study:
    """The study with this text, from a file called ``s.yaml``."""
    file = folder / "s.yaml"
    file.write_text(text)
    return load_study(file, overrides)


def problems_of(folder: Path, text: str, *overrides: str) -> list[str]:
    """What is said to be wrong with the text, without the folder's name."""
    with pytest.raises(StudyError, match=r"^\d+ problems? with the study:") as caught:
        load(folder, text, *overrides)
    return [re.sub(re.escape(str(folder)) + "/", "", line) for line in caught.value.problems]


def cases(table: str) -> list[tuple[str, ...]]:
    """The lines of a table, ``what is written -> what is said``, for `parametrize`."""
    return [tuple(line.strip().split(" -> ")) for line in table.strip().splitlines()]


def assert_matches(lines, patterns):
    """Each line is its pattern, in which only ``.*`` and ``\\d+`` are special."""
    assert len(lines) == len(patterns), lines
    for line, pattern in zip(lines, patterns, strict=True):
        assert matches(line, pattern), f"{line!r} is not {pattern!r}"


def matches(line, pattern):
    literal = re.escape(pattern).replace(r"\.\*", ".*").replace(r"\\d\+", r"\d+")
    return re.fullmatch(literal, line) is not None
