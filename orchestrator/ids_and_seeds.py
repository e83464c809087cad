"""Hashes and seeds: the same on every machine and after every restart."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from podium.trainables.settings.training_settings import HyperparameterValue
from podium.trainables.settings.trial_settings import ProtocolSettings, TrialSettings

# Raised whenever a change of code changes the numbers of a trial: old and new trials then differ
# in their ids and are never taken for one another.
NUMERICS_VERSION = 2  # proxy losses divide products by lengths: other last bits

# Settings that do not change what is trained.
_NOT_NUMERIC = ("num_threads", "cache_folder", "evaluate_test", "test_scores")

_NUM_SEEDS = 2**31
_ID_LENGTH = 16


def config_hash(hyperparameters: Mapping[str, HyperparameterValue]) -> str:
    """Hash of one point of a search space; the order of the names does not matter."""
    return _digest(dict(hyperparameters))


def trial_id(settings: TrialSettings, *, dataset: str, splits: Sequence[str], weights: str) -> str:
    """Hash of what changes the numbers of a trial, and of nothing else.

    Args:
        settings: settings of the trial; threads, cache folder and tests do not enter the hash.
        dataset: fingerprint of the data set's classes and images.
        splits: hash of each split the trial trains on.
        weights: fingerprint of the weights that the backbone starts from, whatever their path.
    """
    values = settings.to_dict()
    for name in ("dataset", "protocol", "draw", "stop_epoch", *_NOT_NUMERIC):
        del values[name]
    # What a hyperparameter overrides does not act.
    training = {
        name: value
        for name, value in values["training"].items()
        if name != "recipe" and name not in settings.hyperparameters
    }
    identity = {
        **values,
        **_early_stop(settings),
        "backbone": {"name": settings.backbone.name, "weights": weights},
        "training": training,
        "dataset": dataset,
        "splits": list(splits),
        "numerics": NUMERICS_VERSION,
    }
    return _digest(identity)


def _early_stop(settings: TrialSettings) -> dict[str, int]:
    """The last epoch that is trained, if training stops before the last planned one."""
    planned = settings.hyperparameters.get("epochs", settings.training.epochs)
    stop = settings.stop_epoch
    return {} if stop is None or stop == planned else {"stop_epoch": stop}


def copy_id(trial_id: str, search: str) -> str:
    """The id of a copy: the row in one search of a trial that another search has trained.

    Args:
        trial_id: id of the original.
        search: id of the search that holds the copy.
    """
    return _digest({"same_as": trial_id, "search": search})


def id_under(trial_id: str, protocol: str) -> str:
    """The id of a trial of a search under a protocol that is not the first of its study.

    Two protocols may split the classes equally, if only by chance, and each search has its own
    rows.

    Args:
        trial_id: id of the same trial under the first protocol.
        protocol: label of the protocol.
    """
    return _digest({"trial": trial_id, "protocol": protocol})


def draw_of_config(protocol: ProtocolSettings, config: Mapping[str, HyperparameterValue]) -> str:
    """The key by which ``random_splits`` draws the split of a search trial; else empty.

    It is the config, so that a config has one split whichever search suggests it.
    """
    return f"config {config_hash(config)}" if protocol.kind == "random_splits" else ""


def draw_of_seed(protocol: ProtocolSettings, seed: int) -> str:
    """The key by which ``random_splits`` draws the split of a final; else empty.

    It is the trial's seed, so that all competitors share their splits.
    """
    return f"seed {seed}" if protocol.kind == "random_splits" else ""


def seed_for(study_seed: int, stage: str, *index: int | str) -> int:
    """A seed in [0, 2**31); equal for all losses, never equal for two stages or indices."""
    text = json.dumps([study_seed, stage, *index])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") % _NUM_SEEDS


def _digest(values: Mapping[str, Any]) -> str:
    text = json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:_ID_LENGTH]
