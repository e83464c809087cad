"""Everything that is reported of a study's validation protocols.

Scores, regrets and optimism are in [0, 1], as in the store. A value that the study cannot give has
the reason beside it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from podium.analysis.protocols.costs import Costs
from podium.analysis.protocols.default_tuned_refit import Finals
from podium.analysis.protocols.optimism_by_protocol import Optimism
from podium.analysis.protocols.scoring_runs import SCALE_KIND, ScoringRuns
from podium.analysis.scores.protocol_run_checks import SEARCH
from podium.analysis.scores.protocol_runs import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolStudy:
    """The statistics of a study's protocols; the page on statistics defines each.

    Attributes:
        name: name of the study.
        metric: label of the objective: ``Recall@1``, ``nDCG@1``.
        k: value of K of the objective.
        protocols: validation protocols in the study's order.
        same_splits: whether all repeats of a search have one split.
        has_gpus: whether hours are GPU hours; else hours of worker slots without GPU.
        runs: search runs, from ``search_runs``.
        finals: test scores of default and tuned finalists.
        picks: quality of what was picked, by other test runs.
        losses: regret of choosing a loss; empty with one loss.
        optimism: optimism of the validation scores of picks.
        costs: hours of each protocol, and which are on the front of cost and regret.
        readings: how often test classes were scored, from ``test_readings``.
    """

    name: str
    metric: str
    k: int
    protocols: tuple[Protocol, ...]
    same_splits: bool
    has_gpus: bool
    runs: pl.DataFrame
    finals: Finals
    picks: ScoringRuns
    losses: pl.DataFrame
    optimism: Optimism
    costs: Costs
    readings: pl.DataFrame

    @property
    def reasons(self) -> dict[str, str]:
        """Name of a statistic -> why it is missing, wholly or in part."""
        one_protocol = "there is one protocol, and nothing to compare it with"
        no_losses = "choosing a loss needs two of them, and tested finals"
        found = {
            "scale": self.picks.no_scale,
            "own": self.picks.no_own,
            "optimism_over_classes": self.optimism.no_halves,
            "optimism_over_runs": self.optimism.no_fresh_runs,
            "final_differences": one_protocol if len(self.protocols) < 2 else "",
            "finals": self.finals.no_gain,
            "losses": no_losses if self.losses.is_empty() else "",
        }
        return {name: reason for name, reason in found.items() if reason}

    @property
    def num_blocks(self) -> int:
        """Number of blocks."""
        return self.runs["block"].n_unique()

    @property
    def num_losses(self) -> int:
        """Number of losses."""
        return self.runs["loss"].n_unique()

    @property
    def num_repeats(self) -> int:
        """Number of repeats of each search."""
        return self.runs["repeat"].n_unique()

    @property
    def num_configs(self) -> int:
        """Largest number of configs tried in a search."""
        tried: list[int] = (
            self.runs.group_by(SEARCH).agg(pl.col("config").n_unique())["config"].to_list()
        )
        return max(tried)

    @property
    def order(self) -> tuple[str, ...]:
        """Labels of the protocols, in the study's order."""
        return tuple(protocol.label for protocol in self.protocols)

    @property
    def shown(self) -> Mapping[str, str]:
        """Label -> label in tables and figures, where leaking protocols are marked."""
        return {protocol.label: protocol.shown for protocol in self.protocols}

    @property
    def scale_shown(self) -> str:
        """Label, as in tables, of the protocol whose runs are the one scale."""
        return next(protocol.shown for protocol in self.protocols if protocol.kind == SCALE_KIND)

    def in_order(self, frame: pl.DataFrame) -> list[dict[str, Any]]:
        """The rows of a frame with a column ``protocol``, protocols in the study's order."""
        rows = frame.to_dicts()
        return [row for label in self.order for row in rows if row["protocol"] == label]
