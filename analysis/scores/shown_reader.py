"""A results store whose losses have the names that are shown of them."""

from collections.abc import Callable
from typing import Any

import polars as pl

from podium.analysis.wording import renamed, shown_names
from podium.orchestrator.results.storage.locations import Place
from podium.orchestrator.results.trial_files.reader import Reader


class ShownReader(Reader):
    """A reader that calls a loss in a file of one's own by its label, or its class if unique.

    Ids of searches, and files, keep the stored names.

    Args:
        folder: results folder of the study.

    Raises:
        PodiumError: ``folder`` is no results folder.
    """

    def __init__(self, folder: Place) -> None:
        super().__init__(folder)
        stored = super().study()
        names, labels = stored.get("losses"), stored.get("labels", {})
        # What is wrong with a damaged study is said where it is read.
        is_whole = isinstance(names, list) and all(isinstance(name, str) for name in names)
        is_whole &= isinstance(labels, dict)
        self.shown = shown_names(names or ()) | labels if is_whole else {}

    def study(self) -> dict[str, Any]:
        """The resolved study."""
        study: dict[str, Any] = renamed(super().study(), self.shown)
        return study

    def provenance(self) -> dict[str, Any]:
        """Versions, hardware and hashes of the study's first start."""
        found: dict[str, Any] = renamed(super().provenance(), self.shown)
        return found

    def summarise(
        self, query: Callable[[pl.LazyFrame], pl.LazyFrame], *, with_present_winner: bool = False
    ) -> pl.DataFrame:
        """The result of a query on all trials, as `Reader.summarise`."""
        return super().summarise(
            lambda rows: query(self._shown(rows)), with_present_winner=with_present_winner
        )

    def _rows(self) -> pl.LazyFrame:
        return self._shown(super()._rows())

    def _shown(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        return rows.with_columns(pl.col("loss").replace(self.shown)) if self.shown else rows
