"""What the provenance of a study must hold, so that nothing is left out in silence or misread."""

from collections.abc import Mapping
from typing import Any

from orchestrator.results.records.fairness_record import Fairness
from orchestrator.results.records.store_paths import is_file_name
from orchestrator.results.storage.locations import Place
from podium.errors import CorruptFileError

_VERSIONS = ("numerics_version", "podium_version", "python_version", "torch_version")
_NUMBERS = (int, float)


def check_versions(path: Place, values: Mapping[str, Any]) -> None:
    """Refuse a provenance without its versions.

    Args:
        path: file of the provenance, for the message.
        values: what it holds.

    Raises:
        CorruptFileError: a version is missing, or that of the numerics is no number.
    """
    missing = [name for name in _VERSIONS if values.get(name) is None]
    if missing:
        raise CorruptFileError(f"{path} lacks {', '.join(missing)}. Restore the original file")
    if type(values["numerics_version"]) is not int:
        raise _damaged(path, "numerics_version", values["numerics_version"])


def check_parts(path: Place, values: Mapping[str, Any]) -> None:
    """Refuse spaces, differences and kinds of losses that are none; older files lack them.

    Args:
        path: file of the provenance, for the message.
        values: what it holds.

    Raises:
        CorruptFileError: ``spaces``, ``fairness``, ``loss_kinds`` or ``code`` is not what podium
            writes.
    """
    spaces, fairness = values.get("spaces", {}), values.get("fairness")
    if not _are_spaces(spaces):
        raise _damaged(path, "spaces", spaces)
    if fairness is not None and not _is_fairness(fairness):
        raise _damaged(path, "fairness", fairness)
    kinds = values.get("loss_kinds", {})
    if not (isinstance(kinds, dict) and all(isinstance(kind, str) for kind in kinds.values())):
        raise _damaged(path, "loss_kinds", kinds)
    code = values.get("code", {})
    if not (isinstance(code, dict) and all(map(_is_code, code.values()))):
        raise _damaged(path, "code", code)


def _damaged(path: Place, name: str, value: object) -> CorruptFileError:
    return CorruptFileError(
        f"{path} is damaged at {name}: it holds {value!r:.60}. Restore the original file"
    )


def _is_code(values: object) -> bool:
    """Whether these are fingerprint, files and packages; no name leads out of the folder."""
    match values:
        case {"fingerprint": str(fingerprint), "files": list(files), "packages": dict()}:
            names = (part for file in files for part in str(file).split("/"))
            return all(map(is_file_name, (fingerprint, *names)))
    return False


def _are_spaces(values: object) -> bool:
    """Loss -> spaces, each with its blocks and parameters."""
    return isinstance(values, dict) and all(
        isinstance(spaces, list) and all(map(_is_space, spaces)) for spaces in values.values()
    )


def _is_space(space: object) -> bool:
    return (
        isinstance(space, dict)
        and space.keys() >= {"blocks", "parameters"}
        and isinstance(space["blocks"], list)
        and isinstance(space["parameters"], dict)
        and all(map(_is_parameter, space["parameters"].values()))
    )


def _is_parameter(given: object) -> bool:
    if not isinstance(given, dict):
        return False
    if given.get("kind") == "choice":
        return isinstance(given.get("values"), list)
    return (
        given.get("kind") in ("int", "real")
        and type(given.get("low")) in _NUMBERS
        and type(given.get("high")) in _NUMBERS
        and type(given.get("log")) is bool
        and type(given.get("step")) in (*_NUMBERS, type(None))
        and isinstance(given.get("unit", ""), str)
    )


def _is_fairness(values: Any) -> bool:
    try:
        record = Fairness.from_dict(values)
        texts = [*record.equal.values(), *record.settings.values(), *map(str, record.disparities)]
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return False
    for item in record.disparities:
        texts += [item.area, item.reason, *item.blocks]
        texts += [text for side in item.sides for text in (side.value, *side.competitors)]
    return all(isinstance(text, str) for text in texts)
