"""Which test runs score the picks of a study, and why others do not.

A search that stops trials early tests only those that it lets run: in other repeats a pick has
test runs where it happened to look good. Such runs would overestimate picks, so they score
nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from podium.analysis.protocols.selection_quality import (
    SelectionQuality,
    selection_quality,
)
from podium.analysis.scores.protocol_runs import Protocol, stopping_protocols

SCALE_KIND = "test_tuned"
"""Kind of the protocol whose test runs score the picks of all."""

_NOT_RECORDED = "searches were not tested (quarantine: record)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringRuns:
    """Picks of all protocols by each set of test runs.

    Attributes:
        is_recorded: whether any search trial was tested in quarantine.
        scale: picks of all protocols, scored by the same networks; None if that is impossible.
        no_scale: why there is no scale; else empty.
        own: picks of each protocol, scored by its own runs of other repeats; None if impossible.
        no_own: why own runs score no picks, or not those of all protocols; else empty.
    """

    is_recorded: bool
    scale: SelectionQuality | None
    no_scale: str
    own: SelectionQuality | None
    no_own: str

    @property
    def fairest(self) -> SelectionQuality | None:
        """Picks on one scale, or by own runs if there is no scale; None with neither."""
        return self.scale or self.own


def scoring_runs(
    runs: pl.DataFrame, protocols: Sequence[Protocol], *, shared_configs: bool
) -> ScoringRuns:
    """Quality of picks, by every set of test runs that the study has."""
    order = [protocol.label for protocol in protocols]
    no_scale = _no_scale_reason(runs, protocols, shared_configs=shared_configs)
    tested = None
    if not no_scale:
        of_scale = _scale_runs(runs, protocols)
        tested = pl.concat(of_scale.with_columns(protocol=pl.lit(label)) for label in order)
    stopping = stopping_protocols(runs)
    complete = runs.filter(~pl.col("protocol").is_in(stopping))
    own = None if complete.is_empty() else selection_quality(complete, order=order)
    return ScoringRuns(
        is_recorded=bool(runs["test"].is_not_null().any()),
        scale=None if tested is None else selection_quality(runs, order=order, tested=tested),
        no_scale=no_scale,
        own=own,
        no_own=_no_own_reason(runs, stopping, is_scored=own is not None),
    )


def _no_own_reason(runs: pl.DataFrame, stopping: Sequence[str], *, is_scored: bool) -> str:
    """Why own runs score no picks, or not those of all protocols; empty if they do."""
    if runs["test"].null_count() == len(runs):
        return _NOT_RECORDED
    if stopping:
        return _stopped_early(*stopping)
    if is_scored:
        return ""
    if runs["repeat"].n_unique() < 2:
        return "a pick is scored by the runs of other repeats, and there is one (search.repeats)"
    return "no config that was picked was tried in another repeat (search.shared_configs)"


def _no_scale_reason(
    runs: pl.DataFrame, protocols: Sequence[Protocol], *, shared_configs: bool
) -> str:
    """Why protocols cannot be compared on one scale; empty if they can."""
    if len(protocols) < 2:
        return "one scale for several protocols needs a second protocol"
    if not shared_configs:
        return (
            "protocols tried different configs, so what they picked cannot be compared on one"
            " scale (search.shared_configs)"
        )
    scale = [protocol for protocol in protocols if protocol.kind == SCALE_KIND]
    if not scale:
        return (
            f"one scale needs a protocol of kind {SCALE_KIND}, which trains every config on all"
            " training classes"
        )
    tested = _scale_runs(runs, protocols)
    if tested["test"].null_count() == len(tested):
        return f"no search trial of {scale[0].label} was tested (quarantine: record)"
    if scale[0].label in stopping_protocols(runs):
        return _stopped_early(scale[0].label)
    if tested["repeat"].n_unique() < 2:
        return "a pick is scored by the runs of other repeats, and there is one (search.repeats)"
    return ""


def _stopped_early(*labels: str) -> str:
    return (
        f"{', '.join(labels)} stopped trials early, so a config was tested where it looked good"
        " (search.early_stopping)"
    )


def _scale_runs(runs: pl.DataFrame, protocols: Sequence[Protocol]) -> pl.DataFrame:
    scale = next(protocol for protocol in protocols if protocol.kind == SCALE_KIND)
    return runs.filter(pl.col("stage") == "search", pl.col("protocol") == scale.label)
