"""Which columns of a table of scores name what, for the checks of an audit."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from analysis.typed_tables.table_checks import block_text

K = "k"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreColumns:
    """The columns of a frame with one score per row.

    Attributes:
        by: columns that together name a block, the data set first.
        competitor: column of competitors.
        score: column of scores, Float64, null where one is missing.
        average: columns whose rows are averaged within a cell.
        lower_is_better: whether small scores are good.
        has_k: whether the column ``k`` holds the K of a Recall@K.
    """

    by: tuple[str, ...]
    competitor: str
    score: str
    average: tuple[str, ...] = field(default=())
    lower_is_better: bool = field(default=False)
    has_k: bool = field(default=False)

    @property
    def cell(self) -> tuple[str, ...]:
        """Columns that name a cell and its run, whatever the K."""
        return (*self.by, self.competitor, *self.average)

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns that name one row."""
        return (*self.cell, K) if self.has_k else self.cell

    @property
    def is_recall(self) -> bool:
        """Whether scores lie within 0 and 1, or 0 and 100."""
        return self.has_k or self.score.lower().startswith("recall")

    def location(self, row: Mapping[str, object]) -> str:
        """``CUB200-2011/ResNet50/64/Contrastive, k = 2``."""
        text = block_text([row[name] for name in self.cell])
        return f"{text}, k = {row[K]}" if self.has_k else text


def without_unscored(frame: pl.DataFrame, columns: ScoreColumns) -> pl.DataFrame:
    """The rows of the competitors that have a score anywhere."""
    return frame.filter(pl.col(columns.score).is_not_null().any().over(columns.competitor))
