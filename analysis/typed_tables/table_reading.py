"""What a table of scores was taken for."""

from dataclasses import dataclass, field

from podium.analysis.typed_tables.cells import Commas
from podium.analysis.wording import MOST_NAMED, counted, listed

_COMMAS = {"decimal": "commas begin decimals", "thousands": "commas divide thousands"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableReading:
    """What was taken for blocks, competitors, metric and K; its fields are those of ``--json``.

    Attributes:
        by: columns that together name a block.
        blocks: number of blocks.
        competitor: column of competitors.
        competitors: number of competitors.
        metric: column or metric of the scores.
        k: K that is ranked; None if scores have no K, or several are ranked together.
        ks: every K of the table.
        not_used: columns and metrics that are none of these.
        lower_is_better: whether small scores are good.
        commas: what the commas of its numbers are.
    """

    by: tuple[str, ...]
    blocks: int
    competitor: str
    competitors: int
    metric: str
    k: int | None = None
    ks: tuple[int, ...] = field(default=())
    not_used: tuple[str, ...] = field(default=())
    lower_is_better: bool = False
    commas: Commas = "none"

    def line(self) -> str:
        """One line: ``Read as: 12 blocks (dataset x backbone); 10 competitors (loss); ...``."""
        unused = listed(self.not_used, most=MOST_NAMED)
        parts = (
            f"Read as: {counted(self.blocks, 'setting')} ({' x '.join(self.by)})",
            f"{counted(self.competitors, 'competitor')} ({self.competitor})",
            f"metric {self.metric}{', lower is better' if self.lower_is_better else ''}",
            self._k_text() if self.ks else "",
            _COMMAS.get(self.commas, ""),
            f"not used: {unused}" if unused else "",
        )
        return "; ".join(filter(None, parts))

    def _k_text(self) -> str:
        others = [str(k) for k in self.ks if k != self.k]
        if self.k is None:
            return f"K {', '.join(others)}"
        also = f" (also {', '.join(others)}; --where k={others[0]})" if others else ""
        return f"K {self.k}{also}"
