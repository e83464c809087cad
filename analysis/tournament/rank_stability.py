"""Which resampling of a tournament a report leads with."""

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.tournament.block_runs import BlockRuns
from analysis.tournament.rank_bootstrap import (
    FEW_CLUSTERS,
    LeaveOneOut,
    RankBootstrap,
    bootstrap_ranks,
    leave_one_out_podiums,
)
from analysis.tournament.tournament import Tournament

_CLUSTER = ("dataset", "backbone")


@dataclass(frozen=True, slots=True, kw_only=True)
class RankStability:
    """How far the order depends on which blocks and runs there are.

    Attributes:
        leading: bootstrap over clusters if there are at least 5, else over single blocks; with a
            single block, over its runs.
        by_cluster: bootstrap over clusters; None if every block is a cluster of its own.
        unit: noun for what ``leading`` resamples first, in the plural.
        leave_one_out: places without each block in turn.
        leave_cluster_out: places without each cluster in turn; empty if ``by_cluster`` is None.
    """

    leading: RankBootstrap
    by_cluster: RankBootstrap | None
    unit: str
    leave_one_out: tuple[LeaveOneOut, ...]
    leave_cluster_out: tuple[LeaveOneOut, ...]

    @property
    def resampled(self) -> str:
        """What ``leading`` draws: ``12 blocks``, ``12 blocks and the runs within them``."""
        leading = self.leading
        if leading.num_blocks == 1:
            return "the runs of the one block"
        within = " and the runs within them" if leading.draws_runs else ""
        return f"{leading.num_clusters} {self.unit}{within}"

    @property
    def left_out(self) -> tuple[LeaveOneOut, ...]:
        """Places without each unit that ``leading`` resamples first."""
        return self.leave_cluster_out if self.leading is self.by_cluster else self.leave_one_out


def rank_stability(
    tournament: Tournament, runs: Sequence[BlockRuns] | None = None
) -> RankStability | None:
    """Resample single blocks, groups of blocks of one data set and backbone, and their runs.

    Blocks of one group resemble each other, so groups are the independent unit; fewer than 5 of
    them give too few distinct resamples, and then blocks lead although they make intervals too
    narrow.

    Args:
        tournament: ranking whose blocks are resampled.
        runs: runs behind the cells of each block, from ``block_runs``; None leaves cells as they
            are.

    Returns:
        None with a single block of single runs: there is nothing to resample.
    """
    names, ranks_BC = tournament.names, tournament.ranks_BC
    if tournament.is_descriptive:
        return _of_one_block(tournament, runs) if runs is not None else None
    columns = [name for name in _CLUSTER if name in tournament.by]
    clusters = ["/".join(str(block[name]) for name in columns) for block in tournament.blocks]
    by_block = bootstrap_ranks(names, ranks_BC, runs=runs)
    by_cluster = None
    if columns and len(set(clusters)) < len(clusters):
        by_cluster = bootstrap_ranks(names, ranks_BC, clusters=clusters, runs=runs)
    leads_by_cluster = by_cluster is not None and by_cluster.num_clusters >= FEW_CLUSTERS
    return RankStability(
        leading=by_cluster if by_cluster is not None and leads_by_cluster else by_block,
        by_cluster=by_cluster,
        unit=f"groups of blocks with one {' and '.join(columns)}"
        if leads_by_cluster
        else "blocks",
        leave_one_out=leave_one_out_podiums(names, tournament.block_labels, ranks_BC),
        leave_cluster_out=()
        if by_cluster is None
        else leave_one_out_podiums(names, clusters, ranks_BC),
    )


def _of_one_block(tournament: Tournament, runs: Sequence[BlockRuns]) -> RankStability:
    return RankStability(
        leading=bootstrap_ranks(tournament.names, tournament.ranks_BC, runs=runs),
        by_cluster=None,
        unit="blocks",
        leave_one_out=(),
        leave_cluster_out=(),
    )
