"""Runs a small study on a disk of its own that is too small, read-only, or taken away.

Called in a mount namespace of its own: ``unshare -m`` (or ``-rm``) ``python drive_full_disk.py
FOLDER``. Prints a JSON object: what the runs failed at, and what of it was not as it should be.
"""

import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from podium.errors import PodiumError
from podium.orchestrator.verify.verify_store import verify_store
from tests.orchestrator.damaged_stores import TINY, careful_trial, run
from tests.orchestrator.small_study import InterruptedAfter, tables

BYTES = 2 << 20


def main() -> None:
    """Everything, one after the other, in folders of their own on the one disk."""
    disk = Path(sys.argv[1])
    undisturbed = Path(tempfile.mkdtemp())
    run(undisturbed)
    expected = tables(undisturbed)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={BYTES}", "tmpfs", disk], check=True)
    moments: Counter[str] = Counter()
    wrong: list[str] = []
    pages = random.Random(0).sample(range(3, 25), 1) + random.Random(1).sample(range(25, 75), 2)
    attacks = [(f"full {free}", filled(disk, free)) for free in pages]
    attacks += [(f"read-only {steps}", mounted_read_only(disk, steps)) for steps in (2, 9)]
    attacks += [(f"gone {steps}", taken_away(disk, steps)) for steps in (2, 9)]
    for name, attack in attacks:
        storage = disk / "storage"
        storage.mkdir()
        moments[failed_at(attack(storage))] += 1
        if problems := found_in(storage / TINY.name):
            wrong.append(f"{name}: {problems}")
        # Where the run could not free its lock, the end of its process would have.
        shutil.rmtree(storage / TINY.name / "lock", ignore_errors=True)
        run(storage)
        if not tables(storage).equals(expected) or found_in(storage / TINY.name):
            wrong.append(f"{name}: the run that followed did not end as undisturbed ones")
        subprocess.run(["rm", "-rf", storage], check=True)
    print(json.dumps({"moments": moments, "wrong": wrong}))


def found_in(folder):
    """What verify has to say, and half-written files."""
    if not (folder / "study.json").exists():
        return []
    half = [str(path) for path in folder.rglob("*.tmp")]
    return [*verify_store(folder).problems, *half]


def refusal(storage, executor=None):
    try:
        run(storage, TINY, executor)
    except PodiumError as error:
        return error
    return None


def failed_at(error):
    """The kind of file that could not be written, and the exit code."""
    if error is None:
        return "nothing"
    parts = str(error).split("storage/small/")
    kind = parts[1].split("/")[0].split(" ")[0].rstrip(":") if len(parts) > 1 else "folder"
    return f"{error.exit_code} {kind}"


def filled(disk, free_pages):
    def attack(storage):
        filler = disk / "filler"
        with filler.open("wb") as file:
            file.write(b"0" * (BYTES - 4096 * free_pages))
        error = refusal(storage)
        filler.unlink()
        return error

    return attack


def mounted_read_only(disk, steps):
    def attack(storage):
        error = refusal(storage, AfterSteps(steps, lambda: remount(disk, "ro")))
        remount(disk, "rw")
        return error

    return attack


def taken_away(disk, steps):
    def attack(storage):
        folder, elsewhere = storage / TINY.name, storage / "elsewhere"
        error = refusal(storage, AfterSteps(steps, lambda: folder.rename(elsewhere)))
        subprocess.run(["rm", "-rf", folder], check=True)
        elsewhere.rename(folder)
        return error

    return attack


def remount(disk, mode):
    subprocess.run(["mount", "-o", f"remount,{mode}", disk], check=True)


class AfterSteps(InterruptedAfter):
    """Does something after so many steps, instead of stopping."""

    def __init__(self, steps, do):
        super().__init__(1_000_000, careful_trial)
        self._left, self._do = steps, do

    def run(self, scheduler):
        receive = scheduler.receive

        def doing(trial_id, messages):
            self._left -= 1
            if self._left == 0:
                self._do()
            return receive(trial_id, messages)

        scheduler.receive = doing
        super().run(scheduler)


if __name__ == "__main__":
    main()
