"""What a tournament found, in plain sentences."""

import math
from collections.abc import Iterator

from analysis.medal_text import medal_sentences
from analysis.rank_uncertainty import RankStability
from analysis.tournament import Tournament

__all__ = ["tournament_sentences"]

_SHOWN_BLOCKS = 5


def tournament_sentences(tournament: Tournament, stability: RankStability | None) -> list[str]:
    """Tests, medals and what is missing; one paragraph an item, without line breaks."""
    return [
        *_omnibus(tournament),
        *_pairwise(tournament),
        *medal_sentences(tournament, stability),
        *_excluded(tournament),
    ]


def _omnibus(tournament: Tournament) -> Iterator[str]:
    friedman, alpha = tournament.friedman, tournament.alpha
    if tournament.is_descriptive:
        yield (
            "One block shows an order but supports no test: everything here is descriptive. "
            "Seeds and folds are no blocks."
        )
    elif friedman is None:
        yield "Two competitors: only the Wilcoxon test below applies, no Friedman, no Nemenyi."
    else:
        permuted = (
            f"; by permutation p = {friedman.permutation_p_value:.2g}"
            if friedman.permutation_p_value is not None
            else ""
        )
        yield (
            f"Friedman: chi-square {friedman.statistic:.3f}, {friedman.degrees_of_freedom} "
            f"degrees of freedom, p = {friedman.p_value:.2g}{permuted}. "
            f"Kendall's W = {friedman.kendall_w:.2f} (1: all blocks agree)."
        )
        pairs = tournament.pairs
        apart = sum(pair.p_nemenyi is not None and pair.p_nemenyi <= alpha for pair in pairs)
        yield (
            f"Nemenyi: critical difference {tournament.critical_difference:.3f} average ranks at "
            f"alpha = {alpha:g}; it separates {apart} of {len(pairs)} pairs. It grows with the "
            "number of competitors."
        )


def _pairwise(tournament: Tournament) -> Iterator[str]:
    smallest, alpha, pairs = tournament.smallest_p, tournament.alpha, tournament.pairs
    if smallest is None:
        return
    apart = sum(pair.p_holm is not None and pair.p_holm <= alpha for pair in pairs)
    num_blocks = len(tournament.blocks)
    yield (
        f"Wilcoxon signed-rank, two-sided, Holm-adjusted (primary): separates {apart} of "
        f"{len(pairs)} pairs at alpha = {alpha:g}."
    )
    reach = (
        f"With {num_blocks} blocks no pair can get a p below {smallest.raw:.2g}, or "
        f"{smallest.adjusted:.2g} after Holm over {len(pairs)} pairs"
    )
    if smallest.adjusted <= alpha:
        yield f"{reach}: enough blocks for a difference to show."
    else:
        needed = math.ceil(1 + math.log2(len(pairs) / alpha))
        yield (
            f"{reach}: no difference can be significant at alpha = {alpha:g}, whatever the "
            f"scores. At least {needed} blocks are needed."
        )


def _excluded(tournament: Tournament) -> Iterator[str]:
    excluded = tournament.excluded
    if not excluded:
        return
    named = [f"{block.block} (no {', '.join(block.missing)})" for block in excluded]
    more = f" and {len(named) - _SHOWN_BLOCKS} more" if len(named) > _SHOWN_BLOCKS else ""
    yield (
        f"{len(excluded)} incomplete {'block is' if len(excluded) == 1 else 'blocks are'} left "
        f"out: {'; '.join(named[:_SHOWN_BLOCKS])}{more}."
    )
