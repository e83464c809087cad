"""``control.yaml`` in a results folder: what the user changes of a study while it runs.

::

    max_concurrent: 2       # trials at a time, in place of search.max_concurrent
    budget: {gpu_hours: 40} # hours of all runs, in place of those of the study file
    cancel: [proxy_anchor]  # searches by the names that `podium status` shows, or by their ids
    pause: true             # running trials finish, and no other starts
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

import yaml
from pydantic import StrictBool

from podium.errors import PodiumError, StoreError, StudyError
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_keys import Different, Text
from podium.orchestrator.results.storage.files import put, read_bytes
from podium.orchestrator.results.storage.locations import RemotePath
from podium.orchestrator.results.storage.transient_errors import retrying_for
from podium.orchestrator.scheduling.study_progress import search_name
from podium.orchestrator.study.blocks import searches
from podium.orchestrator.study.study import Control, GpuHours, Hours, Study, Trials
from podium.orchestrator.study_parser.problems import Problems
from podium.orchestrator.study_parser.read_keys import read_keys
from podium.orchestrator.study_parser.yaml_tree import compose
from podium.orchestrator.study_validation.check_study import check_budget
from podium.trainables.errors import unknown_name

_NUM_NAMED = 3  # of the searches that are cancelled
_READ_SECONDS, _REMOTE_READ_SECONDS = 2.0, 30.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hours:
    gpu_hours: GpuHours | None = None
    wall_hours: Hours | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Keys:
    max_concurrent: Trials | None = None
    budget: _Hours = field(default_factory=_Hours)
    cancel: Different[Text] | None = None
    pause: StrictBool | None = None


def read_control(study: Study, paths: StudyPaths) -> Control:
    """What ``control.yaml`` says; nothing without one.

    Raises:
        StudyError: a key or value is wrong, or a search is unknown; says the line.
        CorruptFileError: it is no regular file, or far too large.
        StoreError: it cannot be read.
    """
    return parsed_control(read_bytes(paths.control), study, str(paths.control))


def write_control(study: Study, paths: StudyPaths, control: Control) -> None:
    """Write ``control.yaml`` whole, searches by name.

    Raises:
        StudyError: a value is wrong; nothing is written.
        StoreError: it cannot be written.
    """
    names = search_names(study)
    cancelled = sorted(names[search_id] for search_id in control.cancelled)
    values: dict[str, object] = {}
    if control.max_concurrent is not None:
        values["max_concurrent"] = control.max_concurrent
    if control.hours:
        values["budget"] = dict(control.hours)
    if cancelled:
        values["cancel"] = cancelled
    if control.is_paused:
        values["pause"] = True
    content = yaml.safe_dump(values, allow_unicode=True, sort_keys=False).encode()
    parsed_control(content, study, str(paths.control))
    put(paths.control, content)


def searches_named(study: Study, given: Sequence[str]) -> frozenset[str]:
    """Ids of the searches with these names or ids.

    Raises:
        TrialInputError: there is no such search; says the nearest names.
    """
    ids = _ids(study)
    for name in given:
        if name not in ids:
            raise unknown_name("search", name, search_names(study).values())
    return frozenset(ids[name] for name in given)


def search_names(study: Study) -> Mapping[str, str]:
    """Search id -> its name, as ``podium status`` shows it."""
    return {search.id: search_name(study, search) for search in searches(study)}


def control_text(study: Study, control: Control) -> str:
    """What control changes, in words."""
    parts = ["paused"] if control.is_paused else []
    if control.max_concurrent is not None:
        parts.append(f"max_concurrent {control.max_concurrent}")
    for name, hours in control.hours.items():
        parts.append(f"{name} {'without limit' if hours is None else f'{hours:g}'}")
    if control.cancelled:
        names = search_names(study)
        cancelled = sorted(names[it] for it in control.cancelled)
        num_others = len(cancelled) - _NUM_NAMED
        others = f" and {num_others} more" if num_others > 0 else ""
        parts.append(f"cancelled {', '.join(cancelled[:_NUM_NAMED])}{others}")
    return "; ".join(parts) or "nothing is changed"


class ControlWatch:
    """Gives what ``control.yaml`` says while a study runs; called often, it reads now and then.

    What is wrong with an edit is said once, and changes nothing.

    Raises:
        PodiumError: as `read_control`, of the file as it is at the start.
    """

    def __init__(
        self,
        study: Study,
        paths: StudyPaths,
        say: Callable[[str], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._study, self._paths, self._say, self._clock = study, paths, say, clock
        is_remote = isinstance(paths.folder, RemotePath)
        self._pause = _REMOTE_READ_SECONDS if is_remote else _READ_SECONDS
        self._content = read_bytes(paths.control)
        self._control = parsed_control(self._content, study, str(paths.control))
        self._read_at = clock()
        self._problem = ""
        if self._control != Control():
            say(f"{paths.control.name}: {control_text(study, self._control)}")

    def __call__(self) -> Control:
        """What it says now, or said last if it is wrong or cannot be read."""
        if self._clock() >= self._read_at + self._pause:
            self._read_at = self._clock()
            self._read()
        return self._control

    def _read(self) -> None:
        try:
            with retrying_for(0):
                content = read_bytes(self._paths.control)
            if content == self._content:
                return
            control = parsed_control(content, self._study, self._paths.control.name)
        except StoreError as error:  # the next time is soon enough
            _log.debug("%s was not read: %s", self._paths.control, error)
            return
        except PodiumError as error:
            if str(error) != self._problem:
                self._problem = str(error)
                self._say(f"warning: {self._problem}\nNothing is changed until it is corrected.")
            return
        self._content, self._problem = content, ""
        if control != self._control:
            self._control = control
            self._say(f"{self._paths.control.name}: {control_text(self._study, control)}")


def _ids(study: Study) -> dict[str, str]:
    """Name of each search, and its id -> its id."""
    names = search_names(study)
    return {name: search_id for search_id, name in names.items()} | {it: it for it in names}


def parsed_control(content: bytes | None, study: Study, source: str) -> Control:
    """What the bytes of ``control.yaml`` say; nothing without the file.

    Raises:
        StudyError: it is no YAML, or a key or value is wrong.
    """
    try:
        text = (content or b"").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise StudyError([f"{source}: it is not UTF-8 at byte {error.start}"]) from None
    root = compose(text, source)
    problems = Problems(root)
    keys = read_keys(_Keys, root.values, (), problems)
    problems.raise_any()
    assert keys is not None
    stated = root.values.get("budget") or ()
    hours = {name: it for name, it in asdict(keys.budget).items() if name in stated}
    if hours:
        check_budget(replace(study, budget=Control(hours=hours).budget(study.budget)), problems)
    given = keys.cancel or ()
    ids = _ids(study) if given else {}
    for index, name in enumerate(given):
        if name not in ids:
            path = ("cancel", index)
            choices = search_names(study).values()
            problems.add(path, "no search has this name", got=name, choices=choices)
    problems.raise_any()
    return Control(
        max_concurrent=keys.max_concurrent,
        cancelled=frozenset(ids[it] for it in given),
        hours=hours,
        is_paused=bool(keys.pause),
    )
