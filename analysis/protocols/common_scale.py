"""One scale for all protocols: the same networks score what each of them picked.

Protocols train on different classes, so the test scores of their own runs differ in level for
reasons that have nothing to do with what they picked. Where all protocols tried the same configs
and one of them, ``test_tuned``, trained each config on all training classes, its test scores are a
scale on which every pick can be laid. The runs of the choice's own repeat are left out: they share
its seed, and ``test_tuned`` itself chose by them.
"""

from collections.abc import Sequence

import polars as pl

from analysis.scores.protocol_runs import Protocol, stopping_protocols

__all__ = ["SCALE_KIND", "common_tests", "without_scale"]

SCALE_KIND = "test_tuned"


def without_scale(
    runs: pl.DataFrame, protocols: Sequence[Protocol], *, shared_configs: bool
) -> str:
    """Why protocols cannot be laid on one scale; empty if they can.

    Args:
        runs: search runs, from ``checked_runs``.
        protocols: of the study.
        shared_configs: whether all protocols tried the same configs.
    """
    if len(protocols) < 2:
        return "one scale for several protocols needs a second protocol"
    if not shared_configs:
        return (
            "protocols tried different configs, so what they picked cannot be laid on one scale"
            " (search.shared_configs)"
        )
    scale = [protocol for protocol in protocols if protocol.kind == SCALE_KIND]
    if not scale:
        return (
            f"one scale needs a protocol of kind {SCALE_KIND}, which trains every config on all"
            " training classes"
        )
    tested = _scale_runs(runs, scale[0])
    if tested["test"].null_count() == len(tested):
        return f"no search trial of {scale[0].label} was tested (quarantine: record)"
    if scale[0].label in stopping_protocols(runs):
        return (
            f"{scale[0].label} stopped trials early, so a config was tested where it looked good"
            " (search.early_stopping)"
        )
    if tested["repeat"].n_unique() < 2:
        return "a pick is scored by the runs of other repeats, and there is one (search.repeats)"
    return ""


def common_tests(runs: pl.DataFrame, protocols: Sequence[Protocol]) -> pl.DataFrame:
    """Test runs of the scale, under the name of every protocol: ``tested`` of a contest.

    Args:
        runs: search runs, from ``checked_runs``.
        protocols: of the study, with one whose kind is that of the scale.
    """
    scale = next(protocol for protocol in protocols if protocol.kind == SCALE_KIND)
    tested = _scale_runs(runs, scale)
    return pl.concat(
        tested.with_columns(pl.lit(protocol.label).alias("protocol")) for protocol in protocols
    )


def _scale_runs(runs: pl.DataFrame, scale: Protocol) -> pl.DataFrame:
    return runs.filter(pl.col("stage") == "search", pl.col("protocol") == scale.label)
