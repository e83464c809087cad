"""The file names of a results folder ``<storage>/<study>/``; no other module knows them."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from podium.orchestrator.results.storage.locations import Place, parse_place

# No separators, no glob characters, no "=" (the sign of partition folders), no leading dot
# (the sign of temporary files).
FILE_NAME = r"[\w:+@-][\w.:+@-]*"
_GATHERED_TRIALS = re.compile(r"(\d+)-[0-9a-f]{16}\.gathered\.parquet")


class _Inside:
    """A file or folder of a results folder, by its path in there."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __get__(self, paths: "StudyPaths", kind: object = None) -> Place:
        return paths.folder / self._path


class _Named:
    """Files or folders of a results folder, by a path in there with names and numbers in braces.

    They are given in that order. Names of searches and trials become file names, so those that
    could leave the folder or be taken for a pattern are refused with ValueError.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._parts = re.findall(r"{(\w+)", path)

    def __get__(self, paths: "StudyPaths", kind: object = None) -> Callable[..., Place]:
        return partial(self._of, paths)

    def _of(self, paths: "StudyPaths", *names: str | int) -> Place:
        values = dict(zip(self._parts, names, strict=True))
        for part, name in values.items():
            _check_name(part, str(name))
        return paths.folder / self._path.format_map(values)


@dataclass(frozen=True, slots=True)
class StudyPaths:
    """File names of one results folder."""

    folder: Place

    @classmethod
    def in_storage(cls, storage: str | Place, study: str) -> "StudyPaths":
        """The results folder ``<storage>/<study>``; StoreError for a URI with credentials."""
        _check_name("study", study)
        return cls(parse_place(storage) / study)

    # Which study the folder belongs to, and the columns of its trials; the resolved study;
    # versions, hardware, hashes; and what the user changes while it runs.
    store = _Inside("store.json")
    study = _Inside("study.json")
    provenance = _Inside("provenance.json")
    control = _Inside("control.yaml")
    report = _Inside("report.html")

    # Copies of code that is named by import path, by its fingerprint; they are never imported.
    code = _Inside("code")
    code_folder = _Named("code/{fingerprint}")

    # Who runs it, and who did before, by number.
    locks = _Inside("lock")
    lock = _Named("lock/{number:06d}.json")

    # One trial = one file = one row, and those of a search that is over, by the SHA-256 of all.
    trials = _Inside("trials")
    trial_folder = _Named("trials/search={search}")
    trial = _Named("trials/search={search}/{trial_id}.parquet")
    gathered_trials = _Named("trials/search={search}/{count}-{checksum:.16}.gathered.parquet")

    # What was asked, tried and withdrawn in a search, in parts.
    journals = _Inside("journal")
    journal_folder = _Named("journal/{search}")
    journal = _Named("journal/{search}/{number:06d}.jsonl")

    # What each run spent, and how it ended.
    runs = _Inside("runs")
    run = _Named("runs/{number:06d}.json")

    # What a trial printed and a line for each epoch; what a run said and decided.
    logs = _Inside("logs")
    trial_logs = _Inside("logs/trials")
    trial_log = _Named("logs/trials/{trial_id}.log")
    run_log = _Named("logs/run-{started_at}.log")

    # The state of a trial after its last finished epoch; deleted when it is committed.
    checkpoints = _Inside("checkpoints")
    checkpoint = _Named("checkpoints/{trial_id}.pt")

    # Weights of one fold of a final trial, and the embeddings of its test images.
    models = _Inside("models")
    model = _Named("models/{trial_id}.{fold}.safetensors")
    embeddings = _Inside("embeddings")
    test_embeddings = _Named("embeddings/{trial_id}.{fold}.safetensors")

    @staticmethod
    def num_gathered(trial_file: Place) -> int:
        """Number of trials of a gathered file, as its name says; 0 of the file of one trial."""
        found = _GATHERED_TRIALS.fullmatch(trial_file.name)
        return int(found[1]) if found else 0

    @staticmethod
    def search_of(trial_file: Place) -> str:
        """The search that the path of a trial file says it belongs to: the inverse of `trial`."""
        return trial_file.parent.name.removeprefix("search=")


def is_file_name(name: str) -> bool:
    """Whether a name of a search or a trial can be a file name, and of this folder only."""
    return bool(re.fullmatch(FILE_NAME, name))


def _check_name(what: str, name: str) -> None:
    if not is_file_name(name):
        raise ValueError(
            f"{what} {name!r} cannot be a file name: only letters, digits and . _ : + @ - are"
            " allowed, and no dot at the start"
        )
