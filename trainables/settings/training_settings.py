"""The training recipe as frozen values: each setting with its legal values and its meaning.

A name in code is the key of ``training`` in a study file. No torch.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, get_args, get_type_hints

from podium.trainables.errors import TrialInputError
from podium.trainables.registry import literals, names
from podium.trainables.settings.legal_ranges import Flag, Interval, OneOf, Range, Text, Whole

HyperparameterValue = bool | int | float | str


@cache
def balanced_samplers() -> tuple[str, ...]:
    """The samplers whose batches hold several images of each of their classes, sorted."""
    package = "batch_samplers"
    return tuple(name for name in names(package) if literals(package, name).get("is_balanced"))


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """Everything of the training recipe that changes the numbers."""

    # Where the values come from, what is trained, and for how long.
    recipe: str = "fast"
    """Name of the recipe that these values come from (`trainables.recipes`)."""
    mode: Annotated[str, OneOf(("fine_tune", "frozen_features"))] = "fine_tune"
    """``frozen_features`` computes the features of the backbone once and trains only the head and
    the loss; ``fine_tune`` trains all."""
    epochs: Annotated[int, Whole(0, 100_000)] = 8
    """Passes of the sampler."""

    # Which images a step sees.
    batch_size: Annotated[int, Whole(2, 1_000_000)] = 32
    """Images that the loss compares."""
    micro_batch_size: Annotated[int, Whole(0, 1_000_000)] = 0
    """Images in one forward pass, 0 for the whole batch; gradients are those of the whole batch
    all the same."""
    samples_per_class: Annotated[int, Whole(1, 100_000)] = 4
    """Images of each class in a batch of a sampler that is balanced."""
    sampler: str = "balanced"
    """Name of the batch sampler (`trainables.batch_samplers`); checked where it is loaded."""

    # The optimiser, and the learning rate and decay of each group of parameters.
    optimiser: Annotated[str, OneOf(("adamw", "adam", "rmsprop", "sgd"))] = "adamw"
    """One optimiser for all parameters."""
    adam_epsilon: Annotated[float, Interval(0.0, 1.0, low_inclusive=False)] = 1e-8
    """Epsilon of ``adamw`` and ``adam``, added to the root of the second moment."""
    momentum: Annotated[float, Interval(0.0, 0.9999)] = 0.9
    """Momentum of ``rmsprop`` and ``sgd``."""
    learning_rate: Annotated[float, Interval(0.0, 1.0, low_inclusive=False)] = 1e-3
    """Learning rate of the backbone, per step."""
    head_learning_rate_factor: Annotated[float, Interval(0.0, 1e4, low_inclusive=False)] = 1.0
    """The embedding layer's learning rate over the backbone's."""
    proxy_learning_rate: Annotated[float, Interval(0.0, 10.0)] = 1e-2
    """Learning rate of the loss's own parameters, per step; 0 keeps them as drawn."""
    weight_decay: Annotated[float, Interval(0.0, 1.0)] = 1e-4
    """Decay of backbone and head, per step and learning rate; all optimisers but ``adamw`` take
    it as a part of the gradient."""
    proxy_weight_decay: Annotated[float, Interval(0.0, 1.0)] = 0.0
    """Decay of the loss's own parameters, per step and learning rate."""
    step_epochs: Annotated[int, Whole(0, 1000)] = 0
    """Epochs after which all learning rates are scaled by ``step_factor``; 0 for never."""
    step_factor: Annotated[float, Interval(0.0, 1.0, low_inclusive=False)] = 0.1
    """Learning rate after a step over that before it."""

    schedule: Annotated[str, OneOf(("steps", "cosine"))] = "steps"
    """``cosine`` takes all learning rates along half a cosine from their value towards 0;
    ``steps`` scales them by ``step_factor``."""
    linear_warm_up_epochs: Annotated[int, Whole(0, 1000)] = 0
    """First epochs, in which all learning rates rise evenly to their value; the cosine begins
    after them."""
    layer_decay: Annotated[float, Interval(0.0, 1.0, low_inclusive=False)] = 1.0
    """Learning rate of each layer of the backbone over that of the layer above it; networks of
    timm only."""

    # Which parts of the backbone rest while the others train.
    warm_up_epochs: Annotated[int, Whole(0, 1000)] = 0
    """First epochs, with a frozen backbone: only the head and the loss's own parameters train."""
    batch_norm: Annotated[str, OneOf(("train", "frozen_statistics", "frozen"))] = "train"
    """Mode of BatchNorm: ``frozen_statistics`` normalises by the statistics it came with,
    ``frozen`` rests scale and shift too."""

    lora_rank: Annotated[int, Whole(0, 10_000)] = 0
    """Rank of the matrices that train beside each linear layer of the backbone, whose own weights
    rest (LoRA, by the library peft); 0 trains the weights themselves; networks of timm only."""

    # The bound of gradients.
    clip_value: Annotated[float, Interval(0.0, 1e6)] = 0.0
    """Bound of the absolute value of each element of a gradient, 0 for none."""
    clipped: Annotated[str, OneOf(("all", "network", "loss"))] = "all"
    """Parameters clipped; ``loss`` are the loss's own."""

    # How the network is computed.
    precision: Annotated[str, OneOf(("float32", "bf16"))] = "float32"
    """``bf16`` is for the network, under autocast; losses are float32."""
    channels_last: Annotated[bool, Flag()] = True
    """Whether the memory format of the network is channels-last."""
    compile: Annotated[bool, Flag()] = False
    """Whether the network goes through torch.compile."""

    gradient_checkpointing: Annotated[bool, Flag()] = False
    """Whether layers of the backbone are computed twice in place of being kept for the gradient:
    less memory, a third more time; networks of timm only."""

    # How images get from their files into the network.
    augmentation: Annotated[
        str, OneOf(("shift", "random_resized_crop", "random_crop", "none"))
    ] = "shift"
    """Change of training images: ``shift`` (one pixel, of images that have a size of their own),
    ``random_resized_crop`` with a flip, or ``random_crop`` with a flip: a square of
    ``evaluation_crop`` of the shorter side, somewhere."""
    transform: Annotated[str, Text()] = ""
    """Code of one's own that changes each training image after the augmentation, as
    ``package.module:NAME`` or ``./mine.py:NAME``; empty for none."""
    crop_scale_min: Annotated[float, Interval(0.0, 1.0, low_inclusive=False)] = 0.08
    """Smallest part of an image's area that a random crop keeps."""
    evaluation_crop: Annotated[float, Interval(0.0, 1.0, low_inclusive=False)] = 0.875
    """Side of the centre crop over the shorter side of the resized image."""
    cache: Annotated[str, OneOf(("resized", "none"))] = "resized"
    """``resized`` decodes each image once per node and keeps it with its shorter side resized for
    evaluation; ``none`` decodes the original again each time."""
    loader: Annotated[str, OneOf(("host", "device"))] = "host"
    """``host`` crops and resizes on the CPU, ``device`` all images of a batch at once where the
    network is."""

    # What makes an embedding of the backbone's features.
    pooling: Annotated[str, OneOf(("average", "max", "average+max"))] = "average"
    """Pooling of a backbone's map; ``average+max`` is their sum."""
    head_init: Annotated[str, OneOf(("uniform", "kaiming"))] = "uniform"
    """Initial weights: ``uniform`` is torch's default, ``kaiming`` normal with variance
    2 / embedding_dim."""
    layer_norm: Annotated[bool, Flag()] = False
    """Whether features are normalised, without scale and shift, before the embedding layer."""
    l2: Annotated[bool, Flag()] = False
    """Whether the network itself gives embeddings of length 1, for losses on raw embeddings
    too."""

    @property
    def is_balanced(self) -> bool:
        """Whether batches hold ``samples_per_class`` images of each of their classes."""
        return self.sampler in balanced_samplers()

    def with_values(self, values: Mapping[str, HyperparameterValue]) -> "TrainingSettings":
        """These settings with those of ``values`` that are settings. Nothing is checked."""
        of_training: dict[str, Any] = {
            name: value for name, value in values.items() if name in TRAINING_TYPES
        }
        return replace(self, **of_training)

    def check(self) -> None:
        """Refuse values that no training can use.

        Raises:
            TrialInputError: names every value that is out of range.
        """
        problems = [
            f"training.{name} {problem}"
            for name, legal in LEGAL_VALUES.items()
            if (problem := legal.problem_with(getattr(self, name)))
        ]
        if problems:
            raise TrialInputError("; ".join(problems))


UNSET: Mapping[str, HyperparameterValue] = MappingProxyType(
    {
        "schedule": "steps",
        "linear_warm_up_epochs": 0,
        "layer_decay": 1.0,
        "lora_rank": 0,
        "gradient_checkpointing": False,
        "transform": "",
    }
)
"""Settings -> their default, at which they are no part of a trial's id."""

# A recipe is the name of a set of values; to override it alone would change nothing.
TRAINING_TYPES: Mapping[str, type] = MappingProxyType(
    {name: kind for name, kind in get_type_hints(TrainingSettings).items() if name != "recipe"}
)
"""Setting that a study or a config may override -> its type, in the order of the fields."""

LEGAL_VALUES: Mapping[str, Range] = MappingProxyType(
    {field.name: legal for field in fields(TrainingSettings) for legal in get_args(field.type)[1:]}
)
"""Setting -> its legal values; ``recipe`` and ``sampler`` are names that are looked up."""
