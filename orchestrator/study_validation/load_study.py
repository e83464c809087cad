"""Loads a study strictly: all problems are reported together, each with its file and line."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from podium.errors import StudyError
from podium.orchestrator.study.blocks import NUM_FINALISTS
from podium.orchestrator.study.study import MAX_TRIALS, Study
from podium.orchestrator.study_parser.expected_values import with_expected
from podium.orchestrator.study_parser.file_paths import MAX_STUDY_BYTES, UnreadableError, read_text
from podium.orchestrator.study_parser.parse_study import read_place, read_study
from podium.orchestrator.study_parser.problems import Problems
from podium.orchestrator.study_parser.yaml_tree import Given, compose, plain_tree
from podium.orchestrator.study_validation.check_study import check_study

# Losses of 50, data sets, backbones, dimensions and protocols of 10 each are half of it.
_MAX_SEARCHES = 1_000_000


def load_study(
    given: Path | Mapping[str, object], overrides: Sequence[str] | Mapping[str, object] = ()
) -> Study:
    """The study of a YAML file, or of the same keys as plain values, with every default filled in.

    Args:
        given: study file, or its keys and values.
        overrides: texts like ``search.trials=8``, applied in their order; what follows the ``=``
            is YAML. Or a mapping of such keys to plain values.

    Raises:
        StudyError: the file, a value or an override is wrong. Each problem is a line
            ``file:line: rule; got value; choices``; those of values have their key in place of
            file and line, those of an override ``--set key`` or ``overrides key``.
    """
    root = compose(_read(given), str(given)) if isinstance(given, Path) else plain_tree(given)
    if isinstance(overrides, Mapping):
        for name, value in overrides.items():
            _override(root, name, plain_tree(value, f"overrides {name}"), f"overrides {name}")
    for text in () if isinstance(overrides, Mapping) else overrides:
        name, equals, value = text.partition("=")
        if not equals or not all(name.split(".")):
            raise StudyError([f"--set {text}: an override must look like search.trials=8"])
        source = f"--set {name}"
        _override(root, name, compose(value, source, has_lines=False), source)
    problems = Problems(root)
    study = read_study(root, problems)
    check_size(study, problems)
    check_study(study, problems)
    study = with_expected(study, root, problems)
    problems.raise_any()
    return study


def study_place(path: Path) -> tuple[str, str]:
    """Name and storage of the study in a YAML file; nothing else in it is read, or imported.

    Raises:
        StudyError: the file is no YAML, or these are wrong.
    """
    root = compose(_read(path), str(path))
    problems = Problems(root)
    place = read_place(root, problems)
    problems.raise_any()
    return place


def _read(path: Path) -> str:
    try:
        return read_text(path, MAX_STUDY_BYTES)
    except UnreadableError as error:
        raise StudyError([f"{path}: the study file cannot be read: {error}"]) from None


def _override(root: Given, name: str, value: Given, source: str) -> None:
    if isinstance(root.values, dict):
        root.override(name.split("."), value, source)


def check_size(study: Study, problems: Problems) -> None:
    """Refuse a study that is too large to be planned or checked.

    Raises:
        StudyError: all problems so far, and this one. What else is wrong would be found by going
            through every search.
    """
    counts = {
        "data sets": len(study.datasets),
        "backbones": len(study.backbones),
        "embedding dimensions": len(study.embedding_dims),
        "image sizes": max(1, len(study.image_sizes)),
        "losses": len(study.loss_names),
        "protocols": len(study.protocols),
        "repeats": study.search.repeats,
    }
    num_searches = math.prod(counts.values())
    factors = " x ".join(f"{count} {name}" for name, count in counts.items() if count > 1)
    if num_searches > _MAX_SEARCHES:
        has = f"{num_searches} searches ({factors})"
        problems.add((), f"a study must have at most {_MAX_SEARCHES} searches, and this has {has}")
        problems.raise_any()
    num_trials = num_searches * (study.search.trials + _num_finals(study))
    if num_trials > MAX_TRIALS:
        rule = f"a study must have at most {MAX_TRIALS} trials, and this has up to {num_trials}"
        problems.add((), f"{rule} in {num_searches} searches: lower search.trials or final.seeds")
        problems.raise_any()


def _num_finals(study: Study) -> int:
    """Upper bound of the final trials of one search, those of baselines included."""
    protocols = [*study.protocols, study.final.protocol]
    folds = max(protocol.num_folds for protocol in protocols if protocol is not None)
    return study.final.seeds * (NUM_FINALISTS + 1) * (folds + 1)
