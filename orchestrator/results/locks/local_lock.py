"""A lock in a local or network-mounted folder: ``lock.json``.

Reading and replacing the file happens under a guard that the operating system frees when its
holder dies, so of two runs that see the same dead owner one gets the lock.
"""

from dataclasses import asdict
from pathlib import Path

from orchestrator.results.locks.lock_owner import Beat, LockOwner, is_dead, parse_owner
from orchestrator.results.storage.file_guard import exclusive
from orchestrator.results.storage.files import put_json, read_json, remove, remove_temporaries
from orchestrator.results.storage.locations import Place
from podium.errors import LockHeldError

_GUARD_LIMIT_SECONDS = 10.0


class LocalLock:
    """See `LockFile`.

    Args:
        file: the lock file, which names the owner.
        guard: empty file; locked while the lock file is read and replaced.
    """

    def __init__(self, file: Path, guard: Path) -> None:
        self.place: Place = file
        self._guard = guard

    def look(self) -> LockOwner | None:
        """See `LockFile`."""
        values = read_json(self.place)
        return None if values is None else parse_owner(values, self.place)

    def take(self, owner: LockOwner, silent: LockOwner | None) -> LockOwner | None:
        """See `LockFile`."""
        with exclusive(self._guard, limit_seconds=_GUARD_LIMIT_SECONDS) as is_alone:
            if not is_alone:
                raise LockHeldError(
                    f"{self.place.parent} is being locked by another run; try again"
                )
            found = self.look()
            if found is not None and found != silent and not is_dead(found):
                return found
            remove_temporaries(self.place.parent, self.place.name)  # of a killed owner
            put_json(self.place, asdict(owner))
            return None

    def beat(self, owner: LockOwner) -> Beat:
        """See `LockFile`; nothing is written while another process reads the lock."""
        with exclusive(self._guard, limit_seconds=0) as is_alone:
            found = self.look()
            if found is None or found.token != owner.token:
                return Beat(is_ours=False, other=found)
            if is_alone:
                put_json(self.place, asdict(owner))
            return Beat(is_ours=True)

    def release(self, owner: LockOwner) -> None:
        """See `LockFile`."""
        with exclusive(self._guard, limit_seconds=_GUARD_LIMIT_SECONDS) as is_alone:
            # If the guard stays held the lock stays: the next run finds its owner dead or, from
            # another machine, silent, and takes it over. No result of this run is affected.
            found = self.look() if is_alone else None
            if found is not None and found.token == owner.token:
                remove(self.place)
