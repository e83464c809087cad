"""What defines one trial, as frozen plain values. No torch: plans and hashes stay light."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

__all__ = [
    "LOCATION_OPTIONS",
    "RANDOM_WEIGHTS",
    "UNTRAINED",
    "BackboneSettings",
    "DatasetSettings",
    "HyperparameterValue",
    "ProtocolKind",
    "ProtocolSettings",
    "TestScores",
    "TrainingSettings",
    "TrialSettings",
]

HyperparameterValue = bool | int | float | str

ProtocolKind = Literal[
    "fixed", "kfold", "random_splits", "repeated_kfold", "published", "test_tuned", "refit"
]

TestScores = Literal["all", "recall"]

_CLASS_TEXT = "class_text"
_LABEL_DISTANCES = "label_distances"
_LABEL = "label"

# Options of data sets that are paths. Files are part of a trial's identity by their content, so
# they may be moved.
LOCATION_OPTIONS = ("root", _CLASS_TEXT, _LABEL_DISTANCES)

RANDOM_WEIGHTS = "random"  # a network that starts from nothing, on request only

UNTRAINED = "untrained"  # the pseudo-loss of a trial that only evaluates a fresh network


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetSettings:
    """A data set by name, with options: its own (root, script, ...) and three of any data set.

    ``class_text`` is a file of vectors for the names of its classes
    (`trainables.dataset_interface.class_text`), for losses that need them. ``label_distances`` is
    a ``.npy`` file that says how far the labels of its images are apart; it makes the task
    continuous (`trainables.tasks`). ``label`` is what tables call it; it changes no number.
    """

    name: str
    options: Mapping[str, HyperparameterValue] = field(default_factory=dict)

    @property
    def own_options(self) -> dict[str, HyperparameterValue]:
        """The options that the data set's constructor takes."""
        of_any = (_CLASS_TEXT, _LABEL_DISTANCES, _LABEL)
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

    Attributes:
        kind: one of these kinds.
        name: label of the protocol in tables; changes no number.
        val_fraction: share of classes held out by ``fixed`` and ``random_splits``, in (0, 1).
        folds: number of folds of ``kfold`` and ``repeated_kfold``, from 2.
        repeats: number of repetitions of ``repeated_kfold``, from 2.
        classes_file: file that ``val_classes`` were read from; changes no number.
        val_classes: names of the validation classes of ``published``, sorted.
        split_seed: seed of the kinds that draw classes: not of ``published``, ``test_tuned`` and
            ``refit``.
    """

    kind: ProtocolKind = "fixed"
    val_fraction: float | None = 0.1
    folds: int | None = None
    split_seed: int = 0
    repeats: int | None = None
    classes_file: str | None = None
    val_classes: tuple[str, ...] | None = None
    name: str = ""

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

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "ProtocolSettings":
        """The inverse of `dataclasses.asdict`, also of JSON (lists become tuples again)."""
        named = values.get("val_classes")
        return cls(**{**values, "val_classes": None if named is None else tuple(named)})


@dataclass(frozen=True, slots=True, kw_only=True)
class BackboneSettings:
    """A network by name, and what it starts from.

    ``weights``: ``imagenet``, one of the names its module publishes, the path of a file, or
    ``random``.
    """

    name: str
    weights: str = RANDOM_WEIGHTS


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSettings:
    """Everything of the training recipe that changes the numbers.

    Attributes:
        recipe: name of the recipe that these values come from (`trainables.recipes`).
        mode: ``fine_tune``, or ``frozen_features``: the backbone's features are computed once and
            only the head and the loss are trained.
        epochs: number of passes of the sampler.
        batch_size: number of images that the loss compares.
        micro_batch_size: number of images in one forward pass, 0 for the whole batch.
            Gradients are those of the whole batch all the same.
        samples_per_class: number of images of each class in a balanced batch.
        sampler: name of the batch sampler (`trainables.batch_samplers`).
        optimiser: ``adamw``, ``adam``, ``rmsprop`` or ``sgd``.
        adam_epsilon: epsilon of ``adamw`` and ``adam``, added to the root of the second moment.
        momentum: momentum of ``rmsprop`` and ``sgd``.
        learning_rate: learning rate of the backbone, per step.
        head_learning_rate_factor: the embedding layer's learning rate over the backbone's.
        proxy_learning_rate: learning rate of the loss's own parameters; 0 keeps them as drawn.
        weight_decay: decay of backbone and head, per step and learning rate; all optimisers
            but ``adamw`` take it as a part of the gradient.
        proxy_weight_decay: decay of the loss's own parameters, per step and learning rate.
        step_epochs: number of epochs after which learning rates are scaled by ``step_factor``; 0
            for never.
        warm_up_epochs: first epochs, with a frozen backbone: only the head and the loss's
            own parameters are trained.
        batch_norm: mode of BatchNorm: ``train``; ``frozen_statistics`` normalises by the
            statistics it came with; ``frozen`` rests scale and shift too.
        clip_value: bound of the absolute value of each element of a gradient, 0 for none.
        clipped: parameters clipped: ``all``, ``network`` or ``loss`` (the loss's own).
        precision: ``float32``, or ``bf16`` for the network under autocast; losses are float32.
        channels_last: memory format of the network.
        compile: whether the network goes through torch.compile.
        augmentation: change of training images: ``shift`` (one pixel, of images that have a
            size of their own), ``random_resized_crop`` with a flip, or ``none``.
        crop_scale_min: smallest part of an image's area that a random crop keeps.
        evaluation_crop: side of the centre crop over the shorter side of the resized image.
        cache: ``resized`` decodes each image once per node and keeps it with its shorter side
            resized for evaluation; ``none`` decodes the original again each time.
        loader: ``host`` crops and resizes on the CPU, ``device`` all images of a batch at once
            where the network is.
        pooling: pooling of a backbone's map: ``average``, ``max`` or ``average+max`` (their sum).
        head_init: initial head weights: ``uniform`` is torch's default, ``kaiming`` normal with
            variance 2 / embedding_dim.
        layer_norm: whether features are normalised, without scale and shift, before the embedding
            layer.
        l2: whether the network itself gives embeddings of length 1, for losses on raw embeddings
            too.
    """

    recipe: str = "fast"
    mode: str = "fine_tune"
    epochs: int = 8
    batch_size: int = 32
    micro_batch_size: int = 0
    samples_per_class: int = 4
    sampler: str = "balanced"
    optimiser: str = "adamw"
    adam_epsilon: float = 1e-8
    momentum: float = 0.9
    learning_rate: float = 1e-3
    head_learning_rate_factor: float = 1.0
    proxy_learning_rate: float = 1e-2
    weight_decay: float = 1e-4
    proxy_weight_decay: float = 0.0
    step_epochs: int = 0
    step_factor: float = 0.1
    warm_up_epochs: int = 0
    batch_norm: str = "train"
    clip_value: float = 0.0
    clipped: str = "all"
    precision: str = "float32"
    channels_last: bool = True
    compile: bool = False
    augmentation: str = "shift"
    crop_scale_min: float = 0.08
    evaluation_crop: float = 0.875
    cache: str = "resized"
    loader: str = "host"
    pooling: str = "average"
    head_init: str = "uniform"
    layer_norm: bool = False
    l2: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSettings:
    """One trial: config x folds x seed.

    Attributes:
        image_size: height and width in pixels of the network's input; None where the images of
            the data set have a size of their own.
        folds: indices of the protocol's splits this trial trains on, one after the other.
        hyperparameters: flat; names that are fields of `TrainingSettings` override ``training``,
            all others go to the loss.
        ks: the K of Recall@K; the first is the primary one.
        draw: key by which ``random_splits`` draws this trial's split; empty for other protocols.
        evaluate_test: whether the test classes are read, once, after the epoch is selected.
        test_scores: metrics of the test: ``all``, or ``recall`` alone, without the
            metrics that have no K and without images of retrievals, and without failing where
            test embeddings diverge or collapse: no choice may depend on them. A continuous task
            has its metrics either way.
        stop_epoch: the last epoch that is trained, from 1; None for all that are planned.
            Schedules stay as planned, so that the epochs up to this one are those of the trial
            that continues.
        num_threads: threads torch may use; results are bit-identical for a fixed number.
        code: import path -> fingerprint of what the loss and the backbone name by import path
            (`trainables.foreign_code`); empty without such names, and in trials of versions that
            recorded none.
    """

    dataset: DatasetSettings
    protocol: ProtocolSettings
    folds: tuple[int, ...]
    backbone: BackboneSettings
    embedding_dim: int
    loss: str
    hyperparameters: Mapping[str, HyperparameterValue]
    training: TrainingSettings
    seed: int
    image_size: int | None = None
    ks: tuple[int, ...] = (1, 2, 4, 8)
    draw: str = ""
    evaluate_test: bool = False
    test_scores: TestScores = "all"
    stop_epoch: int | None = None
    num_threads: int = 1
    cache_folder: str | None = None
    code: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-able values, for transport and for hashing; without ``code`` if it is empty.

        So trials without foreign code are what they were before there was such a field.
        """
        values = asdict(self)
        if not self.code:
            del values["code"]
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "TrialSettings":
        """The inverse of `to_dict` (lists become tuples again)."""
        plain = dict(values)
        return cls(
            **{
                **plain,
                "dataset": DatasetSettings(**plain["dataset"]),
                "protocol": ProtocolSettings.from_dict(plain["protocol"]),
                "backbone": BackboneSettings(**plain["backbone"]),
                "training": TrainingSettings(**plain["training"]),
                "folds": tuple(plain["folds"]),
                "ks": tuple(plain["ks"]),
            }
        )
