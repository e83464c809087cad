"""What a synthetic study that crosses protocols is made of.

Every config of a block and loss has a true score on test classes. A run's score on them is that,
plus the protocol's level (fewer training classes), luck of the seed, luck of the run, and noise.
Its validation score shares the luck of seed and run, and has noise of its own. Scores are shares
of 1; spreads, noise and levels are in points.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np

from podium.analysis.scores.protocol_runs import Protocol

METRIC, K, POINT = "recall", 1, 0.01
QUERIES = 15  # of a class
STARTED_AT = datetime(2026, 1, 5, 8, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Judge:
    """A protocol: how well it sees a config, and what its trials cost."""

    kind: str = "fixed"
    folds: int = 1
    val_noise: float = 1.5  # of one fold
    level: float = 0.0  # of test scores under it
    seconds: float = 100.0  # of a fold

    @property
    def leaks(self):
        return self.kind == "test_tuned"


THREE = {
    "fixed": Judge(level=-2),
    "kfold": Judge(kind="kfold", folds=3, level=-1),
    "test_tuned": Judge(kind="test_tuned", val_noise=0.5),
}


@dataclass(frozen=True, kw_only=True)
class ProtocolTruth:
    """What the study is made of."""

    judges: Mapping[str, Judge] = field(default_factory=lambda: dict(THREE))
    blocks: tuple[str, ...] = ("glyphs-latin/conv_small/32",)
    losses: tuple[str, ...] = ("contrastive",)
    repeats: int = 6
    configs: int = 8
    seeds: int = 3
    spread: float = 1.0
    run_noise: float = 0.5
    test_noise: float = 0.3
    seed_noise: float = 0.6
    pruned: tuple[int, ...] = ()  # indices of configs
    failed: tuple[int, ...] = ()
    quarantine: bool = True
    shared_configs: bool = True
    splits: str = "same"
    sampler: str = "random"
    train_on: tuple[str, ...] = ("part", "all")
    truth_seed: int = 0
    classes: int = 0  # of a validation fold; 0 stores no hits

    @property
    def protocols(self):
        return tuple(
            Protocol(label=label, kind=judge.kind, leaks=judge.leaks)
            for label, judge in self.judges.items()
        )

    @property
    def study(self):
        return {
            "name": "synthetic",
            "ks": [K],
            "losses": list(self.losses),
            "protocols": [
                {"name": label, "kind": judge.kind} for label, judge in self.judges.items()
            ],
            "search": {
                "sampler": self.sampler,
                "shared_configs": self.shared_configs,
                "splits": self.splits,
            },
            "backbones": [{"name": "conv_small"}],
            "resources": {"gpus_per_trial": 0.0},
        }

    def true_C(self, block=None, loss=None, protocol="", repeat=0):
        """True test score of each config trained on all classes, in points; 0 is the default."""
        block, loss = block or self.blocks[0], loss or self.losses[0]
        own = "" if self.shared_configs else f"{protocol}{repeat}"
        seed = [self.truth_seed, *f"{block}{loss}{own}".encode()]
        return 60 + np.random.default_rng(seed).normal(0, self.spread, self.configs)
