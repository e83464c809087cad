"""The file names of a results folder; no other module knows them.

::

    <storage>/<study>/
        store.json        which study this folder belongs to, and the columns of its trials
        study.json        the resolved study          provenance.json   versions, hardware, hashes
        lock/<number>.json                            who runs it, and who did before
        report.html
        code/<fingerprint>/<file>                     copies of code that is named by import path
        code/<fingerprint>/<module>.py                copies of it, which are never imported
        control.yaml      what the user changes while it runs
        trials/search=<search>/<trial_id>.parquet     one trial = one file = one row
        trials/search=<search>/<count>-<hash>.gathered.parquet   those of a search that is over
        journal/<search>/<number>.jsonl               what was asked, tried and withdrawn
        runs/<number>.json                            what each run spent, and how it ended
        runs.json         how many runs there were, so that a lost one is noticed
        logs/trials/<trial_id>.log    what it printed, and a line for each epoch
        logs/run-<UTC time>.log                       what a run said and decided
        checkpoints/<trial_id>.pt                     the state after its last finished epoch
        models/<trial_id>.<fold>.safetensors          weights of a final trial
        embeddings/<trial_id>.<fold>.safetensors      of its test images
"""

import re
from dataclasses import dataclass

from podium.orchestrator.results.storage.locations import Place, parse_place

# No separators, no glob characters, no "=" (the sign of partition folders), no leading dot
# (the sign of temporary files).
_SAFE_NAME = re.compile(r"[\w:+@-][\w.:+@-]*")
_GATHERED_TRIALS = re.compile(r"(\d+)-[0-9a-f]{16}\.gathered\.parquet")
_SEARCH_PREFIX = "search="


class _Inside:
    """A file or folder of a results folder, by its path in there."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __get__(self, paths: "StudyPaths", kind: object = None) -> Place:
        return paths.folder / self._path


@dataclass(frozen=True, slots=True)
class StudyPaths:
    """File names of one results folder.

    Names of searches and trials become file names, so those that could leave the folder or be
    taken for a pattern are refused with ValueError.
    """

    folder: Place

    @classmethod
    def in_storage(cls, storage: str | Place, study: str) -> "StudyPaths":
        """The results folder ``<storage>/<study>``; StoreError for a URI with credentials."""
        return cls(parse_place(storage) / _safe("study", study))

    store = _Inside("store.json")
    study = _Inside("study.json")
    provenance = _Inside("provenance.json")
    report = _Inside("report.html")
    control = _Inside("control.yaml")
    code = _Inside("code")
    locks = _Inside("lock")

    trials = _Inside("trials")
    journals = _Inside("journal")
    runs = _Inside("runs")
    run_count = _Inside("runs.json")  # not in runs/, so that it is not lost with them
    trial_logs = _Inside("logs/trials")
    logs = _Inside("logs")
    checkpoints = _Inside("checkpoints")
    models = _Inside("models")
    embeddings = _Inside("embeddings")

    def code_folder(self, fingerprint: str) -> Place:
        """Copies of the files behind one fingerprint."""
        return self.code / _safe("fingerprint", fingerprint)

    def trial_folder(self, search: str) -> Place:
        """Holds the committed trials of one search."""
        return self.trials / f"{_SEARCH_PREFIX}{_safe('search', search)}"

    def trial(self, search: str, trial_id: str) -> Place:
        """The committed row of one trial."""
        return self.trial_folder(search) / f"{_safe('trial_id', trial_id)}.parquet"

    def gathered_trials(self, search: str, count: int, checksum: str) -> Place:
        """The file of so many trials of one search, by the SHA-256 of what it holds."""
        return self.trial_folder(search) / f"{count}-{checksum[:16]}.gathered.parquet"

    @staticmethod
    def num_gathered(trial_file: Place) -> int:
        """Number of trials of a gathered file, as its name says; 0 of the file of one trial."""
        found = _GATHERED_TRIALS.fullmatch(trial_file.name)
        return int(found[1]) if found else 0

    @staticmethod
    def search_of(trial_file: Place) -> str:
        """The search that the path of a trial file says it belongs to: the inverse of `trial`."""
        return trial_file.parent.name.removeprefix(_SEARCH_PREFIX)

    def journal_folder(self, search: str) -> Place:
        """The journal of one search."""
        return self.journals / _safe("search", search)

    def journal(self, search: str, number: int) -> Place:
        """A part of the journal of one search."""
        return self.journal_folder(search) / f"{number:06d}.jsonl"

    def lock(self, number: int) -> Place:
        """Who had the lock as the so-manieth, and whether it lives."""
        return self.locks / f"{number:06d}.json"

    def run(self, number: int) -> Place:
        """What one run spent, and how it ended."""
        return self.runs / f"{number:06d}.json"

    def trial_log(self, trial_id: str) -> Place:
        """What a trial printed, and a line for each epoch, over all its attempts."""
        return self.trial_logs / f"{_safe('trial_id', trial_id)}.log"

    def run_log(self, started_at: str) -> Place:
        """What one run said and decided."""
        return self.logs / f"run-{_safe('started_at', started_at)}.log"

    def checkpoint(self, trial_id: str) -> Place:
        """The state of a trial after its last finished epoch; deleted when it is committed."""
        return self.checkpoints / f"{_safe('trial_id', trial_id)}.pt"

    def model(self, trial_id: str, fold: int) -> Place:
        """The weights of one fold of a trial."""
        return self.models / f"{_safe('trial_id', trial_id)}.{fold}.safetensors"

    def test_embeddings(self, trial_id: str, fold: int) -> Place:
        """The embeddings of the test images of one fold of a trial."""
        return self.embeddings / f"{_safe('trial_id', trial_id)}.{fold}.safetensors"


def is_file_name(name: str) -> bool:
    """Whether a name of a search or a trial can be a file name, and of this folder only."""
    return bool(_SAFE_NAME.fullmatch(name))


def _safe(what: str, name: str) -> str:
    if not is_file_name(name):
        raise ValueError(
            f"{what} {name!r} cannot be a file name: only letters, digits and . _ : + @ - are"
            " allowed, and no dot at the start"
        )
    return name
