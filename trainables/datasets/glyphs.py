"""Characters as classes, typefaces as instances: a data set for trying and testing."""

import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Self

import numpy as np
from PIL import features

from podium.trainables.dataset_interface.class_splits import seeded_order
from podium.trainables.dataset_interface.dataset import Dataset, DatasetFacts
from podium.trainables.datasets._glyph_alphabets import ALPHABETS
from podium.trainables.datasets._glyph_fonts import faces_by_character, fonts_hash
from podium.trainables.datasets._glyph_render import RENDER_VERSION, render_glyphs
from podium.trainables.errors import TrialInputError, did_you_mean
from podium.trainables.file_caches.array_cache import cached_array
from podium.trainables.file_caches.decoded_pixels import ArrayPixels
from podium.trainables.hashing import digest
from podium.trainables.settings.training_settings import HyperparameterValue

# Two classes to train on, two to validate and two to test, at the very least.
_MIN_CLASSES = 6


class Glyphs(Dataset):
    """Grey images of characters in the fonts that matplotlib ships, ink 255 on ground 0.

    No character looks like another of its script. Every second character, in a seeded order, is a
    test class. The first letters of that order stay the same when ``classes`` grows.

    Options:
        script: "latin" (the default), "greek", "cyrillic", "armenian", "georgian", "symbols";
            "arrows", "operators" or "shapes", which are among the symbols; or "all", without the
            letters that look alike across scripts.
        classes: number of characters, chosen by the seed; all of the script if left out.
        skip: number of characters that are passed over first in the seeded order, default 0. Data
            sets of 64 classes that skip 0, 64, 128, ... of one script share no character.
        instances_per_class: images of a character, 2 to 256, default 16. There are 12 to 16 faces
            of each; beyond that, faces come back with other variations.
        seed: seed of the choice, the halves and the variations; default 0.
        size: height and width in pixels, 16 to 128, default 32.
    """

    name = "glyphs"

    @classmethod
    def facts(cls, options: Mapping[str, HyperparameterValue]) -> DatasetFacts:
        """See `Dataset.facts`."""
        chosen = _Options.checked(options, cls.name)
        num_test = chosen.num_classes // 2
        return DatasetFacts(
            num_train_classes=chosen.num_classes - num_test,
            num_test_classes=num_test,
            num_images=chosen.num_classes * chosen.instances_per_class,
            num_train_images=(chosen.num_classes - num_test) * chosen.instances_per_class,
            description=(
                f"{chosen.num_classes} of {len(ALPHABETS[chosen.script])} characters "
                f"(script {chosen.script}), {chosen.instances_per_class} images of each in "
                "matplotlib's typefaces; a data set for trying and testing"
            ),
            side=chosen.size,
        )

    @classmethod
    def load(cls, options: Mapping[str, HyperparameterValue], cache_folder: Path) -> Self:
        """See `Dataset.load`. The first call renders, about 10,000 images a second."""
        chosen = _Options.checked(options, cls.name)
        order = seeded_order(ALPHABETS[chosen.script], f"glyphs {chosen.seed}")
        characters = order[chosen.skip :][: chosen.num_classes]
        names = {_class_name(character): character for character in characters}
        class_names = sorted(names)
        key = digest(
            [
                asdict(chosen),
                "".join(characters),
                RENDER_VERSION,
                fonts_hash(),
                features.version("freetype2"),
            ]
        )
        images = cached_array(
            cache_folder / "glyphs" / f"{chosen.script}-{key}.npy",
            lambda: render_glyphs(
                faces_by_character("".join(names[name] for name in class_names)),
                instances=chosen.instances_per_class,
                seed=chosen.seed,
                size=chosen.size,
            ),
        )
        return cls(
            class_names=class_names,
            test_class_names={_class_name(character) for character in characters[1::2]},
            labels=np.repeat(np.arange(len(names)), chosen.instances_per_class),
            pixels=ArrayPixels(images),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    script: str = "latin"
    classes: int | None = None
    skip: int = 0
    instances_per_class: int = 16
    seed: int = 0
    size: int = 32

    @property
    def num_classes(self) -> int:
        left = len(ALPHABETS[self.script]) - self.skip
        return left if self.classes is None else self.classes

    @classmethod
    def checked(cls, options: Mapping[str, HyperparameterValue], dataset: str) -> "_Options":
        """The options, or one error that has everything that is wrong with them."""
        known = [field.name for field in fields(cls)]
        problems = [
            f"unknown option {name!r}{did_you_mean(name, known)}; known: {', '.join(known)}"
            for name in options
            if name not in known
        ]
        script = options.get("script", cls().script)
        if script not in ALPHABETS:
            problems.append(
                f"script must be one of {', '.join(ALPHABETS)}; got {script!r}"
                f"{did_you_mean(script, ALPHABETS)}"
            )
        most = len(ALPHABETS.get(str(script), ALPHABETS["all"]))
        skip = options.get("skip", 0)
        left = most - skip if isinstance(skip, int) and 0 <= skip <= most - _MIN_CLASSES else most
        ranges = {
            "skip": (0, most - _MIN_CLASSES),
            "classes": (_MIN_CLASSES, left),
            "instances_per_class": (2, 256),
            "seed": (0, 2**31 - 1),
            "size": (16, 128),
        }
        for name, (low, high) in ranges.items():
            value = options.get(name, low)
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                of_script = f" for script {script!r}" if name in ("classes", "skip") else ""
                problems.append(
                    f"{name} must be a whole number in {low}..{high}{of_script}; got {value!r}"
                )
        if problems:
            raise TrialInputError(f"data set {dataset}: {'; '.join(problems)}")
        return cls(**options)  # type: ignore[arg-type]


def _class_name(character: str) -> str:
    return f"U+{ord(character):04X} {unicodedata.name(character)}"
