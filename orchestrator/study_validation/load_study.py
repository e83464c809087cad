"""Loads a study strictly: problems are reported together, each with its file and line.

First come those of values, and once each value is right by itself, those of combinations.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from podium.errors import StudyError
from podium.orchestrator.study.study import Study
from podium.orchestrator.study_parser.expected_values import with_expected
from podium.orchestrator.study_parser.file_paths import MAX_STUDY_BYTES, UnreadableError, read_text
from podium.orchestrator.study_parser.parse_study import read_place, read_study
from podium.orchestrator.study_parser.problems import Problems
from podium.orchestrator.study_parser.yaml_tree import compose, plain_tree
from podium.orchestrator.study_validation.check_study import check_size, check_study


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
            root = root.override(name.split("."), plain_tree(value, f"overrides {name}"))
    for text in () if isinstance(overrides, Mapping) else overrides:
        name, equals, value = text.partition("=")
        if not equals or not all(name.split(".")):
            raise StudyError([f"--set {text}: an override must look like search.trials=8"])
        root = root.override(name.split("."), compose(value, f"--set {name}", has_lines=False))
    problems = Problems(root)
    study = read_study(root, problems)
    check_size(study, problems)
    problems.raise_any()
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
    return read_place(root, Problems(root))


def _read(path: Path) -> str:
    try:
        return read_text(path, MAX_STUDY_BYTES)
    except UnreadableError as error:
        raise StudyError([f"{path}: the study file cannot be read: {error}"]) from None
