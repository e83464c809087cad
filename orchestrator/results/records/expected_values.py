"""Published values that the results of a study are compared with.

The resolved study holds all of them, so that a report needs no other file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal

from pydantic import TypeAdapter

Statistic = Literal["test", "validation", "sd"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedValue:
    """One published score, of test classes unless ``statistic`` says otherwise.

    Attributes:
        protocol: label of the search protocol; empty means the one that losses are compared
            under.
        finalist: ``winner`` or ``default``, or ``config``: the trials of searches with one config,
            as scored on test classes out of quarantine.
        train_on: ``part`` or ``all``; empty means ``part`` where the study has it.
        k: K of Recall@K or nDCG@K; 0 for metrics without K.
        value: score in percent, as printed.
        tolerance: by how many percentage points a reproduction may differ.
        metric: name of the metric; empty means the study's own, Recall@K or nDCG@K.
        config: hyperparameters that tell the config, such as ``k=2 w=0.5``; empty for finalists.
        statistic: ``test``; ``validation``, which is that of the best epoch; or ``sd``, the sample
            standard deviation of test scores over folds, in points.
        fold: number of the only fold that it is of, counted from 1; 0 for all.
    """

    block: str
    loss: str
    protocol: str
    finalist: str
    train_on: str
    k: int
    value: float
    tolerance: float
    metric: str = ""
    config: str = ""
    statistic: Statistic = "test"
    fold: int = 0

    @property
    def hyperparameters(self) -> dict[str, str]:
        """The config as names and texts; empty for finalists."""
        return dict(part.split("=", 1) for part in self.config.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The published results a study is compared with; they change no number of the study.

    Attributes:
        source: publication that the values are from.
        values: published scores of what the study covers.
        num_elsewhere: number of values in the published table of other blocks, losses or K.
        ranks: loss -> published average rank in the tournament that the study declares.
        rank_tolerance: by how much an average rank may differ.
    """

    source: str
    values: tuple[ExpectedValue, ...] = ()
    num_elsewhere: int = 0
    ranks: Mapping[str, float] = field(default_factory=dict)
    rank_tolerance: float = 0.5

    def impossible(self, metric: str) -> tuple[ExpectedValue, ...]:
        """Values of rows whose Recall@K falls as K grows: at least one of each row is misprinted.

        Which one is unknown, so that all K of such a row are compared with nothing. Where the
        study's own ``metric`` is another, scores may fall.
        """
        rows: dict[ExpectedValue, list[ExpectedValue]] = {}
        for value in self.values if metric == "recall" else ():
            if value.statistic != "sd":
                rows.setdefault(replace(value, k=0, value=0.0, tolerance=0.0), []).append(value)
        return tuple(value for row in rows.values() if _falls(row) for value in row)


def _falls(row: Sequence[ExpectedValue]) -> bool:
    scores = [value.value for value in sorted(row, key=lambda value: value.k)]
    return any(later < earlier for earlier, later in pairwise(scores))


def expected_of(study: Mapping[str, Any]) -> Expected | None:
    """The published values of a resolved study; None if its study file has no ``expect``."""
    return TypeAdapter[Expected | None](Expected | None).validate_python(study["expect"])
