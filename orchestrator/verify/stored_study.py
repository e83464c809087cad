"""What a results folder holds, as far as it could be read: what its checks look at together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from orchestrator.results.records.retried import RetriedFailure
from orchestrator.results.records.runs import Run
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.study.study import Study
from orchestrator.verify.packed_asks import PackedAsks
from orchestrator.verify.stored_trials import StoredTrials


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredStudy:
    """A results folder.

    Attributes:
        paths: the folder.
        study: the study as it is stored.
        provenance: versions, hardware and hashes; empty if it cannot be read.
        runs: the account of each run; empty if one cannot be read.
        trials: every trial with a row.
        asks: search id -> its stored suggestions, by index.
        retried: trial id -> its withdrawn failures, in order.
    """

    paths: StudyPaths
    study: Study
    provenance: Mapping[str, Any]
    runs: Sequence[Run]
    trials: StoredTrials
    asks: PackedAsks
    retried: Mapping[str, Sequence[RetriedFailure]]
