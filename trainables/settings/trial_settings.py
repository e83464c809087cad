"""What defines one trial, as frozen plain values. No torch: plans and hashes stay light."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from podium.trainables.settings.training_settings import (
    UNSET,
    HyperparameterValue,
    TrainingSettings,
)

ProtocolKind = Literal[
    "fixed", "kfold", "random_splits", "repeated_kfold", "published", "test_tuned", "refit"
]

TestScores = Literal["all", "metrics", "recall"]

_CLASS_TEXT = "class_text"
_LABEL_DISTANCES = "label_distances"
_LABEL_METRIC = "label_metric"
_LABEL = "label"

# Options of data sets that are paths. Files are part of a trial's identity by their content, so
# they may be moved.
LOCATION_OPTIONS = ("root", _CLASS_TEXT, _LABEL_DISTANCES)

RANDOM_WEIGHTS = "random"  # a network that starts from nothing, on request only

UNTRAINED = "untrained"  # a fresh network, with the head that losses start from
FEATURES = "features"  # the pooled features of its backbone: it has no head
BASELINES = (UNTRAINED, FEATURES)
"""The pseudo-losses of trials that train nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetSettings:
    """A data set by name, with options."""

    name: str
    """Name of its reader (`trainables.datasets`)."""
    options: Mapping[str, HyperparameterValue] = field(default_factory=dict)
    """Its own (root, script, ...) and four of any data set.

    ``class_text`` is a file of vectors for the names of its classes
    (`trainables.dataset_interface.class_text`), for losses that need them. ``label_distances`` is
    a ``.npy`` file that says how far the labels of its images are apart; it makes the task
    continuous (`trainables.tasks`); ``label_metric`` is the distance of label vectors in it.
    ``label`` is what tables call the data set; it changes no number.
    """

    @property
    def own_options(self) -> dict[str, HyperparameterValue]:
        """The options that the data set's constructor takes."""
        of_any = (_CLASS_TEXT, _LABEL_DISTANCES, _LABEL_METRIC, _LABEL)
        return {name: value for name, value in self.options.items() if name not in of_any}

    @property
    def label(self) -> str:
        """Short name for tables: ``glyphs-latin``, ``cub200``, or what the option says."""
        if _LABEL in self.options:
            return str(self.options[_LABEL])
        script = self.options.get("script")
        return f"{self.name}-{script}" if script else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolSettings:
    """How the training classes are parted into a training and a validation side.

    ``fixed`` keeps ``val_fraction`` of the classes for validation, ``random_splits`` as many, but
    other ones for each draw; ``kfold`` validates each class exactly once over ``folds`` folds,
    ``repeated_kfold`` exactly ``repeats`` times; ``published`` validates ``val_classes``.

    Two kinds train on all training classes. ``test_tuned`` validates the test classes, so that
    epoch and config are chosen by what is reported in the end: it leaks, and exists to measure by
    how much. ``refit`` validates nothing, and its last epoch is the one that is tested.
    """

    kind: ProtocolKind = "fixed"
    """One of these kinds."""
    val_fraction: float | None = 0.1
    """Share of classes held out by ``fixed`` and ``random_splits``, in (0, 1)."""
    folds: int | None = None
    """Folds of ``kfold`` and ``repeated_kfold``, from 2."""
    split_seed: int = 0
    """Seed of the kinds that draw classes: not of ``published``, ``test_tuned`` and ``refit``."""
    repeats: int | None = None
    """Repetitions of ``repeated_kfold``, from 2."""
    classes_file: str | None = None
    """File that ``val_classes`` were read from; changes no number."""
    val_classes: tuple[str, ...] | None = None
    """Names of the validation classes of ``published``, sorted."""
    name: str = ""
    """Label of the protocol in tables; changes no number."""

    @property
    def label(self) -> str:
        """Short name for tables: the name if there is one, else the kind."""
        return self.name or self.kind

    @property
    def leaks(self) -> bool:
        """Whether what is chosen by validation is chosen by the test classes."""
        return self.kind == "test_tuned"

    @property
    def is_validated(self) -> bool:
        """Whether epochs have validation scores, be it on test classes."""
        return self.kind != "refit"

    @property
    def trains_on_all(self) -> bool:
        """Whether no training class is held out."""
        return self.kind in ("test_tuned", "refit")

    @property
    def is_seeded(self) -> bool:
        """Whether ``split_seed`` says which classes are held out."""
        return not self.trains_on_all and self.kind != "published"

    @property
    def num_folds(self) -> int:
        """Number of splits a config is scored on: folds x repeats, 1 for the other kinds."""
        return (self.folds or 1) * (self.repeats or 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackboneSettings:
    """A network by name, and what it starts from."""

    name: str
    """Name of a module of `trainables.backbones`, ``timm:NAME``, or ``package.module:Class``."""
    weights: str = RANDOM_WEIGHTS
    """``imagenet``, one of the names its module publishes, the path of a file, or ``random``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSettings:
    """One trial: config x folds x seed."""

    dataset: DatasetSettings
    protocol: ProtocolSettings

    folds: tuple[int, ...]
    """Indices of the protocol's splits this trial trains on, one after the other."""
    backbone: BackboneSettings

    embedding_dim: int | None
    """Numbers of an embedding; None of `FEATURES`, which are as many as the backbone gives."""
    loss: str
    """An expression (`trainables.settings.loss_expression`), or one of `BASELINES`."""
    hyperparameters: Mapping[str, HyperparameterValue]
    """Flat; names that are fields of `TrainingSettings` override ``training``, all others go to
    the loss."""
    training: TrainingSettings
    """The recipe."""
    seed: int
    """Seed of initial weights, of batches and of augmentations."""
    image_size: int | None = None
    """Height and width in pixels of the network's input; None where the images of the data set
    have a size of their own."""
    ks: tuple[int, ...] = (1, 2, 4, 8)
    """The K of Recall@K; the first is the primary one."""
    draw: str = ""
    """Key by which ``random_splits`` draws this trial's split; empty for other protocols."""
    evaluate_test: bool = False
    """Whether the test classes are read, once, after the epoch is selected."""
    test_scores: TestScores = "all"
    """What the test computes: ``all``; ``metrics``, which leaves out images of retrievals and does
    not fail where test embeddings diverge or collapse, since no choice may depend on them; or of
    these ``recall`` alone, without the metrics that have no K, which validation lacks then too. A
    continuous task has its metrics in any case."""
    stop_epoch: int | None = None
    """The last epoch that is trained, from 1; None for all that are planned. Schedules stay as
    planned, so that the epochs up to this one are those of the trial that continues."""
    num_threads: int = 1
    """Threads torch may use; results are bit-identical for a fixed number."""
    cache_folder: str | None = None
    """Folder of files that any trial can make again, such as resized images; None for podium's
    own."""
    code: Mapping[str, str] = field(default_factory=dict)
    """Import path -> fingerprint of what the loss and the backbone name by import path
    (`trainables.foreign_code`); empty without such names."""

    @property
    def planned_epochs(self) -> int:
        """Number of epochs on each fold."""
        whole = self.hyperparameters.get("epochs", self.training.epochs)
        return int(whole) if self.stop_epoch is None else self.stop_epoch

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-able values, for transport and for hashing.

        Without ``code`` if it is empty, and without settings of `UNSET` at their default: trials
        keep the ids that they had before there were such settings.
        """
        values = _plain(self)
        for name in ("dataset", "protocol", "backbone", "training"):
            values[name] = _plain(values[name])
        for name, default in UNSET.items():
            if values["training"][name] == default:
                del values["training"][name]
        if not self.code:
            del values["code"]
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "TrialSettings":
        """The inverse of `to_dict` (lists become tuples again)."""
        protocol = values["protocol"]
        named = protocol["val_classes"]
        return cls(
            **{
                **values,
                "dataset": DatasetSettings(**values["dataset"]),
                "protocol": ProtocolSettings(
                    **{**protocol, "val_classes": None if named is None else tuple(named)}
                ),
                "backbone": BackboneSettings(**values["backbone"]),
                "training": TrainingSettings(**values["training"]),
                "folds": tuple(values["folds"]),
                "ks": tuple(values["ks"]),
            }
        )


def _plain(settings: Any) -> dict[str, Any]:
    """As `dataclasses.asdict`, which takes ten times longer, of fields that hold plain values."""
    return {
        name: dict(value) if isinstance(value, Mapping) else value
        for name in settings.__dataclass_fields__
        for value in [getattr(settings, name)]
    }
