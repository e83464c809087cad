"""Journals for tests: what a run would have written."""

from collections.abc import Callable, Iterable

from podium.orchestrator.results.records import journal
from podium.orchestrator.results.records.journal import Journal, Record
from podium.orchestrator.results.records.store_paths import StudyPaths


def write_records(paths: StudyPaths, records: Iterable[Record]) -> None:
    """Write them as one run does, after what is there."""
    run = Journal(paths)
    run.read()
    for record in records:
        run.write(record)
    run.flush(now=True)


def rewrite(paths: StudyPaths, search: str, changed: Callable[[Record], Record]) -> None:
    """Write the journal of a search anew, soundly sealed, with each record changed."""
    lines = journal._lines_in(paths, journal._files_of(paths), ())[search]
    records = [changed(line.record()) for line in lines]
    journal.remove_journal(paths, search)
    write_records(paths, records)
