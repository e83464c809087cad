"""The kinds of files in podium's cache folder: how much there is of each, and how to empty it.

Everything in there is made again where it is missing: what is lost is the time that took.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from podium.errors import LockHeldError, StoreError
from trainables.file_caches.atomic_file import remove_leftovers
from trainables.file_caches.file_locks import lock_holder

CACHES: Mapping[str, str] = {
    "resized": "images, decoded and resized",
    "features": "features of frozen backbones",
    "glyphs": "letters as images",
    "file_hashes": "hashes of image files",
    "costs": "seconds per image (podium plan)",
}
"""Kind of cache -> what is in there."""

COSTS_FILE = "seconds-per-image.csv"
"""The file of the kind ``costs``; every other kind is a folder of its name."""

_LOCK_SUFFIX = ".lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheUse:
    """One kind of cache.

    Attributes:
        kind: a name of `CACHES`.
        place: its folder or file; need not be there.
        num_files: number of whole files.
        num_bytes: bytes of these.
        used_at: when one of them was last written or, as far as the file system notes it, read;
            None without files.
    """

    kind: str
    place: Path
    num_files: int
    num_bytes: int
    used_at: datetime | None


def cache_use(kind: str, folder: Path) -> CacheUse:
    """What there is of one kind.

    Args:
        kind: a name of `CACHES`.
        folder: podium's cache folder.
    """
    found = [file.stat() for file in _files(kind, folder)]
    times = [max(file.st_mtime, file.st_atime) for file in found]
    return CacheUse(
        kind=kind,
        place=_place(kind, folder),
        num_files=len(found),
        num_bytes=sum(file.st_size for file in found),
        used_at=datetime.fromtimestamp(max(times), UTC) if times else None,
    )


def empty_cache(kind: str, folder: Path) -> None:
    """Delete the files of one kind, and what killed processes left there.

    Processes that read a file keep what they opened. Lock files stay, since another process may
    be waiting for one.

    Args:
        kind: a name of `CACHES`.
        folder: podium's cache folder.

    Raises:
        LockHeldError: a process is making a file of this kind; nothing was deleted.
        StoreError: a file cannot be deleted.
    """
    place = _place(kind, folder)
    for lock in sorted(place.glob(f"*{_LOCK_SUFFIX}")):
        if holder := lock_holder(lock):
            raise LockHeldError(
                f"{place} is in use: {holder} is making {lock.stem}; wait until it ends, or stop"
                " it"
            )
    try:
        for file in _files(kind, folder):
            file.unlink(missing_ok=True)
        if place.is_dir():
            remove_leftovers(place / kind, is_locked=False)
    except OSError as error:
        raise StoreError(f"cannot empty {place}: {error.strerror or error}") from error


def _place(kind: str, folder: Path) -> Path:
    return folder / (COSTS_FILE if kind == "costs" else kind)


def _files(kind: str, folder: Path) -> Iterator[Path]:
    """Whole files: no link, no lock, and nothing half-written, whose name starts with a dot."""
    place = _place(kind, folder)
    found = [place] if place.is_file() else place.glob("*")
    for path in sorted(found):
        is_whole = path.suffix != _LOCK_SUFFIX and not path.name.startswith(".")
        if is_whole and path.is_file() and not path.is_symlink():
            yield path
