"""The study that compares one loss with others, as strong as some minutes of two cores allow.

On letters losses are ranked over sets of characters that share none, so that there are many small
blocks; on a folder of images there is one block, and all searches are repeated on it, each with
validation classes of its own.
"""

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from podium.analysis.hypothesis_tests.sign_flip_test import fewest_units
from podium.errors import PodiumError
from podium.orchestrator.study.loss_facts import facts_of
from podium.trainables.dataset_interface.class_splits import (
    fitting_val_fraction,
    refuse_too_few_classes,
)
from podium.trainables.dataset_interface.dataset import DatasetFacts
from podium.trainables.dataset_interface.load_dataset import dataset_facts
from podium.trainables.own_files import files_of
from podium.trainables.settings.loss_expression import parse_loss
from podium.trainables.settings.trial_settings import DatasetSettings

OPPONENTS = ("multi_similarity", "proxy_anchor", "contrastive")
"""A strong loss on pairs, a strong one with proxies, and the classic."""

_ALPHA = 0.05
_VAL_FRACTION = 0.4

# Sets of characters without a common one: script -> how many of so many classes it has.
_CLASSES = 64
_SETS = {"latin": 10, "greek": 3, "cyrillic": 2, "symbols": 9, "armenian": 1}
_FEWEST_SETS = fewest_units(_ALPHA)
_MANY_SETS = 16  # a stronger design comes after so many sets, not before

# CPU seconds of one core, as measured on the machine of benchmarks/RESULTS.md.
_START_SECONDS = 35.0  # imports, Ray, its workers, and the answer
_TRIAL_SECONDS = 0.08
_IMAGE_SECONDS = 0.00019  # of 32 x 32 pixels in training
_SCORED_SECONDS = 0.00006
_DECODED_SECONDS = 0.006  # of a file, once
_CROPPED_SECONDS = 0.0004
_SIDE = 32
_CORES = 2
_USED = 0.8  # of the minutes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Strength:
    """How thoroughly each loss is trained in a block.

    Attributes:
        epochs: epochs of a trial.
        trials: configs of a search.
        seeds: tests of the winner and of the published default of a search.
        repeats: searches of a loss in a block.
        dims: embedding dimensions.
        side: height and width to which image files are resized.
        stopping: rule of early stopping.
    """

    epochs: int
    trials: int
    seeds: int = 1
    repeats: int = 1
    dims: tuple[int, ...] = (32,)
    side: int = _SIDE
    stopping: str = "asha"


_ON_LETTERS = (
    _Strength(epochs=4, trials=3, stopping="none"),
    _Strength(epochs=6, trials=6, seeds=2),
    _Strength(epochs=8, trials=10, seeds=3),
    _Strength(epochs=8, trials=20, seeds=5),
    _Strength(epochs=8, trials=20, seeds=5, dims=(16, 64)),
)
_ON_IMAGES = (
    _Strength(epochs=4, trials=3, repeats=8, stopping="none"),
    _Strength(epochs=8, trials=5, repeats=8, stopping="none"),
    _Strength(epochs=8, trials=8, repeats=10, side=64),
    _Strength(epochs=16, trials=16, repeats=16, side=64),
)


def comparison_keys(
    loss: str, opponents: Sequence[str], *, minutes: int, data: Path | None
) -> dict[str, Any]:
    """The keys of the study file that compares a loss with others.

    All losses have the same search budget, and the same learning rates are searched for them. The
    name of the study is another where anything that changes numbers is, the loss's code too.

    Args:
        loss: name, import path or file of a loss, as in a study file; its files were read.
        opponents: the losses that it is compared with.
        minutes: time that may be spent, on two cores that have nothing else to do.
        data: folder of images by class; None for letters.

    Raises:
        PodiumError: the losses take longer than the minutes.
        TrialInputError: the folder has too few classes, or a class no images.
    """
    losses = [loss, *opponents]
    if minutes < (fewest := fewest_minutes(len(losses), data)):
        given = f"{minutes} {'was' if minutes == 1 else 'were'} given"
        what, fewer = ("", "losses") if data is None else (f" on {data}", "losses or images")
        raise PodiumError(
            f"to compare {len(losses)} losses{what} takes about {fewest} minutes on two cores, and"
            f" {given}: --minutes {fewest}, or fewer {fewer}"
        )
    on_data = (
        _on_letters(len(losses), minutes) if data is None else _on(data, len(losses), minutes)
    )
    keys: dict[str, Any] = {
        **on_data,
        "backbones": ["conv_small"],
        "losses": losses,
        "metrics": {"k": [1]},
        "keep": {"models": False, "embeddings": False},
        "tournament": {
            "question": "other_blocks" if data is None else "these_blocks",
            "against": str(parse_loss(loss)),
        },
    }
    if not any(map(_may_have_proxies, losses)):
        keys["search"]["tune"].remove("proxy_learning_rate")
    return {"study": _name(loss, minutes, keys), **keys}


def _may_have_proxies(loss: str) -> bool:
    is_external = any(term.is_external for term in parse_loss(loss).all_terms)
    return is_external or facts_of(loss).has_proxies([facts_of(loss).defaults])


def description(keys: Mapping[str, Any]) -> str:
    """What such a study trains, in one or two sentences."""
    search, final, training = keys["search"], keys["final"], keys["training"]
    datasets, dims = keys["datasets"], keys["embedding_dims"]
    if "image_sizes" in keys:
        (side,) = keys["image_sizes"]
        data = (
            f"images of {datasets[0]['root']}, resized to {side} x {side} and seen in grey, by a"
            " small network without pretraining (recipe fast, random crops)"
        )
    else:
        data = f"{len(datasets)} sets of {_CLASSES} letters or symbols, by a small network"
        data += f" with {' and '.join(map(str, dims))} dimensions" if len(dims) > 1 else ""
    repeats = search.get("repeats", 1)
    times = f" {repeats} times, with other validation classes each time" if repeats > 1 else ""
    seeds = "1 new seed" if final["seeds"] == 1 else f"{final['seeds']} new seeds"
    return (
        f"{data}. Of each loss {search['trials']} configs are tried{times},"
        f" {training['epochs']} epochs each; the best and the published default are tested with"
        f" {seeds} on classes that no search has seen."
    )


def stronger_minutes(num_losses: int, *, minutes: int, data: Path | None) -> int | None:
    """Minutes from a short list of a design that is stronger; None if there is none."""

    def design(of_minutes: int) -> dict[str, Any]:
        if data is None:
            return _on_letters(num_losses, of_minutes)
        return _on(data, num_losses, of_minutes)

    now = design(minutes)
    return next((more for more in (5, 30, 120) if more > minutes and design(more) != now), None)


def fewest_minutes(num_losses: int, data: Path | None) -> int:
    """Minutes of the weakest comparison of so many losses, on two cores.

    Raises:
        TrialInputError: the folder has too few classes, or a class no images.
    """
    if data is None:
        needed = _FEWEST_SETS * _seconds_of_set(_ON_LETTERS[0], num_losses)
    else:
        needed = _seconds_on(_facts(data), _ON_IMAGES[0], num_losses)
    return math.ceil((needed + _START_SECONDS) / (_CORES * 60 * _USED))


def _seconds_of_set(strength: _Strength, num_losses: int) -> float:
    """CPU seconds of a set of letters."""
    images = 16 * _CLASSES // 2  # half of the classes are for testing
    trained = round(images * (1 - _VAL_FRACTION))
    a_trial = _TRIAL_SECONDS + strength.epochs * (
        trained * _IMAGE_SECONDS + (images - trained) * _SCORED_SECONDS
    )
    # At most, since the best config may be the published default.
    num_trials = num_losses * (strength.trials + 2 * strength.seeds)
    return a_trial * num_trials * len(strength.dims)


def _on_letters(num_losses: int, minutes: int) -> dict[str, Any]:
    left, available = _seconds_left(minutes), sum(_SETS.values())
    fitting = [
        (one, min(available, int(left / _seconds_of_set(one, num_losses)))) for one in _ON_LETTERS
    ]
    weakest = fitting[0]
    strength, num_sets = max(
        (pair for pair in fitting[1:] if pair[1] >= _MANY_SETS),
        key=lambda pair: _ON_LETTERS.index(pair[0]),
        default=weakest,
    )
    return {
        "datasets": _letter_sets()[:num_sets],
        "embedding_dims": list(strength.dims),
        "protocol": {"kind": "fixed", "val_fraction": _VAL_FRACTION},
        "search": _search(strength),
        "final": {"seeds": strength.seeds},
        "training": {"recipe": "fast", "epochs": strength.epochs},
    }


def _letter_sets() -> list[dict[str, Any]]:
    """One set of each script, then the second of each, and so on."""
    by_script = [[(script, n) for n in range(count)] for script, count in _SETS.items()]
    return [
        {
            "name": "glyphs",
            "script": script,
            "classes": _CLASSES,
            "skip": _CLASSES * number,
            "label": f"{script}-{number + 1}",
        }
        for row in zip_longest(*by_script)
        for script, number in filter(None, row)
    ]


def _on(folder: Path, num_losses: int, minutes: int) -> dict[str, Any]:
    facts = _facts(folder)
    val_fraction = fitting_val_fraction(facts.num_train_classes, _VAL_FRACTION)
    seconds = [_seconds_on(facts, one, num_losses) for one in _ON_IMAGES]
    strength = _ON_IMAGES[sum(needed <= _seconds_left(minutes) for needed in seconds) - 1]
    return {
        "datasets": [{"name": "folder", "root": str(folder)}],
        "embedding_dims": list(strength.dims),
        "image_sizes": [strength.side],
        "protocol": {"kind": "fixed", "val_fraction": val_fraction},
        "search": {**_search(strength), "repeats": strength.repeats, "splits": "fresh"},
        "final": {"seeds": strength.seeds},
        "training": {
            "recipe": "fast",
            "epochs": strength.epochs,
            "augmentation": "random_resized_crop",
            "crop_scale_min": 0.5,
        },
    }


def _facts(folder: Path) -> DatasetFacts:
    facts = dataset_facts(DatasetSettings(name="folder", options={"root": str(folder)}))
    refuse_too_few_classes(
        folder, num_train=facts.num_train_classes, num_test=facts.num_test_classes
    )
    return facts


def _seconds_on(facts: DatasetFacts, strength: _Strength, num_losses: int) -> float:
    """CPU seconds of all trials on a folder, whose images are decoded once."""
    pixels = (strength.side / _SIDE) ** 2
    num_trained, num_tested = facts.num_train_images, facts.num_images - facts.num_train_images
    an_epoch = num_trained * (_IMAGE_SECONDS * pixels + _CROPPED_SECONDS)
    a_trial = _TRIAL_SECONDS + strength.epochs * an_epoch + num_tested * _SCORED_SECONDS * pixels
    num_trials = num_losses * strength.repeats * (strength.trials + 2 * strength.seeds)
    return facts.num_images * _DECODED_SECONDS + a_trial * num_trials


def _search(strength: _Strength) -> dict[str, Any]:
    return {
        "trials": strength.trials,
        "tune": ["learning_rate", "proxy_learning_rate"],
        "early_stopping": strength.stopping,
        "order": "deterministic",  # the same call gives the same answer
    }


def _seconds_left(minutes: int) -> float:
    """CPU seconds for trials."""
    return _CORES * 60 * minutes * _USED - _START_SECONDS


def _name(loss: str, minutes: int, keys: Mapping[str, Any]) -> str:
    """Such as ``compare-MyLoss-1min-3f2a9c``; the end is a hash of the keys and the code."""
    code = {file: hashlib.sha256(data).hexdigest() for file, data in files_of(loss).items()}
    losses = [str(parse_loss(name)) for name in keys["losses"]]
    text = json.dumps([{**keys, "losses": losses}, code], sort_keys=True)
    short = re.sub(r"[^A-Za-z0-9_]+", "-", loss.rpartition(":")[2]).strip("-")[:40] or "loss"
    return f"compare-{short}-{minutes}min-{hashlib.sha256(text.encode()).hexdigest()[:6]}"
