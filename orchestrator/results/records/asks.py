"""Asks: what each suggestion of a search became, written before its trial starts.

An ask is the lease on a trial, and what a search is rebuilt from after a restart. One JSON file
per suggestion; the first to write an index has it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from orchestrator.results.records.json_records import LARGEST, FileName, RecordKind
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.checksummed_text import with_checksum
from orchestrator.results.storage.files import list_below, put_if_absent, to_json
from orchestrator.results.storage.locations import Place
from podium.errors import CorruptFileError

AskSource = Literal["default", "given", "sampler"]

_VALUE_TYPES = (bool, int, float, str)


def _are_by_name(name: str, values: Any) -> Any:
    """Hyperparameters; the class checks their values."""
    if not isinstance(values, dict):
        raise ValueError(f"it must hold {name} by name")
    return values


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """The index-th suggestion of a search.

    Attributes:
        search: id of the search.
        index: number of the suggestion within its search, from 0.
        trial_id: trial that the suggestion became.
        config_hash: hash of its config.
        hyperparameters: plain bool, int, float and str; each comes back with the type it had.
        source: ``default`` for the published default, ``given`` for a config of the study's, and
            ``sampler`` for what a sampler drew.
    """

    search: FileName
    index: int
    trial_id: FileName
    config_hash: str
    hyperparameters: Annotated[Mapping[str, bool | int | float | str], _are_by_name]
    source: AskSource

    def __post_init__(self) -> None:
        """Raise ValueError for values that JSON would not give back as they were."""
        for name, value in self.hyperparameters.items():
            if type(value) not in _VALUE_TYPES:
                raise ValueError(
                    f"hyperparameter {name!r} must be a plain bool, int, float or str, "
                    f"got {value!r} of type {type(value).__name__}"
                )
            if type(value) is int and abs(value) > LARGEST:
                raise ValueError(f"hyperparameter {name!r} is out of bounds: {str(value)[:40]}")
        if self.source not in get_args(AskSource):
            raise ValueError(f"source must be one of {get_args(AskSource)}, got {self.source!r}")


_KIND = RecordKind(
    make=Ask,
    name="ask",
    plural="asks",
    title="ask {0.index} of search {0.search}",
    place=lambda paths, it: paths.ask(it.search, it.index),
)


def write_ask(paths: StudyPaths, ask: Ask) -> bool:
    """Write an ask; False, and nothing changes, if that index of the search is taken.

    Raises:
        ValueError: a hyperparameter is NaN or infinite.
    """
    return put_if_absent(_KIND.place(paths, ask), to_json(with_checksum(_KIND.values(ask))))


def read_asks(paths: StudyPaths) -> dict[str, list[Ask]]:
    """All asks by search, in the order of their index.

    Raises:
        CorruptFileError: a file is truncated, or is not the ask its name says, or one is missing.
    """
    found: dict[str, list[Ask]] = {}
    for ask in _KIND.read_many(paths, list_below(paths.asks, ".json")):
        found.setdefault(ask.search, []).append(ask)
    for search, asks in found.items():
        check_indices(paths, search, asks)
    return found


def read_ask(paths: StudyPaths, path: Place) -> Ask:
    """The ask in a file.

    Raises:
        CorruptFileError: the file is missing, truncated, or is not the ask its name says.
    """
    return _KIND.read(paths, path)


def check_indices(paths: StudyPaths, search: str, asks: Sequence[Ask]) -> None:
    """Refuse asks of a search that do not count 0, 1, 2, ... without a gap.

    Raises:
        CorruptFileError: naming the first file that is missing.
    """
    for index, ask in enumerate(asks):
        if ask.index != index:
            raise CorruptFileError(
                f"{paths.ask(search, index)} is missing, while there are later ones: asks are "
                "never deleted. Restore the file from a copy"
            )
