"""Reports that a trial yields while it runs, and their JSON. Plain values, no torch."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One number: a metric of `trainables.tasks` at one K, or the mean training loss.

    Training has the role ``train`` and no K.
    """

    role: str
    metric: str
    value: float
    k: int | None = None
    hits: int | None = None
    queries: int | None = None
    gallery: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassHits:
    """Per-class Recall@K counts of one role and one K, column by column (all the same length).

    ``class_ids`` index the data set's full, sorted class list.
    """

    role: str
    k: int
    class_ids: tuple[int, ...]
    queries: tuple[int, ...]
    hits: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochReport:
    """The state after one epoch of one fold. Epoch 1 is the first trained one; 0 is untrained."""

    fold: int
    epoch: int
    scores: tuple[Score, ...]
    class_hits: tuple[ClassHits, ...]
    seconds: float
    peak_memory_mb: float

    @property
    def has_validation(self) -> bool:
        """Whether anything was validated after this epoch."""
        return any(score.role == "val" for score in self.scores)

    def validation(self, metric: str, k: int) -> float:
        """The value of a validation metric at one K.

        Raises:
            KeyError: the epoch was not validated by this metric and K.
        """
        for score in self.scores:
            if score.role == "val" and score.metric == metric and score.k == k:
                return score.value
        raise KeyError(f"no validation {metric} at K = {k} in the report of epoch {self.epoch}")

    def recall(self, k: int) -> float:
        """Validation Recall@k of this epoch."""
        return self.validation("recall", k)


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """One retrieved image; ``is_correct`` is None where images are not retrieved by class."""

    class_name: str
    is_correct: bool | None
    similarity: float
    png: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """One query and its nearest gallery images, best first."""

    class_name: str
    png: bytes
    neighbours: tuple[Neighbour, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TestReport:
    """Test scores of one fold's selected epoch; given at most once per fold and trial."""

    __test__ = False  # pytest: not a test class

    fold: int
    epoch: int
    scores: tuple[Score, ...]
    class_hits: tuple[ClassHits, ...]
    retrievals: tuple[Retrieval, ...]
    seconds: float


Report = EpochReport | TestReport


def reports_to_json(reports: Sequence[Report]) -> str:
    """Floats are written so that they read back as the same numbers; pictures as base64."""
    return json.dumps([asdict(report) for report in reports], default=_text, allow_nan=False)


def reports_from_json(text: str) -> tuple[Report, ...]:
    """The inverse of `reports_to_json`."""
    return tuple(_report(values) for values in json.loads(text))


def _text(png: object) -> str:
    assert isinstance(png, bytes), "reports hold plain values and pictures"
    return base64.b64encode(png).decode("ascii")


def _report(values: Mapping[str, Any]) -> Report:
    plain = {
        **values,
        "scores": tuple(Score(**score) for score in values["scores"]),
        "class_hits": tuple(_class_hits(hits) for hits in values["class_hits"]),
    }
    if "retrievals" not in values:
        return EpochReport(**plain)
    return TestReport(
        **{**plain, "retrievals": tuple(_retrieval(found) for found in values["retrievals"])}
    )


def _class_hits(values: Mapping[str, Any]) -> ClassHits:
    return ClassHits(
        role=values["role"],
        k=values["k"],
        class_ids=tuple(values["class_ids"]),
        queries=tuple(values["queries"]),
        hits=tuple(values["hits"]),
    )


def _retrieval(values: Mapping[str, Any]) -> Retrieval:
    return Retrieval(
        class_name=values["class_name"],
        png=base64.b64decode(values["png"]),
        neighbours=tuple(
            Neighbour(**{**neighbour, "png": base64.b64decode(neighbour["png"])})
            for neighbour in values["neighbours"]
        ),
    )
