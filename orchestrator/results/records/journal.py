"""The journal of a search: its asks, attempts and withdrawn failures, as they came.

::

    journal/<search>/<number>.jsonl      {"sha256": "...", "ask" | "attempt" | "retried": {...}}

The driver alone writes it. A line is sealed by the SHA-256 of the seal of the line before and of
its own text, so nothing can be changed, left out or put in between. Each run writes files of its
own: on a disk it appends to them; in a bucket it replaces them, and begins another where one has
become large.

A file continues where its run has read the files before. A driver that was stopped meanwhile and
wakes up may still write to its own: those lines do not count. Nor does the part of a line that a
driver left which was killed while writing it.
"""

import hashlib
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from pydantic import TypeAdapter

from podium.errors import CorruptFileError, StoreError
from podium.orchestrator.results.records.journal_records import Ask, Attempt, RetriedFailure
from podium.orchestrator.results.records.json_records import parsed
from podium.orchestrator.results.records.runs import Run, read_runs
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.files import (
    each,
    list_files,
    put,
    put_if_absent,
    read_bytes,
    remove,
)
from podium.orchestrator.results.storage.local_files import append
from podium.orchestrator.results.storage.locations import Place, RemotePath

Record: TypeAlias = Ask | Attempt | RetriedFailure

_KINDS: Mapping[str, type[Record]] = {"ask": Ask, "attempt": Attempt, "retried": RetriedFailure}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_ADAPTERS: Mapping[str, TypeAdapter[Record]] = {
    name: TypeAdapter(kind) for name, kind in _KINDS.items()
}
_BEGIN = b'{"sha256":"'
_LINE = re.compile(re.escape(_BEGIN) + rb'([0-9a-f]{64})",(.*)')
_FIRST = b"0" * 64  # the seal before the first line of all
_FLUSH_SECONDS = 5.0  # every flush is a request for each search that has news
_OBJECT_BYTES = 2**16  # of an object that is written no more: each line replaces it as a whole


class _Line(NamedTuple):
    """A line of a journal.

    Attributes:
        place: its file and number, for messages.
        seal: SHA-256 of what is before and of the text.
        text: what it holds besides.
    """

    place: str
    seal: bytes
    text: bytes

    def is_after(self, seal: bytes) -> bool:
        return self.seal == _seal(seal, self.text)

    def record(self) -> Record:
        """The record; CorruptFileError if it is none."""
        kind = self.text[1:].partition(b'"')[0].decode(errors="replace")
        if kind not in _KINDS:
            raise CorruptFileError(f"{self.place} must hold one of {', '.join(_KINDS)}")
        return parsed(_ADAPTERS[kind], self.text[len(kind) + 3 : -1], self.place, kind)


@dataclass(slots=True)
class SearchJournal:
    """What the journal of one search says.

    Attributes:
        asks: its suggestions, by index.
        attempts: trial id and number -> the attempt, with its end if that was written.
        retried: withdrawn failures, in order.
    """

    asks: list[Ask] = field(default_factory=list)
    attempts: dict[tuple[str, int], Attempt] = field(default_factory=dict)
    retried: list[RetriedFailure] = field(default_factory=list)


def read_journals(paths: StudyPaths) -> dict[str, SearchJournal]:
    """Search id -> its journal, sorted.

    Raises:
        CorruptFileError: a line was changed, is missing, or is no record of its search; or a run
            cannot be read.
    """
    # Runs are read before the journals: one that ends meanwhile has written more.
    runs = read_runs(paths)
    found = _lines_in(paths, _files_of(paths), runs)
    return {search: _journal(search, lines) for search, lines in found.items()}


def read_asks(paths: StudyPaths) -> dict[str, list[Ask]]:
    """Asks by search, of searches that have some, by index; raises as `read_journals`."""
    journals = read_journals(paths)
    return {search: journal.asks for search, journal in journals.items() if journal.asks}


def read_attempts(paths: StudyPaths) -> Iterator[Attempt]:
    """Every attempt of the study, by search, trial and number; raises as `read_journals`."""
    for journal in read_journals(paths).values():
        yield from (journal.attempts[key] for key in sorted(journal.attempts))


def retried_failures(journals: Mapping[str, SearchJournal]) -> dict[str, list[RetriedFailure]]:
    """Trial id -> its withdrawn failures in order."""
    found: dict[str, list[RetriedFailure]] = {}
    for journal in journals.values():
        for failure in journal.retried:
            found.setdefault(failure.trial_id, []).append(failure)
    return found


def remove_journal(paths: StudyPaths, search: str) -> None:
    """Delete the journal of a search, the last file first: whatever is left by then is whole."""
    for file in reversed(_files_of(paths)):
        if file.parent.name == search:
            remove(file)


@dataclass(slots=True)
class _Tail:
    """The end of a search's journal.

    Attributes:
        number: number of the last file, which is this run's once it holds something.
        seal: seal of the last line.
        num_lines: number of lines that survive loss of power.
        num_others: number of lines after them.
        content: what is to be written: of an object the whole, of a file what it lacks.
        num_bytes: bytes that this run has written.
    """

    number: int = 1
    seal: bytes = _FIRST
    num_lines: int = 0
    num_others: int = 0
    content: bytes = b""
    num_bytes: int = 0


class Journal:
    """What one run writes; callers hold the study's lock, and see that they still do."""

    def __init__(self, paths: StudyPaths) -> None:
        self._paths = paths
        self._is_remote = isinstance(paths.folder, RemotePath)
        self._tails: dict[str, _Tail] = {}
        self._flushed = time.monotonic()

    def read(self) -> dict[str, SearchJournal]:
        """The journals of all searches, which this run continues; raises as `read_journals`."""
        runs, files = read_runs(self._paths), _files_of(self._paths)
        last = {file.parent.name: int(file.stem) for file in files}
        lines = _lines_in(self._paths, files, runs)
        for search in lines.keys() - self._tails.keys():
            if not self._is_remote:  # else power might go with a line that the next one follows
                append(self._paths.journal(search, last[search]), b"", 0, is_safe=True)
            seal = _last_seal(lines[search])
            self._tails[search] = _Tail(last[search] + 1, seal, len(lines[search]))
        return {search: _journal(search, lines[search]) for search in lines}

    def write(self, record: Record) -> None:
        """Write a record, to which loss of power does nothing; an attempt may wait for others.

        Raises:
            ValueError: a value is NaN or infinite.
            StoreError: it cannot be written, or another run has written to this search.
        """
        tail = self._tails.setdefault(record.search, _Tail())
        text = b'"%s":%s}' % (_NAMES[type(record)].encode(), _json(record))
        tail.seal, tail.num_others = _seal(tail.seal, text), tail.num_others + 1
        tail.content += b'{"sha256":"%s",%s\n' % (tail.seal, text)
        is_attempt = isinstance(record, Attempt)
        if not (is_attempt and self._is_remote):
            self._store(record.search, tail, is_safe=not is_attempt)

    def num_lines(self) -> dict[str, int]:
        """Search id -> number of lines that survive loss of power, those before this run too."""
        return {search: tail.num_lines for search, tail in self._tails.items()}

    def flush(self, *, now: bool = False) -> None:
        """Write what waits, if it is due; ``now``, and nothing is lost with power after that."""
        if now or (self._is_remote and time.monotonic() - self._flushed > _FLUSH_SECONDS):
            for search, tail in self._tails.items():
                if tail.num_others:
                    self._store(search, tail, is_safe=True)
            self._flushed = time.monotonic()

    def _store(self, search: str, tail: _Tail, *, is_safe: bool) -> None:
        file = self._paths.journal(search, tail.number)
        if not tail.num_bytes:
            if not put_if_absent(file, tail.content):
                raise StoreError(
                    f"{file} was written by another process; two runs seem to use this study"
                )
        elif self._is_remote:
            put(file, tail.content)
        else:
            append(file, tail.content, tail.num_bytes, is_safe=is_safe)
        if is_safe:
            tail.num_lines, tail.num_others = tail.num_lines + tail.num_others, 0
        if not self._is_remote:
            tail.content, tail.num_bytes = b"", tail.num_bytes + len(tail.content)
        elif len(tail.content) > _OBJECT_BYTES:
            tail.number, tail.content, tail.num_bytes = tail.number + 1, b"", 0
        else:
            tail.num_bytes = len(tail.content)


def _json(record: Record) -> bytes:
    return _ADAPTERS[_NAMES[type(record)]].dump_json(record, exclude_none=True)


def _seal(before: bytes, text: bytes) -> bytes:
    return hashlib.sha256(before + text).hexdigest().encode()


def _files_of(paths: StudyPaths) -> list[Place]:
    """The files of all journals, each search's in order."""
    files = list_files(paths.journals, ".jsonl", in_subfolders=True)
    for file in files:
        if not file.stem.isdecimal():
            raise CorruptFileError(f"{file} is no journal: its name must be a number; delete it")
    return sorted(files, key=lambda it: (it.parent.name, int(it.stem)))


def _lines_in(
    paths: StudyPaths, files: Sequence[Place], runs: Sequence[Run]
) -> dict[str, list[_Line]]:
    """Search id -> the lines that count, of which the last run must not have left more."""
    found: dict[str, list[_Line]] = {}
    for file, content in zip(files, each(read_bytes, files), strict=True):
        if content is None:
            raise CorruptFileError(f"{file} vanished while it was read; it is never deleted")
        _add_lines(found.setdefault(file.parent.name, []), file, content)
    # Of a file that was cut nothing else tells.
    for search, num_lines in (runs[-1].journal_lines if runs else {}).items():
        if search in found and len(found[search]) < num_lines:
            raise CorruptFileError(
                f"{paths.journal_folder(search)} has {len(found[search])} lines, and had"
                f" {num_lines} when the last run ended. Restore it from a copy"
            )
    return found


def _add_lines(found: list[_Line], file: Place, content: bytes) -> None:
    *whole, part = content.split(b"\n")
    lines = [_line(f"{file}: line {at}", text) for at, text in enumerate(whole, start=1)]
    _drop_late(found, lines[:1])
    for line in lines:
        if not line.is_after(_last_seal(found)):
            raise _changed(line.place)
        found.append(line)
    cut = _line(f"{file}: line {len(lines) + 1}", part[:-1])
    is_begun = part.startswith(_BEGIN) or _BEGIN.startswith(part)
    if not is_begun or cut.is_after(_last_seal(found)):  # or its break became another byte
        raise _changed(cut.place)


def _last_seal(lines: Sequence[_Line]) -> bytes:
    return lines[-1].seal if lines else _FIRST


def _changed(place: str) -> CorruptFileError:
    return CorruptFileError(
        f"{place} does not match its SHA-256: it, or the line before, was changed, is damaged or"
        " missing. Restore the original file"
    )


def _line(place: str, text: bytes) -> _Line:
    match = _LINE.fullmatch(text)
    return _Line(place, match[1], match[2]) if match else _Line(place, b"", text)


def _drop_late(lines: list[_Line], begin: Sequence[_Line]) -> None:
    """Drop what was written after the run of a file, which begins so, had read those before."""
    seals = [_FIRST, *(line.seal for line in lines)]
    for first in begin:
        known = (at for at in reversed(range(len(seals))) if first.is_after(seals[at]))
        del lines[next(known, len(lines)) :]


def _journal(search: str, lines: Sequence[_Line]) -> SearchJournal:
    found = SearchJournal()
    for line in lines:
        record = line.record()
        if record.search != search:
            raise CorruptFileError(f"{line.place} is of search {record.search}, not of {search}")
        if isinstance(record, Ask):
            if record.index != len(found.asks):
                raise CorruptFileError(
                    f"{line.place} holds ask {record.index} where ask {len(found.asks)} must be"
                )
            found.asks.append(record)
        elif isinstance(record, Attempt):
            found.attempts[record.trial_id, record.number] = record
        else:
            found.retried.append(record)
    return found
