"""Everything that is reported of a study's validation protocols.

Scores, regrets and optimism are in [0, 1], as in the store. A value that the study cannot give has
the reason beside it.
"""

from functools import cached_property
from typing import Any

import polars as pl

from podium.analysis.protocols.costs import hours_of, study_costs
from podium.analysis.protocols.default_tuned_refit import Finals, study_finals
from podium.analysis.protocols.optimism_by_protocol import (
    NO_FRESH_RUNS,
    fresh_runs,
    optimism_over_classes,
    optimism_over_runs,
    searched_on_one_split,
)
from podium.analysis.protocols.scoring_runs import SCALE_KIND, ScoringRuns, scoring_runs
from podium.analysis.scores.cached_reader import CachedReader
from podium.analysis.scores.gpu_shares import has_gpus
from podium.analysis.scores.protocol_run_checks import SEARCH
from podium.analysis.scores.protocol_runs import protocols_of, test_readings
from podium.errors import PodiumError
from podium.orchestrator.results.records.metric_columns import RECALL, metric_label

_HEAVY = ("traceback", "log", "settings", "message")


class ProtocolStudy:
    """The statistics of a study's protocols, each computed on first use and kept.

    The page on statistics defines each.

    Args:
        reader: reader of the results folder of a study, finished or not.
        trials: trials of the study, one row each, in any order; None reads them.

    Attributes:
        name: name of the study.
        metric: label of the objective: ``Recall@1``, ``nDCG@1``.
        k: value of K of the objective.
        protocols: validation protocols in the study's order.
        order: their labels.
        shown: label -> label in tables and figures, where leaking protocols are marked.
        same_splits: whether all repeats of a search have one split.
        has_gpus: whether hours are GPU hours; else hours of worker slots without GPU.
        runs: search runs of the reader.

    Raises:
        PodiumError: no trial of a search has ended yet.
    """

    def __init__(self, reader: CachedReader, trials: pl.DataFrame | None = None) -> None:
        if trials is None:
            trials = reader.trials().drop(_HEAVY, strict=False).collect()
        self._reader, self._trials = reader, trials.sort("trial_id", "search")
        self._study = study = reader.study()
        self.name: str = study["name"]
        self.metric, self.k = metric_label(reader.objective, reader.k), reader.k
        self.protocols = protocols_of(study)
        self.order = tuple(protocol.label for protocol in self.protocols)
        self.shown = {protocol.label: protocol.shown for protocol in self.protocols}
        self.same_splits: bool = study["search"]["splits"] == "same"
        self.has_gpus = has_gpus(study)
        self.runs = reader.search_runs(self._trials)
        if self.runs.is_empty():
            raise PodiumError("this study has no ended trial of a search yet")

    @cached_property
    def finals(self) -> Finals:
        """Test scores of default and tuned finalists."""
        return study_finals(self._reader, self._trials, order=self.order)

    @cached_property
    def picks(self) -> ScoringRuns:
        """Quality of what was picked, by other test runs."""
        is_shared = self._study["search"]["shared_configs"]
        return scoring_runs(self.runs, self.protocols, shared_configs=is_shared)

    @cached_property
    def optimism_over_classes(self) -> pl.DataFrame:
        """Optimism of the validation scores of picks by halves of the validation classes.

        From the function of that name; empty without hits.
        """
        hits = self._reader.search_hits(self._trials) if self._is_at_first_k else ()
        return optimism_over_classes(hits, one_split=searched_on_one_split(self._trials))

    @cached_property
    def optimism_over_runs(self) -> pl.DataFrame:
        """The same by fresh runs; null means without any."""
        fresh = fresh_runs(self._trials, self._reader.final_runs(self._trials))
        one_split = searched_on_one_split(self._trials)
        return optimism_over_runs(self.runs, fresh, one_split=one_split)

    @cached_property
    def costs(self) -> pl.DataFrame:
        """Hours of each protocol, and which are on the front of cost and regret."""
        return study_costs(self._reader, self._trials, self.picks.fairest, self.protocols)

    @cached_property
    def spent_hours(self) -> float:
        """Hours of all attempts that were made, copies counted once."""
        return hours_of(self._reader, self._trials.filter(pl.col("same_as").is_null()))

    @property
    def num_copies(self) -> int:
        """Number of final trials that were trained for another search and copied."""
        return self._trials["same_as"].count()

    @cached_property
    def readings(self) -> pl.DataFrame:
        """How often test classes were scored, from ``test_readings``."""
        return test_readings(self._trials)

    @property
    def _is_at_first_k(self) -> bool:
        return bool(self.k == self._study["ks"][0])

    @property
    def _no_halves(self) -> str:
        """Why there is no optimism over classes; else empty."""
        if len(self.optimism_over_classes):
            return ""
        if self._reader.objective != RECALL.name:
            return "labels are continuous, so classes have no hits"
        if not self._is_at_first_k:
            return "hits of every epoch are stored for the first K only"
        return "no search validated on four classes"

    @property
    def reasons(self) -> dict[str, str]:
        """Name of a statistic -> why it is missing, wholly or in part."""
        one_protocol = "there is one protocol, and nothing to compare it with"
        has_fresh_runs = self.optimism_over_runs["mean"].count() > 0
        found = {
            "scale": self.picks.no_scale,
            "own": self.picks.no_own,
            "optimism_over_classes": self._no_halves,
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
    def scale_shown(self) -> str:
        """Label, as in tables, of the protocol whose runs are the one scale."""
        return next(protocol.shown for protocol in self.protocols if protocol.kind == SCALE_KIND)

    def in_order(self, frame: pl.DataFrame) -> list[dict[str, Any]]:
        """The rows of a frame with a column ``protocol``, protocols in the study's order."""
        rows = frame.to_dicts()
        return [row for label in self.order for row in rows if row["protocol"] == label]
