"""What a trial tells the outside world while it runs. Plain values, no torch."""

from dataclasses import dataclass

__all__ = [
    "ClassHits",
    "EpochReport",
    "Neighbour",
    "Retrieval",
    "Score",
    "TestReport",
]


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
        """The value of a validation metric at one K."""
        for score in self.scores:
            if score.role == "val" and score.metric == metric and score.k == k:
                return score.value
        raise KeyError(f"no validation {metric} at K = {k} in the report of epoch {self.epoch}")

    def recall(self, k: int) -> float:
        """Validation Recall@k of this epoch."""
        return self.validation("recall", k)


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """One retrieved image; ``is_correct`` None where images are not retrieved by class."""

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
