"""The folder of a site: what podium wrote there, and what it may replace or delete."""

import hashlib
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator.results.storage.checksummed_text import read_checksummed, write_checksummed
from orchestrator.results.storage.file_guard import exclusive
from orchestrator.results.storage.files import put, read_bytes
from orchestrator.results.storage.local_files import store_errors
from orchestrator.results.storage.locations import temporary_name
from podium.errors import CorruptFileError, LockHeldError, PodiumError

MANIFEST = "site.json"
"""File that lists what podium wrote, by path, with the SHA-256 of each."""

INDEX = "index.html"
"""File with the links to all others: it is replaced when they are there."""

GUARD = ".podium-site-lock"
"""Empty hidden file that the system keeps locked while a process writes the site."""

_STAGING = "podium-site"
# What podium writes in the folder of a site, so that no manifest leads elsewhere.
_OWN = re.compile(r"index\.html|(data/)?(studies|leaderboards)/[^/]+\.(html|parquet)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What a new version of a site changed.

    Attributes:
        written: paths of the files that are new or have other bytes.
        kept: paths of the files whose bytes stayed.
        removed: paths of the files that were deleted.
    """

    written: tuple[str, ...]
    kept: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class SiteFolder:
    """A folder that gets a new version of a site; until `publish` the last one stays.

    Attributes:
        folder: the folder.
        before: path -> SHA-256 of each file that earlier calls wrote.
        memory: what the last version was made from, as it was published; None without one.
        staging: hidden folder in it, where the new files wait.
        files: path -> SHA-256 of each file of the new version.
    """

    folder: Path
    before: Mapping[str, str]
    memory: Mapping[str, Any] | None
    staging: Path
    files: dict[str, str] = field(default_factory=dict)

    @classmethod
    @contextmanager
    def open(cls, folder: Path) -> "Iterator[SiteFolder]":
        """The folder, made if it is not there, for this process alone; no other can open it.

        What a killed process left unfinished is deleted, and so is, at the end, what was added
        and not published.

        Raises:
            PodiumError: it holds files, and none is the manifest of a site.
            LockHeldError: another process is writing the site.
            CorruptFileError: the manifest is damaged.
            StoreError: it cannot be written.
        """
        _check_is_of_a_site(folder)  # before anything is written there
        with exclusive(folder / GUARD, limit_seconds=0) as is_alone:
            if not is_alone:
                raise LockHeldError(
                    f"{folder} is being written by another podium site; run this when it has ended"
                )
            _check_is_of_a_site(folder)
            known = _read_manifest(folder) or {"files": {}, "memory": None}
            staging = _new_staging(folder)
            try:
                yield cls(
                    folder=folder, before=known["files"], memory=known["memory"], staging=staging
                )
            finally:
                shutil.rmtree(staging, ignore_errors=True)

    def add(self, path: str, data: bytes) -> str:
        """Add a file to the new version; returns its SHA-256.

        Args:
            path: path of the file below the folder, its parts joined by ``/``.
            data: content of the file.

        Raises:
            PodiumError: a file of that path is there that podium did not write.
        """
        assert _OWN.fullmatch(path), "the manifest would refuse it"
        if path not in self.before and _exists(self.folder / path):
            raise PodiumError(
                f"{self.folder / path} is in the way of a file of the site, and podium did not"
                " write it; move it elsewhere"
            )
        put(self.staging / path, data)
        self.files[path] = hashlib.sha256(data).hexdigest()
        return self.files[path]

    def keep(self, paths: Iterable[str]) -> bool:
        """Keep files of the last version in the new one, if all are there as they were written.

        Args:
            paths: paths of the files below the folder.
        """
        wanted = tuple(paths)
        found = {path: self.before[path] for path in wanted if path in self.before}
        is_whole = len(found) == len(wanted) and all(
            _digest(self.folder / path) == known for path, known in found.items()
        )
        if is_whole:
            self.files |= found
        return is_whole

    def publish(self, memory: Mapping[str, Any]) -> Changes:
        """Put the new version in place: replace files that differ, delete those that are gone.

        The index comes after all that it links to and before anything is deleted, so that its
        links lead to files at any moment. The manifest lists old and new files meanwhile, so that
        a call which was killed leaves nothing that the next one takes for a stranger's. A file
        that someone changed is not deleted.

        Args:
            memory: what the new version was made from, for the next call.

        Raises:
            StoreError: the folder cannot be written.
        """
        _write_manifest(self.folder, {**self.before, **self.files}, None)
        with store_errors("write in", self.folder):
            written = [path for path in sorted(self.files, key=_index_last) if self._replace(path)]
            gone = sorted(self.before.keys() - self.files.keys())
            removed = [path for path in gone if self._remove(path)]
        _write_manifest(self.folder, self.files, memory)
        return Changes(
            written=tuple(sorted(written)),
            kept=tuple(sorted(self.files.keys() - set(written))),
            removed=tuple(removed),
        )

    def _replace(self, path: str) -> bool:
        """Put a file in place; whether it is new or differs."""
        target = self.folder / path
        if _digest(target) == self.files[path]:
            return False
        target.parent.mkdir(parents=True, exist_ok=True)
        (self.staging / path).replace(target)
        return True

    def _remove(self, path: str) -> bool:
        """Delete a file, and its folder if that is empty then; whether it was podium's."""
        target = self.folder / path
        if _digest(target) != self.before[path]:
            return False
        target.unlink()
        if not any(target.parent.iterdir()):
            target.parent.rmdir()
        return True


def _check_is_of_a_site(folder: Path) -> None:
    """Refuse a folder with files of others and without a manifest; hidden files do not count."""
    with store_errors("read", folder):
        found = folder.iterdir() if _exists(folder) else ()
        foreign = [it.name for it in found if not it.name.startswith(".")]
    if foreign and MANIFEST not in foreign:
        raise PodiumError(
            f"--output must be a new folder, an empty one, or one of a site; {folder}"
            f" holds {min(foreign)} and no {MANIFEST}"
        )


def _new_staging(folder: Path) -> Path:
    """An empty hidden folder in place of those that killed processes left."""
    with store_errors("write in", folder):
        for leftover in folder.glob(f".{_STAGING}.*"):
            shutil.rmtree(leftover)
        staging = folder / temporary_name(_STAGING)
        staging.mkdir()
    return staging


def _index_last(path: str) -> tuple[bool, str]:
    return path == INDEX, path


def _exists(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def _digest(path: Path) -> str | None:
    content = read_bytes(path) if path.is_file() else None
    return None if content is None else hashlib.sha256(content).hexdigest()


def _read_manifest(folder: Path) -> dict[str, Any] | None:
    """What podium wrote there: ``files`` and ``memory``; None if there is no manifest.

    Raises:
        CorruptFileError: it is damaged, or names what podium does not write.
    """
    path = folder / MANIFEST
    values = read_checksummed(path)
    if values is None:
        return None
    files, memory = values.get("files"), values.get("memory")
    if not isinstance(files, dict) or not all(
        isinstance(digest, str) and _OWN.fullmatch(name) for name, digest in files.items()
    ):
        raise CorruptFileError(
            f"{path} is not the list of a site's files that podium wrote. Restore it, or give"
            " another --output"
        )
    return {"files": files, "memory": memory}


def _write_manifest(
    folder: Path, files: Mapping[str, str], memory: Mapping[str, Any] | None
) -> None:
    values = {"files": dict(sorted(files.items())), "memory": memory}
    write_checksummed(folder / MANIFEST, values)
