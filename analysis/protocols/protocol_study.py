"""Everything that is reported of a study's validation protocols.

Scores, regrets and optimism are in [0, 1], as in the store. A statistic that the study cannot give
has its reason in ``reasons``, under the name of the attribute that is empty.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from analysis.protocols.scoring_runs import SCALE_KIND
from analysis.protocols.selection_quality import SelectionQuality
from analysis.scores.protocol_runs import Protocol

__all__ = ["ProtocolStudy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolStudy:
    """The statistics of a study's protocols; the page on statistics defines each.

    Attributes:
        name: name of the study.
        metric: label of the objective: ``Recall@1``, ``nDCG@1``.
        k: value of K of the objective.
        protocols: validation protocols in the study's order.
        is_recorded: whether any search trial was tested in quarantine.
        same_splits: whether all repeats of a search have one split.
        has_gpus: whether hours are GPU hours; else hours of worker slots without GPU.
        num_blocks: number of blocks.
        num_losses: number of losses.
        num_repeats: number of repeats of each search.
        num_configs: largest number of configs tried in a search.
        runs: search runs, from ``search_runs``.
        finals: conditions and gains of the final stage by protocol, from ``group_means``.
        finals_by_loss: conditions and gains by protocol and loss.
        final_differences: differences of the conditions between protocols, from
            ``paired_differences``.
        unit: what the intervals of finals are over: ``repeats``, or ``seeds`` of a single one.
        num_kept: label of a protocol -> number of searches whose winner is the published default.
        num_missing: number of finalists and seeds without a test score of every fold.
        scale: picks of all protocols, scored by the same networks; None if that is impossible.
        own: picks of each protocol, scored by its own runs of other repeats; None if impossible.
        configs: validation and test score of each config, from ``config_points``.
        same_run: regret and agreement on the runs chosen from, from ``same_run_means``; null
            without quarantine.
        losses: regret of choosing a loss; empty with one loss.
        optimism_over_classes: optimism by halves of the validation classes; empty without hits.
        optimism_over_runs: optimism by fresh runs; null means without any.
        costs: hours of each protocol and the Pareto front, from ``protocol_costs``.
        spent_hours: hours of all attempts that were made, copies counted once.
        best_of_trials: expected best of n random trials, from ``best_of_trials``.
        readings: how often test classes were scored, from ``test_readings``.
        num_copies: number of final trials that were trained for another search and copied.
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
        """Labels of the protocols, in the study's order."""
        return tuple(protocol.label for protocol in self.protocols)

    @property
    def shown(self) -> Mapping[str, str]:
        """Label -> label in tables and figures, where leaking protocols are marked."""
        return {protocol.label: protocol.shown for protocol in self.protocols}

    @property
    def choices(self) -> SelectionQuality | None:
        """Picks on one scale, or by own runs if there is no scale; None with neither."""
        return self.scale or self.own

    @property
    def scale_shown(self) -> str:
        """Label, as in tables, of the protocol whose runs are the one scale."""
        return next(protocol.shown for protocol in self.protocols if protocol.kind == SCALE_KIND)

    def in_order(self, frame: pl.DataFrame) -> list[dict[str, Any]]:
        """The rows of a frame with a column ``protocol``, protocols in the study's order."""
        rows = frame.to_dicts()
        return [row for label in self.order for row in rows if row["protocol"] == label]
