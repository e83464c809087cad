"""A lock in a remote store, by generations.

No operating system guards files there; what such a store can do is refuse to write an object that
is there already. So each run that takes the lock creates the next generation, and only one can:

- ``lock/000007.owner.json`` names its owner and is never written again;
- ``lock/000007.beat.json`` holds the heartbeat, and only the owner writes it;
- ``lock/000007.released.json`` says that the owner has freed it.

The newest generation counts. An owner that finds a newer one has lost the lock. The newest is
never deleted, so numbers only grow; older ones are deleted by the run that takes the lock.
"""

import re
from contextlib import suppress
from dataclasses import asdict, replace

from orchestrator.results.locks.lock_owner import Beat, LockOwner, is_dead, parse_owner
from orchestrator.results.storage.files import (
    list_names,
    put_if_absent,
    put_json,
    read_json,
    remove,
    to_json,
)
from orchestrator.results.storage.locations import Place
from podium.errors import CorruptFileError, LockHeldError, StoreError

_OWNER, _BEAT, _RELEASED = "owner", "beat", "released"
_NAME = re.compile(rf"(\d+)\.({_OWNER}|{_BEAT}|{_RELEASED})\.json")


class RemoteLock:
    """See `LockFile`.

    Args:
        folder: folder of the generations.
    """

    def __init__(self, folder: Place) -> None:
        self.place: Place = folder
        self._generation = 0

    def look(self) -> LockOwner | None:
        """See `LockFile`."""
        while True:
            newest, is_free = self._newest()
            if is_free:
                return None
            owner = self._read_owner(newest)
            if owner is not None:
                return owner  # else a newer generation replaced and deleted this one

    def take(self, owner: LockOwner, silent: LockOwner | None) -> LockOwner | None:
        """See `LockFile`."""
        newest, is_free = self._newest()
        found = None if is_free else self._read_owner(newest)
        if found is not None and found != silent and not is_dead(found):
            return found
        mine = newest + 1
        if not put_if_absent(self._file(mine, _OWNER), to_json(asdict(owner))):
            return self._other()
        # A run that was stopped for long may create a number that was used and deleted meanwhile.
        if self._newest()[0] != mine:
            remove(self._file(mine, _OWNER))
            return self._other()
        self._generation = mine
        with suppress(StoreError):  # the next run deletes them too
            self._delete_older()
        return None

    def beat(self, owner: LockOwner) -> Beat:
        """See `LockFile`."""
        # Written before reading: a watcher that sees it in time does not take over.
        put_json(self._file(self._generation, _BEAT), {"heartbeat": owner.heartbeat})
        newest, is_free = self._newest()
        if newest == self._generation and not is_free:
            return Beat(is_ours=True)
        return Beat(is_ours=False, other=self.look())

    def release(self, owner: LockOwner) -> None:
        """See `LockFile`."""
        if self._newest()[0] == self._generation:
            put_json(self._file(self._generation, _RELEASED), {"token": owner.token})

    def _other(self) -> LockOwner:
        """The owner that took the lock first."""
        found = self.look()
        if found is None:
            raise LockHeldError(f"{self.place} is being locked by another run; try again")
        return found

    def _newest(self) -> tuple[int, bool]:
        """The number of the newest generation, 0 for none, and whether it is free."""
        names = list_names(self.place, ".json")
        parts = [match for match in map(_NAME.fullmatch, names) if match]
        newest = max((int(part[1]) for part in parts if part[2] == _OWNER), default=0)
        released = {int(part[1]) for part in parts if part[2] == _RELEASED}
        return newest, newest == 0 or newest in released

    def _read_owner(self, generation: int) -> LockOwner | None:
        file, beats = self._file(generation, _OWNER), self._file(generation, _BEAT)
        values, beat = read_json(file), read_json(beats)
        if values is None:
            return None
        counter = 0 if beat is None else beat.get("heartbeat")
        if not isinstance(counter, int):
            raise CorruptFileError(
                f"{beats} is not a heartbeat; delete it if no run of the study is alive"
            )
        return replace(parse_owner(values, file), heartbeat=counter)

    def _delete_older(self) -> None:
        for name in list_names(self.place, ".json"):
            match = _NAME.fullmatch(name)
            if match and int(match[1]) < self._generation:
                remove(self.place / name)

    def _file(self, generation: int, part: str) -> Place:
        return self.place / f"{generation:06d}.{part}.json"
