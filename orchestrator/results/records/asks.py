"""Asks: what each suggestion of a search became, written before its trial starts.

An ask is the lease on a trial, and what a search is rebuilt from after a restart. One JSON file
per suggestion; the first to write an index has it.

The first asks of a search, or all, are gathered in one file. It is written whole before the files
of single asks are deleted, so whatever is killed in between, each is found; one that is found
twice counts once, as it is in the gathered file.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import PlainValidator
from pydantic.dataclasses import dataclass

from orchestrator.results.records.json_records import (
    LARGEST,
    STRICT,
    Count,
    FileName,
    RecordKind,
)
from orchestrator.results.records.store_paths import StudyPaths, is_file_name
from orchestrator.results.storage.checksummed_text import with_checksum
from orchestrator.results.storage.files import (
    exists,
    list_below,
    list_names,
    put_if_absent,
    remove,
    remove_all,
    remove_folder,
    to_json,
)
from orchestrator.results.storage.locations import Place
from podium.errors import CorruptFileError

AskSource = Literal["default", "given", "sampler"]


def _value(value: object) -> object:
    if type(value) not in (bool, int, float, str):
        raise ValueError("must be a plain bool, int, float or str")
    if isinstance(value, int) and abs(value) > LARGEST:
        raise ValueError("is out of bounds")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("must be a finite number")
    return value


Value = Annotated[bool | int | float | str, PlainValidator(_value)]
"""A hyperparameter, which comes back from JSON with the type it had."""


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
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
    index: Count
    trial_id: FileName
    config_hash: str
    hyperparameters: Mapping[str, Value]
    source: AskSource


_KIND = RecordKind(Ask, "ask", "asks", lambda paths, it: paths.ask(it.search, it.index))


def write_ask(paths: StudyPaths, ask: Ask) -> bool:
    """Write an ask; False, and nothing changes, if that index of the search is taken.

    A gathered ask is taken too, but is not looked for, which would be a request to a bucket each
    time: the ask would not count. Callers hold the study's lock, and see that they still do.

    Raises:
        ValueError: a hyperparameter is NaN or infinite.
    """
    return put_if_absent(_KIND.place(paths, ask), to_json(with_checksum(_KIND.values(ask))))


def read_asks(paths: StudyPaths, searches: Collection[str] | None = None) -> dict[str, list[Ask]]:
    """Asks by search, in the order of their index.

    Args:
        paths: paths of the results folder.
        searches: ids of the searches that are meant, of which any that cannot be the name of a
            file has no asks; None for all.

    Raises:
        CorruptFileError: a file is truncated, or is not the ask its name says, or one is missing.
    """
    wanted = None if searches is None else sorted(filter(is_file_name, searches))
    while True:
        loose = _loose_files(paths, wanted)
        try:
            return _read(paths, wanted, loose)
        except CorruptFileError:
            if _loose_files(paths, wanted) == loose:  # else they are being gathered
                raise


def read_ask(paths: StudyPaths, path: Place) -> Ask:
    """The ask in a file of its own.

    Raises:
        CorruptFileError: the file is missing, truncated, or is not the ask its name says.
    """
    return _KIND.read(paths, path)


def read_gathered_asks(paths: StudyPaths, search: str) -> list[Ask]:
    """The asks of a search that are gathered, in the order of their index; often none are.

    Raises:
        CorruptFileError: the file is truncated, or does not hold the first asks of the search.
    """
    ((_, asks),) = _gathered(paths, [search])
    return asks


def gathered_searches(paths: StudyPaths) -> list[str]:
    """Sorted ids of searches with gathered asks."""
    return [name.removesuffix(".json") for name in list_names(paths.asks, ".json")]


def gather_asks(
    paths: StudyPaths,
    search: str,
    asks: Sequence[Ask],
    check: Callable[[], object] = lambda: None,
) -> None:
    """Put the asks of a search into one file; nothing happens if none has a file of its own.

    The folder of such files stays: the next ask may be about to be written there.

    Args:
        paths: paths of the results folder, whose lock is held.
        search: id of the search.
        asks: all its asks, by index.
        check: called right before anything is replaced or deleted; what it raises ends it, and
            nothing is lost.

    Raises:
        CorruptFileError: the file cannot be read.
        StoreError: it cannot be written, or another process has gathered more.
    """
    folder = paths.ask_folder(search)
    names = set(list_names(folder, ".json"))
    loose = [file for ask in asks if (file := _KIND.place(paths, ask)).name in names]
    if loose:
        check()
        write_gathered_asks(paths, search, asks)
        check()
        remove_all(loose)


def write_gathered_asks(paths: StudyPaths, search: str, asks: Sequence[Ask]) -> None:
    """Write all asks of a search, by index, into its one file.

    Raises:
        CorruptFileError: what the file holds is damaged.
        StoreError: the file cannot be written, or holds others or more, which stay.
    """
    whole = list(asks)
    _KIND.write_gathered(
        paths, paths.gathered_asks(search), whole, lambda held: held == whole[: len(held)]
    )


def remove_asks(paths: StudyPaths, search: str) -> None:
    """Delete the asks of a search, the last first: whatever is left by then is whole."""
    folder = paths.ask_folder(search)
    for name in reversed(list_names(folder, ".json")):
        remove(folder / name)
    remove_folder(folder)
    remove(paths.gathered_asks(search))


def file_of_ask(paths: StudyPaths, search: str, index: int) -> Place:
    """The file that holds an ask, for messages; its own if there is none."""
    gathered = paths.gathered_asks(search)
    own = paths.ask(search, index)
    return gathered if exists(gathered) and not exists(own) else own


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


def _loose_files(paths: StudyPaths, searches: Sequence[str] | None) -> list[Place]:
    if searches is None:
        return list(list_below(paths.asks, ".json"))
    folders = map(paths.ask_folder, searches)
    return [folder / name for folder in folders for name in list_names(folder, ".json")]


def _read(
    paths: StudyPaths, searches: Sequence[str] | None, loose: Sequence[Place]
) -> dict[str, list[Ask]]:
    """The asks; the gathered ones are read after ``loose`` was listed, as these go later."""
    wanted = gathered_searches(paths) if searches is None else searches
    found = {search: asks for search, asks in _gathered(paths, wanted) if asks}
    own = [path for path in loose if not is_gathered(path, len(found.get(path.parent.name, ())))]
    for ask in _KIND.read_many(paths, own):
        found.setdefault(ask.search, []).append(ask)
    for search, asks in found.items():
        check_indices(paths, search, asks)
    return dict(sorted(found.items()))


def is_gathered(path: Place, num_gathered: int) -> bool:
    """Whether the file of a single ask is one of the first of its search that are gathered."""
    return path.stem.isdecimal() and int(path.stem) < num_gathered


def _gathered(paths: StudyPaths, searches: Sequence[str]) -> Iterator[tuple[str, list[Ask]]]:
    files = [paths.gathered_asks(search) for search in searches]
    for search, file, asks in zip(searches, files, _KIND.read_gathered(files), strict=True):
        for index, ask in enumerate(asks):
            if (ask.search, ask.index) != (search, index):
                raise CorruptFileError(
                    f"{file} holds ask {ask.index} of search {ask.search} where it must hold ask"
                    f" {index} of the search that it is named after. Restore the original file"
                )
        yield search, asks
