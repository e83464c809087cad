"""What a training recipe is: values by data set, backbone and loss."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from podium.trainables.registry import literals, names
from podium.trainables.settings.training_settings import HyperparameterValue, TrainingSettings

Values = Mapping[str, HyperparameterValue]

ANY = "*"  # in a row: every data set, or every backbone

# What the recipes of papers do on podium's own data sets and network, which no paper has: images
# of one size are not cropped, and a network that starts from nothing has no statistics to freeze.
ON_GLYPHS: Mapping[tuple[str, str], Values] = {
    ("glyphs", ANY): {"augmentation": "shift"},
    ("glyph_masks", ANY): {"augmentation": "shift"},
    (ANY, "conv_small"): {"batch_norm": "train"},
}

# Losses that compare samples with learned parameters alone, so that a batch needs no two images of
# one class. Published code trains them on randomly drawn batches.
PROXY_LOSSES = tuple(
    name
    for name in names("losses")
    if not literals("losses", name, calls={"frozenset": frozenset})["needs"]
    & {"balanced", "label_distances", "class_text"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The training settings of one source.

    Attributes:
        base: settings for data sets and backbones of which the source says nothing.
        image_size: height and width in pixels of the network's input; None for images that have a
            size of their own.
        rows: settings that differ on a data set with a backbone, either of which may be `ANY`.
            Later rows go before earlier ones.
        losses: values for each loss: its own hyperparameters, and fields of
            `TrainingSettings`.
        losses_on: the same for one data set, before ``losses``.
        reasons: setting of training -> why its source gives losses different values, for every
            setting of which ``losses`` or ``losses_on`` do so.
    """

    base: TrainingSettings
    image_size: int | None
    rows: Mapping[tuple[str, str], Values] = field(default_factory=dict)
    losses: Mapping[str, Values] = field(default_factory=dict)
    losses_on: Mapping[str, Mapping[str, Values]] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)

    def training(self, dataset: str, backbone: str) -> TrainingSettings:
        """The base with all rows that fit, in their order."""
        values: dict[str, HyperparameterValue] = {}
        for (row_dataset, row_backbone), row in self.rows.items():
            if row_dataset in (ANY, dataset) and row_backbone in (ANY, backbone):
                values |= row
        return replace(self.base, **values)  # type: ignore[arg-type]

    def of_loss(self, loss: str, dataset: str | None) -> dict[str, HyperparameterValue]:
        """What one loss is given on a data set; None: on any."""
        on_dataset = self.losses_on.get(dataset, {}) if dataset is not None else {}
        return {**self.losses.get(loss, {}), **on_dataset.get(loss, {})}
