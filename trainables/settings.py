"""What defines one trial, as frozen plain values. No torch: plans and hashes stay light."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

__all__ = [
    "PLACES",
    "UNTRAINED",
    "DatasetSettings",
    "HyperparameterValue",
    "ProtocolSettings",
    "TrainingSettings",
    "TrialSettings",
]

HyperparameterValue = bool | int | float | str

_CLASS_TEXT = "class_text"
_LABEL_DISTANCES = "label_distances"

# Options of data sets that say where something lies. What lies there is part of a trial's identity
# by its content, so it may be moved.
PLACES = ("root", _CLASS_TEXT, _LABEL_DISTANCES)

UNTRAINED = "untrained"  # the pseudo-loss of a trial that only evaluates a fresh network


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetSettings:
    """A data set by name, with options: its own (root, script, ...) and two of any data set.

    ``class_text`` is a file of vectors for the names of its classes (`trainables.class_text`), for
    losses that need them. ``label_distances`` is a ``.npy`` file that says how far the labels of
    its images are apart; it makes the task continuous (`trainables.tasks`).
    """

    name: str
    options: Mapping[str, HyperparameterValue] = field(default_factory=dict)

    @property
    def own_options(self) -> dict[str, HyperparameterValue]:
        """The options that the data set's constructor takes."""
        of_any = (_CLASS_TEXT, _LABEL_DISTANCES)
        return {name: value for name, value in self.options.items() if name not in of_any}

    @property
    def label(self) -> str:
        """Short name for tables: ``glyphs-latin``, ``cub200``."""
        script = self.options.get("script")
        return f"{self.name}-{script}" if script else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolSettings:
    """How the training classes are parted into a training and a validation side.

    ``fixed`` keeps ``val_fraction`` of the classes for validation; ``kfold`` validates each class
    exactly once over ``folds`` folds.
    """

    kind: Literal["fixed", "kfold"] = "fixed"
    val_fraction: float | None = 0.1
    folds: int | None = None
    split_seed: int = 0

    @property
    def num_folds(self) -> int:
        """How many splits the protocol makes: 1 for ``fixed``."""
        return self.folds or 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSettings:
    """Everything of the training recipe that changes the numbers.

    ``warm_up_epochs``: epochs in which the backbone rests; only the embedding layer and the loss's
    own parameters are trained.
    """

    recipe: str = "fast"
    epochs: int = 8
    batch_size: int = 32
    samples_per_class: int = 4
    sampler: str = "balanced"
    learning_rate: float = 1e-3
    proxy_learning_rate: float = 1e-2
    weight_decay: float = 1e-4
    warm_up_epochs: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSettings:
    """One trial: config x folds x seed.

    Attributes:
        folds: indices of the protocol's splits this trial trains on, one after the other.
        hyperparameters: flat; names that are fields of `TrainingSettings` override ``training``,
            all others go to the loss.
        ks: the K of Recall@K; the first is the primary one.
        evaluate_test: whether the test classes are read, once, after the epoch is selected.
        num_threads: threads torch may use; results are bit-identical for a fixed number.
    """

    dataset: DatasetSettings
    protocol: ProtocolSettings
    folds: tuple[int, ...]
    backbone: str
    embedding_dim: int
    loss: str
    hyperparameters: Mapping[str, HyperparameterValue]
    training: TrainingSettings
    seed: int
    ks: tuple[int, ...] = (1, 2, 4, 8)
    evaluate_test: bool = False
    num_threads: int = 1
    cache_folder: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-able values, for transport and for hashing."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "TrialSettings":
        """The inverse of `to_dict` (lists become tuples again)."""
        plain = dict(values)
        return cls(
            **{
                **plain,
                "dataset": DatasetSettings(**plain["dataset"]),
                "protocol": ProtocolSettings(**plain["protocol"]),
                "training": TrainingSettings(**plain["training"]),
                "folds": tuple(plain["folds"]),
                "ks": tuple(plain["ks"]),
            }
        )
