"""Writes a results folder into one compressed tar file, and reads it back to verify it.

The bytes follow from the names, contents and times of the files alone: files are sorted, and have
no owner. Locks and temporary files are left out.
"""

import gzip
import hashlib
import io
import tarfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from orchestrator.results.locks.study_lock import lock_places
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import (
    each,
    read_bytes,
    refuse_links,
    stored_files,
    writing,
)
from orchestrator.results.storage.local_files import store_errors
from orchestrator.results.storage.locations import (
    TEMPORARY_SUFFIX,
    Place,
    StoredFile,
    is_inside_folder,
)
from orchestrator.results.trial_files.integrity import check_store
from podium.errors import CorruptFileError, PodiumError

ENDING = ".tar.gz"
"""How the names of archives end."""

_BATCH_BYTES = 64 * 2**20  # of files that are read from a remote store at the same time
_LEVEL = 6  # Parquet is compressed already: more takes long and gains nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """An archive that was verified.

    Attributes:
        file: the archive.
        num_files: number of files in it.
        num_bytes: bytes of the archive.
        sha256: SHA-256 of the archive, in hexadecimal digits.
    """

    file: Path
    num_files: int
    num_bytes: int
    sha256: str


def check_archive_name(file: Path, folder: Place) -> None:
    """Refuse the name of an archive.

    Raises:
        PodiumError: it does not end in `ENDING`, or is in the folder that is archived.
    """
    if not file.name.endswith(ENDING):
        raise PodiumError(f"an archive's name must end in {ENDING}; got {file}")
    if is_inside_folder(folder, file):
        raise PodiumError(f"an archive must not be in the folder that it holds; got {file}")


def archive_study(folder: Place, file: Path) -> Archive:
    """Write a results folder into an archive, as one folder of its name, and verify it.

    The caller holds the study's lock. Every trial is checked before; afterwards the archive is
    read back, and each file in it compared with the SHA-256 of what was read.

    Args:
        folder: the results folder; it stays as it is.
        file: the archive, which gets its name when it is whole.

    Raises:
        CorruptFileError: a trial is damaged, the folder holds links, or the archive does not hold
            what was written.
        PodiumError: it is not a results folder, or see `check_archive_name`.
        StoreError: the folder cannot be read, or the archive not be written.
    """
    check_archive_name(file, folder)
    refuse_links(folder, deep=True)
    check_store(StudyPaths(folder))
    files = [found for found in stored_files(folder) if _is_archived(folder, found.path)]
    with writing(file) as opened:
        written = _write(opened, folder, files)
    _verify(file, written)
    with store_errors("read", file), file.open("rb") as whole:
        digest = hashlib.file_digest(whole, "sha256").hexdigest()
    return Archive(file=file, num_files=len(written), num_bytes=file.stat().st_size, sha256=digest)


def _is_archived(folder: Place, path: str) -> bool:
    paths = StudyPaths(folder)
    locks = {place.name for place in lock_places(paths)}
    return path.partition("/")[0] not in locks and not path.endswith(TEMPORARY_SUFFIX)


def _write(opened: BinaryIO, folder: Place, files: Sequence[StoredFile]) -> dict[str, str]:
    """Write all files; returns the SHA-256 of each by its name in the archive."""
    written = {}
    with (
        gzip.GzipFile("", "wb", _LEVEL, fileobj=opened, mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for stored, content in _contents(folder, files):
            member = tarfile.TarInfo(f"{folder.name}/{stored.path}")
            member.size, member.mtime = len(content), int(stored.changed_at.timestamp())
            archive.addfile(member, io.BytesIO(content))
            written[member.name] = hashlib.sha256(content).hexdigest()
    return written


def _contents(folder: Place, files: Sequence[StoredFile]) -> Iterator[tuple[StoredFile, bytes]]:
    """Every file and its content; of remote ones several are read at the same time."""
    for batch in _batches(files):
        contents = each(read_bytes, [folder / file.path for file in batch])
        for file, content in zip(batch, contents, strict=True):
            if content is None:
                raise CorruptFileError(f"{folder / file.path} vanished while it was archived")
            yield file, content


def _batches(files: Sequence[StoredFile]) -> Iterator[list[StoredFile]]:
    batch: list[StoredFile] = []
    num_bytes = 0
    for file in files:
        if batch and num_bytes + file.num_bytes > _BATCH_BYTES:
            yield batch
            batch, num_bytes = [], 0
        batch.append(file)
        num_bytes += file.num_bytes
    if batch:
        yield batch


def _verify(file: Path, written: Mapping[str, str]) -> None:
    """Read the archive back, and compare each file with what was written."""
    found = {}
    try:
        with store_errors("read", file), tarfile.open(file, "r|gz") as archive:
            for member in archive:
                content = archive.extractfile(member)
                found[member.name] = hashlib.sha256(content.read() if content else b"").hexdigest()
    except (tarfile.TarError, zlib.error, EOFError) as error:
        raise CorruptFileError(f"{file} cannot be read back ({error}); archive again") from error
    if found != written:
        different = sorted(name for name in written if found.get(name) != written[name])
        raise CorruptFileError(
            f"{file} does not hold what was written: {len(different)} files differ, such as"
            f" {different[0] if different else min(found.keys() - written.keys())}; archive again"
        )
