"""Which files hold the trials of a study, each trial once; checks and queries of their rows.

A trial is committed as ``trials/search=<search>/<trial_id>.parquet``, a file of one row. The rows
of a search that is over are gathered beside these, in ``<count>-<hash>.gathered.parquet``: a file
that is created whole, and never changes. The files of single rows stay until the run ends, so
programs that know nothing of this count each ``trial_id`` once and read everything, at any moment.

A gathered row counts before a file of its own. Of gathered files of one search that hold the same
trials, as while one replaces another, the one with the most trials counts.
"""

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
import polars as pl
import pyarrow as pa

from podium.errors import CorruptFileError
from podium.orchestrator.results.records.store_paths import FILE_NAME, StudyPaths
from podium.orchestrator.results.records.study_snapshot import Store
from podium.orchestrator.results.storage.files import exists, list_files
from podium.orchestrator.results.storage.local_copies import local_copies, local_copy
from podium.orchestrator.results.storage.locations import Place
from podium.orchestrator.results.trial_files.parquet_file import (
    FILE,
    collect,
    scan,
    schema_bytes,
    schema_of,
    verified,
)

_IDENTITY = ("study", "search", "trial_id")  # they say to which file a row belongs


def trial_files(paths: StudyPaths, search: str | None = None) -> list[Place]:
    """All Parquet files of trials, or those of one search, sorted."""
    if search is None:
        return list_files(paths.trials, ".parquet", in_subfolders=True)
    return list_files(paths.trial_folder(search), ".parquet")


def gathered(files: Iterable[Place]) -> list[Place]:
    """Those that hold the rows of many trials of one search."""
    return [file for file in files if StudyPaths.num_gathered(file)]


def num_trials(files: Iterable[Place]) -> int:
    """Number of trials, by the names of files."""
    return sum(StudyPaths.num_gathered(file) or 1 for file in files)


_trials_in: dict[Place, frozenset[str]] = {}  # such a file never changes


def trials_in(file: Place) -> frozenset[str]:
    """Ids of the trials of a gathered file.

    Raises:
        CorruptFileError: the file is missing or damaged.
        StoreError: it cannot be read.
    """
    _read_ids([file])
    return _trials_in[file]


def _read_ids(files: Iterable[Place]) -> None:
    """Have `trials_in` of gathered files at hand, which takes far longer one by one."""
    new = {str(local_copy(file)): file for file in files if file not in _trials_in}
    if not new:
        return
    for file in new.values():
        verified(file)
    rows = scan([*new.values()], pl.Schema({"trial_id": pl.String}))
    try:
        found = collect(rows, "gathered trials")
    except (OSError, pl.exceptions.PolarsError) as error:
        for file in new.values() if len(new) > 1 else ():
            _read_ids([file])
        raise CorruptFileError(f"{next(iter(new.values()))} cannot be decoded: {error}") from error
    ids = dict(found.group_by(FILE).all().iter_rows())
    _trials_in.update({file: frozenset(ids.get(path, ())) for path, file in new.items()})


def take_inventory(paths: StudyPaths, search: str | None = None) -> dict[str, list[Place]]:
    """`needed_files` of all searches, or of one, at this moment; raises as that."""
    files = trial_files(paths, search)
    # Listing and reading take a while, in which one gathered file may replace another.
    while True:
        again = trial_files(paths, search)
        if gathered(again) == gathered(files):
            try:
                return needed_files(again)
            except CorruptFileError:
                if gathered(trial_files(paths, search)) == gathered(again):
                    raise
        files = again


def needed_files(files: Sequence[Place]) -> dict[str, list[Place]]:
    """Search -> the files among these that together hold each of its trials exactly once.

    Raises:
        CorruptFileError: a trial lies in two searches, or a gathered file is damaged.
    """
    found: dict[str, list[Place]] = {}
    loose: dict[str, Place] = {}
    for file in files:
        found.setdefault(StudyPaths.search_of(file), []).append(file)
        if not StudyPaths.num_gathered(file) and loose.setdefault(file.stem, file) != file:
            raise CorruptFileError(
                f"{file} is a second file of one trial; the other is {loose[file.stem]}"
            )
    several = chain.from_iterable(files for files in found.values() if len(files) > 1)
    _read_ids(gathered(several))
    return {search: _needed(of_search) for search, of_search in found.items()}


def _needed(files: Sequence[Place]) -> list[Place]:
    needed = gathered(files)
    if len(files) == 1 or not needed:
        return [*files]
    held: set[str] = set()
    for file in sorted(needed, key=lambda it: (-len(trials_in(it)), it.name)):
        if trials_in(file) <= held:
            needed.remove(file)
        held |= trials_in(file)
    loose = (file for file in files if not StudyPaths.num_gathered(file))
    return [*needed, *(file for file in loose if file.stem not in held)]


def bad_files(files: Sequence[Place], store: Store) -> list[str]:
    """What is wrong with files that are truncated, damaged, foreign, or do not fit their path.

    No more is decoded than which trials the files hold. Files with rows that are in others count,
    too, since plain readers read them.
    """
    local_copies(files)  # several at once
    problems = []
    for path in files:
        try:
            open_rows([path], store)
        except CorruptFileError as error:
            if exists(path):  # else its rows were gathered meanwhile
                problems.append(str(error))
    return problems


def open_rows(
    files: Sequence[Place], store: Store, columns: Sequence[str] = _IDENTITY
) -> pl.DataFrame:
    """The rows of a study's files, in order, after all checks of both.

    Raises:
        CorruptFileError: anything is wrong with one of them.
        StoreError: one cannot be read.
    """
    copies = local_copies(files)  # several at once
    known: set[bytes] = set()
    for file in files:
        content = verified(file)
        if schema_bytes(content) not in known:
            _check_columns(file, schema_of(content, file), store.schema)
            known.add(schema_bytes(content))
    try:
        scanned = scan(files, store.schema).select(*columns, FILE)
        rows = collect(scanned, f"the trials of {store.study}")
    except (OSError, pl.exceptions.PolarsError) as error:
        if len(files) == 1:
            raise CorruptFileError(f"{files[0]} cannot be decoded: {error}") from error
        for file in files:
            open_rows([file], store, columns)
        raise
    counts = dict(rows[FILE].value_counts().iter_rows())
    for file, copy in zip(files, copies, strict=True):
        count, found = num_trials([file]), counts.get(str(copy), 0)
        if found != count:
            raise CorruptFileError(f"{file} must hold {count} rows, it has {found}")
    _check_places(files, rows, store.study)
    return rows.drop(FILE)


def _check_columns(file: Place, found: pa.Schema, schema: pa.Schema) -> None:
    """Refuse a file whose columns are not those of the study.

    Hyperparameters may be missing: the study may have gained them after the file was written.
    """
    own = {name for name in schema.names if not name.startswith("hp.")}
    wrong = {column.name for column in found if column not in schema} | (own - {*found.names})
    if wrong:
        text = f"its study has no such columns, or others: {', '.join(sorted(wrong))}"
        raise CorruptFileError(f"{file}: {text}")


def _check_places(files: Sequence[Place], rows: pl.DataFrame, study: str) -> None:
    """Refuse rows of another study, search or trial than their files say, and equal ones.

    Refused are also ids that could lead out of the folder.
    """
    file_of = np.repeat(np.arange(len(files)), [num_trials([file]) for file in files])
    expected: dict[str, list[str | None]] = {
        "study": [study] * len(files),
        "search": [StudyPaths.search_of(file) for file in files],
        "trial_id": [None if StudyPaths.num_gathered(file) else file.stem for file in files],
    }
    for name, values in expected.items():
        wanted = pl.Series(values, dtype=pl.String)[file_of]
        for at in (rows[name].ne_missing(wanted) & wanted.is_not_null()).arg_true().head(1):
            raise CorruptFileError(
                f"{files[file_of[at]]} holds a row with {name} {rows[name][at]!r}; at that path it"
                f" must be {wanted[at]!r}"
            )
    for name in ("search", "trial_id"):
        is_safe = rows[name].str.contains(f"^{FILE_NAME}$").fill_null(value=False)
        for at in is_safe.not_().arg_true().head(1):
            text = f"holds a row with {name} {rows[name][at]!r}, which is not a valid name"
            raise CorruptFileError(f"{files[file_of[at]]} {text}")
    for at in rows.select("search", "trial_id").is_duplicated().arg_true().head(1):
        raise CorruptFileError(
            f"{files[file_of[at]]} holds a trial twice. Restore the original file"
        )
