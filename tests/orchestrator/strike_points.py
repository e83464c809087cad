"""Moments at which an attacked process waits for its attacker: inside an operation of the store.

The attacker arms one strike after the other, by a file. The process that is the first to come to
such a moment says so and waits, for as long as it takes the attacker to kill or stop something.
Python tells a process of every file that it opens, links, renames and deletes just before that
happens (`sys.addaudithook`), so the store's own code is as it always is, and the moments lie
between any two of its file operations.
"""

import json
import os
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, get_args

Phase = Literal["suggest", "training", "checkpoint", "commit", "gathering", "final"]
PHASES: tuple[Phase, ...] = get_args(Phase)

_FILE_EVENTS = ("open", "os.link", "os.rename", "os.remove", "os.rmdir")
_PATIENCE_SECONDS = 30.0
_POLL_SECONDS = 0.02
_ARMED_SECONDS, _UNARMED_SECONDS = 0.05, 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Armed:
    """A strike that waits for its moment.

    Attributes:
        number: of the strike.
        phase: in which it is to happen.
        skip: so many moments of a process are let pass first.
    """

    number: int
    phase: Phase
    skip: int


# The attacker's side.


def arm(folder: Path, armed: Armed) -> None:
    """Wait for a moment; replaces the strike before."""
    folder.mkdir(exist_ok=True)
    draft = folder / "draft"
    draft.write_text(json.dumps(asdict(armed)))
    draft.replace(folder / "armed")


def claimed(folder: Path, number: int) -> tuple[int, str] | None:
    """Who waits for this strike, and just before what; None while nobody does."""
    path = folder / f"claimed-{number}"
    text = path.read_text() if path.exists() else ""
    if not text.endswith("\n"):
        return None
    pid, moment = text.strip().split(" ", 1)
    return int(pid), moment


def release(folder: Path, number: int) -> bool:
    """Let whoever waits go on, and disarm; False if it had not waited for so long."""
    (folder / "armed").unlink(missing_ok=True)
    (folder / f"released-{number}").touch()
    return not (folder / f"missed-{number}").exists()


def end_attacks(folder: Path) -> None:
    """From now on trials need not be slow."""
    (folder / "over").touch()


# The side of the attacked.


def dawdle(folder: Path) -> None:
    """What a trial does between two epochs: wait for attacks, so that work is left for all."""
    deadline = time.monotonic() + _UNARMED_SECONDS
    armed, over = folder / "armed", folder / "over"
    while not armed.exists() and not over.exists() and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    if not over.exists():
        time.sleep(_ARMED_SECONDS)


class _Listener:
    def __init__(self, folder: Path, study_folder: Path) -> None:
        self._folder = folder
        self._prefix = f"{study_folder}/"
        self._passed: dict[int, int] = {}
        self._inside = threading.local()
        self.spares = False

    def receive(self, event: str, arguments: tuple[object, ...]) -> None:
        """Called by Python before everything that it does; must be quick."""
        if event not in _FILE_EVENTS or getattr(self._inside, "waits", False):
            return
        places = [str(place) for place in arguments[:2] if isinstance(place, str | os.PathLike)]
        if event == "open" and not _writes(arguments):
            return
        for place in reversed(places):  # of a link or renaming, where it leads
            phase = self._phase_of(event, place)
            if phase is not None:
                self.reach(phase, f"{event} {place.removeprefix(self._prefix)}")
                return

    def _phase_of(self, event: str, place: str) -> Phase | None:
        if not place.startswith(self._prefix):
            return None
        top, _, rest = place.removeprefix(self._prefix).partition("/")
        if top == "journal":
            return "suggest"
        if top == "checkpoints":
            is_saved = event in ("open", "os.rename") or rest.endswith(".tmp")
            return "checkpoint" if is_saved else "commit"  # whose last step is to delete it
        if top == "trials":
            is_deleted = rest.endswith(".parquet") and event == "os.remove"
            return "gathering" if is_deleted or ".gathered." in rest else "commit"
        return None

    def reach(self, phase: Phase, moment: str) -> None:
        """Wait here if a strike is armed for this phase."""
        if self.spares or getattr(self._inside, "waits", False):
            return
        self._inside.waits = True
        try:
            self._meet(phase, moment)
        finally:
            self._inside.waits = False

    def _meet(self, phase: Phase, moment: str) -> None:
        try:
            armed = Armed(**json.loads((self._folder / "armed").read_text()))
        except FileNotFoundError:
            return
        if armed.phase != phase:
            return
        passed = self._passed.setdefault(armed.number, 0)
        self._passed[armed.number] += 1
        if passed < armed.skip:
            return
        try:
            with (self._folder / f"claimed-{armed.number}").open("x") as file:
                file.write(f"{os.getpid()} {moment}\n")
        except FileExistsError:
            return  # another process is the one that waits
        deadline = time.monotonic() + _PATIENCE_SECONDS
        released = self._folder / f"released-{armed.number}"
        while not released.exists():
            if time.monotonic() > deadline:
                (self._folder / f"missed-{armed.number}").touch()
                return
            time.sleep(_POLL_SECONDS)


def _writes(arguments: tuple[object, ...]) -> bool:
    """Of an ``open`` event: (path, mode, flags)."""
    flags = arguments[2]
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))


_listeners: dict[Path, _Listener] = {}


def listen(folder: Path, study_folder: Path) -> None:
    """From now on this process waits where a strike is armed; its first call counts."""
    if folder not in _listeners:
        _listeners[folder] = _Listener(folder, study_folder)
        sys.addaudithook(_listeners[folder].receive)


def reach(folder: Path, phase: Phase, moment: str) -> None:
    """A moment that is no file operation."""
    _listeners[folder].reach(phase, moment)


def spare(folder: Path, is_spared: bool) -> None:
    """Whether this process is to wait nowhere for now."""
    _listeners[folder].spares = is_spared
