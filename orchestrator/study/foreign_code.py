"""What a study names by import path or file, and whether its code is what was recorded."""

from collections.abc import Iterable, Mapping
from typing import Any

from podium.errors import CorruptFileError
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.files import read_bytes
from podium.trainables.foreign_code import ForeignCode, foreign_code
from podium.trainables.network.backbone_facts import is_external
from podium.trainables.settings.loss_expression import parse_loss


def import_paths(losses: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    """All that losses, and backbones and transforms, name by import path or file, once, sorted."""
    terms = [term for loss in losses for term in parse_loss(loss).all_terms]
    named = {term.name for term in terms if term.is_external}
    return tuple(sorted(named | {name for name in others if is_external(name)}))


def code_of_trial(code: Mapping[str, str], loss: str, *others: str) -> dict[str, str]:
    """The part of a study's code, import path -> fingerprint, that a trial runs.

    Args:
        code: that of the study.
        loss: the trial's loss.
        others: its backbone and its transform.
    """
    if not code:
        return {}
    return {path: code[path] for path in import_paths((loss,), others) if path in code}


def code_now(import_paths: Iterable[str]) -> dict[str, ForeignCode]:
    """Import path -> its code on this machine; what is podium's own is left out.

    Raises:
        TrialInputError: there is no such module, or its files cannot be read.
    """
    found = {path: foreign_code(path) for path in import_paths}
    return {path: code for path, code in found.items() if code is not None}


def changed_code(code: Mapping[str, str]) -> dict[str, str]:
    """Import path -> what is said of it where the code is not what was recorded.

    Args:
        code: import path -> recorded fingerprint.

    Raises:
        TrialInputError: as `code_now`.
    """
    now = {path: found.fingerprint for path, found in code_now(code).items()}
    return {
        path: f"{path}: the code has SHA-256 {now.get(path)}, recorded is {fingerprint}"
        for path, fingerprint in code.items()
        if now.get(path) != fingerprint
    }


def read_copies(paths: StudyPaths, told: Mapping[str, Any]) -> dict[str, bytes]:
    """The copies of the code that the provenance tells of, name -> bytes.

    Args:
        paths: the results folder.
        told: fingerprint, files and packages of one import path.

    Raises:
        CorruptFileError: a copy is missing, or all of them are not what was recorded.
    """
    folder = paths.code_folder(told["fingerprint"])
    found = {name: read_bytes(folder / name) or b"" for name in told["files"]}
    if ForeignCode(sources=found, packages=told["packages"]).fingerprint != told["fingerprint"]:
        raise CorruptFileError(
            f"{folder} is not the copy of the code that was recorded. Restore its files:"
            f" {', '.join(told['files'])}"
        )
    return found
