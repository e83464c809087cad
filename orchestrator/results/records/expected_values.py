"""Published values that the results of a study are compared with.

The resolved study holds them as lines of text, one value each, so that a report needs no other
file and hundreds of values stay readable.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedValue:
    """One published test score.

    Attributes:
        block: label of the block.
        loss: name of the loss in the study.
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

        Which one is unknown, so that all K of such a row are compared with nothing.

        Args:
            metric: the study's own; any other than recall may fall.
        """
        if metric != "recall":
            return ()
        rows: dict[ExpectedValue, list[ExpectedValue]] = {}
        for value in self.values:
            rows.setdefault(replace(value, k=0, value=0.0, tolerance=0.0), []).append(value)
        return tuple(value for row in rows.values() if _falls(row) for value in row)


def _falls(row: Sequence[ExpectedValue]) -> bool:
    scores = [value.value for value in sorted(row, key=lambda value: value.k)]
    return any(later < earlier for earlier, later in pairwise(scores))


_COLUMNS = tuple(item.name for item in fields(ExpectedValue))


def expected_record(expected: Expected) -> dict[str, Any]:
    """As plain values for the resolved study; the inverse is `expected_of`."""
    return {
        "source": expected.source,
        "columns": ",".join(_COLUMNS),
        "values": [_line(value) for value in expected.values],
        "num_elsewhere": expected.num_elsewhere,
        "ranks": dict(expected.ranks),
        "rank_tolerance": expected.rank_tolerance,
    }


def expected_of(study: Mapping[str, Any]) -> Expected | None:
    """The published values of a resolved study; None if its study file has no ``expect``.

    Raises:
        ValueError: the stored columns or values are others.
    """
    record = study.get("expect")
    if record is None:
        return None
    columns = next(csv.reader([record["columns"]]))
    if {*columns} != {*_COLUMNS}:
        raise ValueError(f"expected values have the columns {record['columns']}")
    return Expected(
        source=record["source"],
        values=tuple(_value(columns, cells) for cells in csv.reader(record["values"])),
        num_elsewhere=record["num_elsewhere"],
        ranks=dict(record["ranks"]),
        rank_tolerance=record["rank_tolerance"],
    )


def _line(value: ExpectedValue) -> str:
    """Names hold no commas, quotes or line breaks: they name folders, or are losses."""
    return ",".join(_text(getattr(value, name)) for name in _COLUMNS)


def _text(cell: object) -> str:
    return f"{cell:.10g}" if isinstance(cell, float) else str(cell)


def _value(columns: Sequence[str], cells: Sequence[str]) -> ExpectedValue:
    values: dict[str, Any] = dict(zip(columns, cells, strict=True))
    numbers = {"k": int(values["k"]), **{it: float(values[it]) for it in ("value", "tolerance")}}
    return ExpectedValue(**{**values, **numbers})
