"""The protocol that losses are compared under, and its trials."""

from collections.abc import Sequence

import polars as pl

from podium.analysis.scores.protocol_runs import Protocol
from podium.errors import PodiumError


def compared_protocol(protocols: Sequence[Protocol], label: str | None = None) -> Protocol:
    """The protocol that losses are compared under: the first that does not leak, if any.

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
    """The trials of one protocol's searches, and baselines, which have none.

    Baselines are stored under the study's first protocol; here they get this one.
    """
    is_baseline = pl.col("stage") == "baseline"
    is_its = is_baseline | (pl.col("protocol") == label)
    # A filter copies all columns, also where it keeps every row.
    are_all = trials.select(is_its.all()).item()
    return (trials if are_all else trials.filter(is_its)).with_columns(
        pl.when(is_baseline).then(pl.lit(label)).otherwise(pl.col("protocol")).alias("protocol")
    )


def leak_warning(protocol: Protocol) -> str:
    """The warning that belongs to scores of a protocol that leaks; empty for others."""
    if not protocol.leaks:
        return ""
    return (
        f"{protocol.shown}: epochs and configs were chosen by the test classes that these scores"
        " are of"
    )
