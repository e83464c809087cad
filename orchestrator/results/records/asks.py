"""Asks: what each suggestion of a search became, written before its trial starts.

An ask is the lease on a trial, and what a search is rebuilt from after a restart. One JSON file
per suggestion; the first to write an index has it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

from orchestrator.results.errors import CorruptFileError
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.checksummed_text import read_sealed, read_sealed_of, sealed
from orchestrator.results.storage.files import (
    list_below,
    put_if_absent,
    to_json,
)
from orchestrator.results.storage.locations import Place

__all__ = ["Ask", "AskSource", "check_numbers", "read_ask", "read_asks", "write_ask"]

AskSource = Literal["default", "given", "sampler"]

_VALUE_TYPES = (bool, int, float, str)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """The index-th suggestion of a search.

    Attributes:
        hyperparameters: plain bool, int, float and str; each comes back with the type it had.
        source: ``default`` for the published default, ``given`` for a config of the study's, and
            ``sampler`` for what a sampler drew.
    """

    search: str
    index: int
    trial_id: str
    config_hash: str
    hyperparameters: Mapping[str, bool | int | float | str]
    source: AskSource

    def __post_init__(self) -> None:
        """Refuse what would not come back as it was."""
        for name, value in self.hyperparameters.items():
            if type(value) not in _VALUE_TYPES:
                raise ValueError(
                    f"hyperparameter {name!r} must be a plain bool, int, float or str, "
                    f"got {value!r} of type {type(value).__name__}"
                )
        if self.source not in get_args(AskSource):
            raise ValueError(f"source must be one of {get_args(AskSource)}, got {self.source!r}")


_FIELDS = {field.name for field in fields(Ask)}


def write_ask(paths: StudyPaths, ask: Ask) -> bool:
    """Write an ask; False, and nothing changes, if that index of the search is taken.

    Raises:
        ValueError: a hyperparameter is NaN or infinite.
    """
    return put_if_absent(paths.ask(ask.search, ask.index), to_json(sealed(asdict(ask))))


def read_asks(paths: StudyPaths) -> dict[str, list[Ask]]:
    """All asks by search, in the order of their index.

    Raises:
        CorruptFileError: a file is truncated, or is not the ask its name says, or one is missing.
    """
    files = list_below(paths.asks, ".json")
    found: dict[str, list[Ask]] = {}
    for path, values in zip(files, read_sealed_of(files), strict=True):
        found.setdefault(path.parent.name, []).append(_placed(paths, path, values))
    for search, asks in found.items():
        check_numbers(paths, search, asks)
    return found


def read_ask(paths: StudyPaths, path: Place) -> Ask:
    """The ask in a file.

    Raises:
        CorruptFileError: it is truncated, or is not the ask its name says.
    """
    return _placed(paths, path, read_sealed(path))


def check_numbers(paths: StudyPaths, search: str, asks: Sequence[Ask]) -> None:
    """Refuse asks of a search with a gap in their numbers.

    Raises:
        CorruptFileError: naming the first file that is missing.
    """
    for number, ask in enumerate(asks):
        if ask.index != number:
            raise CorruptFileError(
                f"{paths.ask(search, number)} is missing, while there are later ones: asks are "
                "never deleted. Bring back the file, from a copy"
            )


def _placed(paths: StudyPaths, path: Place, values: dict[str, Any] | None) -> Ask:
    if values is None:
        raise CorruptFileError(f"{path} vanished while it was read; asks are never deleted")
    ask = _ask(values, path)
    if paths.ask(ask.search, ask.index) != path:
        raise CorruptFileError(
            f"{path} holds ask {ask.index} of search {ask.search}, which does not fit its name"
        )
    return ask


def _ask(values: dict[str, Any], path: Place) -> Ask:
    if values.keys() != _FIELDS or not isinstance(values["hyperparameters"], dict):
        raise CorruptFileError(f"{path} is no ask: it must hold {', '.join(sorted(_FIELDS))}")
    try:
        return Ask(**values)
    except ValueError as error:
        raise CorruptFileError(f"{path} is no ask: {error}") from error
