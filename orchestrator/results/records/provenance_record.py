"""What the provenance of a study must hold, so that nothing is left out in silence or misread."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from orchestrator.results.records.fairness_record import Fairness
from orchestrator.results.records.store_paths import is_file_name
from orchestrator.results.storage.locations import Place
from podium.errors import CorruptFileError

_VERSIONS = ("numerics_version", "podium_version", "python_version", "torch_version")


def _inside(path: str) -> str:
    if not all(map(is_file_name, path.split("/"))):
        raise ValueError("must be a path that leads nowhere else")
    return path


_Path = Annotated[str, AfterValidator(_inside)]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, allow_inf_nan=False)


class _Choice(_Strict):
    kind: Literal["choice"]
    values: list[Any]


class _Range(_Strict):
    kind: Literal["int", "real"]
    low: float
    high: float
    log: bool
    step: float | None
    unit: str = ""


class _Space(_Strict):
    blocks: list[str]
    parameters: dict[str, _Choice | _Range]


class _Code(_Strict):
    fingerprint: _Path
    files: list[_Path]
    packages: dict[str, Any]


class _Parts(BaseModel):
    spaces: dict[str, list[_Space]] = {}
    fairness: Fairness | None = None
    loss_kinds: dict[str, str] = {}
    code: dict[str, _Code] = {}
    data: dict[str, dict[str, str]] = {}


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
    """Refuse spaces, differences, kinds of losses, code and hashes of data that are none.

    Args:
        path: file of the provenance, for the message.
        values: what it holds.

    Raises:
        CorruptFileError: ``spaces``, ``fairness``, ``loss_kinds``, ``code`` or ``data`` is not
            what podium writes.
    """
    try:
        _Parts.model_validate(values)
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        raise _damaged(path, name, values[name]) from None


def _damaged(path: Place, name: str, value: object) -> CorruptFileError:
    return CorruptFileError(
        f"{path} is damaged at {name}: it holds {value!r:.60}. Restore the original file"
    )
