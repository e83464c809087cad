"""Characters whose labels are their shapes: a data set for trying continuous labels."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Self

from podium.trainables.dataset_interface.dataset import DatasetFacts
from podium.trainables.dataset_interface.label_distances import MaskDistances
from podium.trainables.datasets.glyphs import Glyphs
from podium.trainables.file_caches.decoded_pixels import ArrayPixels
from podium.trainables.settings.training_settings import HyperparameterValue

# An epoch of a second on one core.
_DEFAULTS: Mapping[str, HyperparameterValue] = {"classes": 160, "instances_per_class": 8}


class GlyphMasks(Glyphs):
    """The images of `Glyphs`, retrieved by the overlap of their ink instead of by character.

    The label distance of two images is 1 - IoU of their ink. Training, validation and test have
    different characters, as there.

    Options:
        script, classes, instances_per_class, seed, size: as of `Glyphs`; 160 characters with 8
            images each unless given.
    """

    name = "glyph_masks"

    @classmethod
    def facts(cls, options: Mapping[str, HyperparameterValue]) -> DatasetFacts:
        """See `Dataset.facts`."""
        facts = super().facts({**_DEFAULTS, **options})
        description = f"{facts.description}; retrieved by the overlap of their ink"
        return replace(facts, task="continuous", description=description)

    @classmethod
    def load(cls, options: Mapping[str, HyperparameterValue], cache_folder: Path) -> Self:
        """See `Dataset.load`."""
        dataset = super().load({**_DEFAULTS, **options}, cache_folder)
        assert isinstance(dataset.pixels, ArrayPixels), "glyphs are an array"
        return dataset.with_label_distances(MaskDistances(dataset.pixels.images_NHW))
