"""How far the order of a tournament depends on which groups of blocks and runs there are."""

from collections.abc import Sequence
from dataclasses import dataclass

from podium.analysis.tournament.block_groups import BlockGroups
from podium.analysis.tournament.block_runs import BlockRuns
from podium.analysis.tournament.rank_bootstrap import (
    LeaveOneOut,
    RankBootstrap,
    bootstrap_ranks,
    leave_one_out_podiums,
)
from podium.analysis.tournament.tournament import Tournament


@dataclass(frozen=True, slots=True, kw_only=True)
class RankStability:
    """The ranks over resampled groups of blocks, and without each group.

    Attributes:
        groups: groups of blocks: what is drawn, and left out, first; a single one if the blocks
            are fixed.
        bootstrap: ranks over groups, blocks within them and runs; with a single group, over runs.
        leave_one_out: places without each group in turn; empty with a single group.
    """

    groups: BlockGroups
    bootstrap: RankBootstrap
    leave_one_out: tuple[LeaveOneOut, ...]

    @property
    def resampled(self) -> str:
        """What is drawn: ``12 blocks``, ``12 blocks and the runs within them``."""
        bootstrap = self.bootstrap
        if bootstrap.num_groups == 1:
            blocks = "the one block" if bootstrap.num_blocks == 1 else "the same blocks"
            return f"the runs of {blocks}"
        within = " and the runs within them" if bootstrap.draws_runs else ""
        return f"{self.groups.counted}{within}"


def rank_stability(
    tournament: Tournament, runs: Sequence[BlockRuns] | None = None
) -> RankStability | None:
    """Resample groups of blocks of one data set and backbone, their blocks, and their runs.

    Where the tests ask about these blocks only runs are drawn.

    Args:
        tournament: ranking whose groups are resampled.
        runs: runs behind the cells of each block, from ``block_runs``; None leaves cells as they
            are.

    Returns:
        None with a single group of single runs: there is nothing to resample.
    """
    groups = _drawn(tournament)
    if len(groups.names) == 1 and runs is None:
        return None
    names, ranks_BC = tournament.names, tournament.ranks_BC
    return RankStability(
        groups=groups,
        bootstrap=bootstrap_ranks(names, ranks_BC, groups, runs=runs),
        leave_one_out=leave_one_out_podiums(names, ranks_BC, groups),
    )


def _drawn(tournament: Tournament) -> BlockGroups:
    """The groups to draw; a single one keeps its blocks."""
    if tournament.question == "other_blocks":
        return tournament.block_groups
    return BlockGroups(columns=(), labels=("these blocks",) * len(tournament.blocks))
