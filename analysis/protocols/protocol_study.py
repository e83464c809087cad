"""Everything that is reported of a study's validation protocols.

Scores, regrets and optimism are in [0, 1], as in the store. A value that the study cannot give has
the reason beside it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from podium.analysis.protocols.costs import study_costs
from podium.analysis.protocols.default_tuned_refit import Finals, study_finals
from podium.analysis.protocols.optimism_by_protocol import (
    NO_FRESH_RUNS,
    fresh_runs,
    optimism_over_runs,
    searched_on_one_split,
    study_optimism_over_classes,
)
from podium.analysis.protocols.scoring_runs import SCALE_KIND, ScoringRuns, scoring_runs
from podium.analysis.scores.cached_reader import CachedReader
from podium.analysis.scores.gpu_shares import has_gpus
from podium.analysis.scores.protocol_run_checks import SEARCH
from podium.analysis.scores.protocol_runs import Protocol, protocols_of, test_readings
from podium.errors import PodiumError
from podium.orchestrator.results.records.metric_columns import metric_label
from podium.orchestrator.results.storage.locations import Place

_HEAVY = ("traceback", "log", "settings", "message")


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
        optimism_over_classes: optimism of the validation scores of picks by halves of the
            validation classes; empty without hits.
        no_halves: why that is empty; else empty.
        optimism_over_runs: the same by fresh runs; null means without any.
        costs: hours of each protocol, and which are on the front of cost and regret.
        spent_hours: hours of all attempts that were made, copies counted once.
        num_copies: number of final trials that were trained for another search and copied.
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
    optimism_over_classes: pl.DataFrame
    no_halves: str
    optimism_over_runs: pl.DataFrame
    costs: pl.DataFrame
    spent_hours: float
    num_copies: int
    readings: pl.DataFrame

    @property
    def reasons(self) -> dict[str, str]:
        """Name of a statistic -> why it is missing, wholly or in part."""
        one_protocol = "there is one protocol, and nothing to compare it with"
        has_fresh_runs = self.optimism_over_runs["mean"].count() > 0
        found = {
            "scale": self.picks.no_scale,
            "own": self.picks.no_own,
            "optimism_over_classes": self.no_halves,
            "optimism_over_runs": "" if has_fresh_runs else NO_FRESH_RUNS,
            "final_differences": one_protocol if len(self.protocols) < 2 else "",
            "finals": self.finals.no_gain,
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


def read_protocols(folder: Place, k: int | None = None) -> ProtocolStudy:
    """The statistics of a results folder, finished or not.

    Args:
        folder: results folder of the study.
        k: value of K of the objective; None means the study's first.

    Raises:
        PodiumError: the folder holds no results, there is no such K, or no trial of a search has
            ended yet.
    """
    reader = CachedReader(folder, k=k)
    return protocol_study(reader, reader.trials().drop(_HEAVY, strict=False).collect())


def protocol_study(reader: CachedReader, trials: pl.DataFrame) -> ProtocolStudy:
    """The statistics of a store's trials, in whatever order they come.

    Raises:
        PodiumError: no trial of a search has ended yet.
    """
    study, trials = reader.study(), trials.sort("trial_id", "search")
    runs = reader.search_runs(trials)
    if runs.is_empty():
        raise PodiumError("this study has no ended trial of a search yet")
    protocols = protocols_of(study)
    picks = scoring_runs(runs, protocols, shared_configs=study["search"]["shared_configs"])
    costs, spent_hours, num_copies = study_costs(reader, trials, picks.fairest, protocols)
    over_classes, no_halves = study_optimism_over_classes(reader, trials)
    parts = reader.final_runs(trials)
    return ProtocolStudy(
        name=study["name"],
        metric=metric_label(reader.objective, reader.k),
        k=reader.k,
        protocols=protocols,
        same_splits=study["search"]["splits"] == "same",
        has_gpus=has_gpus(study),
        runs=runs,
        finals=study_finals(reader, trials, order=[protocol.label for protocol in protocols]),
        picks=picks,
        optimism_over_classes=over_classes,
        no_halves=no_halves,
        optimism_over_runs=optimism_over_runs(
            runs, fresh_runs(trials, parts), one_split=searched_on_one_split(trials)
        ),
        costs=costs,
        spent_hours=spent_hours,
        num_copies=num_copies,
        readings=test_readings(trials),
    )
