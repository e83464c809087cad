"""Which resampling of a tournament's blocks a report leads with."""

from dataclasses import dataclass

from analysis.bootstrap import (
    FEW_CLUSTERS,
    LeaveOneOut,
    RankBootstrap,
    bootstrap_ranks,
    leave_one_out_podiums,
)
from analysis.tournament import Tournament

__all__ = ["RankStability", "rank_stability"]

_CLUSTER = ("dataset", "backbone")


@dataclass(frozen=True, slots=True, kw_only=True)
class RankStability:
    """How far the order depends on which blocks there are.

    Attributes:
        leading: by clusters if there are at least 5 of them, else by single blocks.
        by_cluster: by clusters; None if every block is a cluster of its own.
        unit: what ``leading`` resamples, in the plural.
        leave_one_out: the podium without each block in turn.
    """

    leading: RankBootstrap
    by_cluster: RankBootstrap | None
    unit: str
    leave_one_out: tuple[LeaveOneOut, ...]


def rank_stability(tournament: Tournament) -> RankStability | None:
    """Resample single blocks, and groups of blocks of one data set and backbone.

    Blocks of one group resemble each other, so groups are the honest unit; fewer than 5 of them
    give too few distinct resamples, and then blocks lead although they make intervals too narrow.
    None with a single block: there is nothing to resample.
    """
    if tournament.is_descriptive:
        return None
    names, ranks_BC = tournament.names, tournament.ranks_BC
    columns = [name for name in _CLUSTER if name in tournament.by]
    clusters = [tuple(block[name] for name in columns) for block in tournament.blocks]
    by_block = bootstrap_ranks(names, ranks_BC)
    is_clustered = bool(columns) and len(set(clusters)) < len(clusters)
    by_cluster = bootstrap_ranks(names, ranks_BC, clusters=clusters) if is_clustered else None
    leads_by_cluster = by_cluster is not None and by_cluster.num_clusters >= FEW_CLUSTERS
    return RankStability(
        leading=by_cluster if by_cluster is not None and leads_by_cluster else by_block,
        by_cluster=by_cluster,
        unit=f"groups of blocks with one {' and '.join(columns)}"
        if leads_by_cluster
        else "blocks",
        leave_one_out=leave_one_out_podiums(names, tournament.block_labels, ranks_BC),
    )
