"""Which trials losses are compared by, where a study has several protocols.

Losses are compared within a protocol: scores under two of them differ for reasons that are no
loss's. The first protocol of the study that does not leak is taken unless another is asked for.
"""

from collections.abc import Sequence

import polars as pl

from analysis.scores.protocol_runs import Protocol
from orchestrator.results.errors import PodiumError

__all__ = ["compared_protocol", "leak_warning", "trials_of"]


def compared_protocol(protocols: Sequence[Protocol], label: str | None = None) -> Protocol:
    """The protocol that losses are compared under.

    Args:
        protocols: of the study, in its order.
        label: of the one that is asked for.

    Raises:
        PodiumError: no protocol has that label.
    """
    if label is None:
        honest = [protocol for protocol in protocols if not protocol.leaks]
        return (honest or list(protocols))[0]
    for protocol in protocols:
        if protocol.label == label:
            return protocol
    known = ", ".join(protocol.label for protocol in protocols)
    raise PodiumError(f"a protocol of this study is one of {known}; got {label!r}")


def trials_of(trials: pl.DataFrame, label: str) -> pl.DataFrame:
    """The trials of one protocol's searches, and the untrained baselines, which have none.

    Baselines stand under the study's first protocol; here they are given this one.
    """
    is_baseline = pl.col("stage") == "baseline"
    return trials.filter(is_baseline | (pl.col("protocol") == label)).with_columns(
        pl.when(is_baseline).then(pl.lit(label)).otherwise(pl.col("protocol")).alias("protocol")
    )


def leak_warning(protocol: Protocol) -> str:
    """What has to stand beside scores of a protocol that leaks; empty for others."""
    if not protocol.leaks:
        return ""
    return (
        f"{protocol.shown}: epochs and configs were chosen by the test classes that these scores"
        " are of"
    )
