"""Everything that a study says of its validation protocols.

Scores, regrets and optimism are shares of 1, as in the store. What the study cannot say has its
reason in ``reasons``, under the name of the attribute that is empty.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from analysis.protocols.protocol_selection import SelectionQuality
from analysis.protocols.scoring_runs import SCALE_KIND
from analysis.scores.protocol_runs import Protocol

__all__ = ["ProtocolStudy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolStudy:
    """The statistics of a study's protocols; the page on statistics defines each.

    Attributes:
        metric: ``Recall@1``, ``nDCG@1``.
        protocols: in the study's order.
        is_recorded: whether searches were tested in quarantine.
        same_splits: whether all repeats of a search have one split.
        has_gpus: whether hours are of GPUs, or of slots without one.
        num_repeats: of each search.
        num_configs: tried in a search, at most.
        runs: search runs, from ``search_runs``.
        finals: rungs and gaps of the final stage by protocol, from ``group_means``.
        finals_by_loss: the same by protocol and loss.
        final_differences: of the rungs between protocols, from ``paired_differences``.
        unit: what the intervals of finals are over: ``repeats``, or ``seeds`` of a single one.
        num_kept: searches of each protocol whose winner is the published default.
        num_missing: finalists and seeds without a test score of every fold.
        scale: choices of all protocols, scored by the same networks; None without.
        own: choices of each protocol, scored by its own runs of other repeats; None without.
        configs: from ``config_points``, on one scale if there is one.
        same_run: from ``own_runs``; empty without quarantine.
        losses: regret of choosing a loss; empty with one.
        optimism_over_classes: optimism by halves of the validation classes; empty without hits.
        optimism_over_runs: optimism by fresh runs; empty without any.
        costs: hours and front.
        spent_hours: of all attempts of searches and finals that really were made.
        best_of_trials: what so many random trials find.
        readings: how often test classes were scored.
        num_copies: final trials that were trained for another search and copied.
        reasons: attribute -> why it is empty, wholly or in part.
    """

    name: str
    metric: str
    k: int
    protocols: tuple[Protocol, ...]
    is_recorded: bool
    same_splits: bool
    has_gpus: bool
    num_blocks: int
    num_losses: int
    num_repeats: int
    num_configs: int
    runs: pl.DataFrame
    finals: pl.DataFrame
    finals_by_loss: pl.DataFrame
    final_differences: pl.DataFrame
    unit: str
    num_kept: Mapping[str, int]
    num_missing: int
    scale: SelectionQuality | None
    own: SelectionQuality | None
    configs: pl.DataFrame
    same_run: pl.DataFrame
    losses: pl.DataFrame
    optimism_over_classes: pl.DataFrame
    optimism_over_runs: pl.DataFrame
    costs: pl.DataFrame
    spent_hours: float
    best_of_trials: pl.DataFrame
    readings: pl.DataFrame
    num_copies: int
    reasons: Mapping[str, str]

    @property
    def order(self) -> tuple[str, ...]:
        """Labels of the protocols."""
        return tuple(protocol.label for protocol in self.protocols)

    @property
    def shown(self) -> Mapping[str, str]:
        """Label -> as tables and figures have it, so that leaking ones are marked."""
        return {protocol.label: protocol.shown for protocol in self.protocols}

    @property
    def choices(self) -> SelectionQuality | None:
        """Choices on one scale, or by own runs where there is none."""
        return self.scale or self.own

    @property
    def scale_shown(self) -> str:
        """The protocol whose runs are the one scale, as tables have it."""
        return next(protocol.shown for protocol in self.protocols if protocol.kind == SCALE_KIND)

    def in_order(self, frame: pl.DataFrame) -> list[dict[str, Any]]:
        """The rows of a frame with a column ``protocol``, protocols in the study's order."""
        rows = frame.to_dicts()
        return [row for label in self.order for row in rows if row["protocol"] == label]
