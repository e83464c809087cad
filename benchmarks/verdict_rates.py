"""How often verdicts on simulated tables are wrong, and how often they find what is there.

    python -m benchmarks.verdict_rates [--tables 200] [--losses 2 3 5 10 46] [--power]
    python -m benchmarks.verdict_rates --designs 8x1x1 --icc 0.5

A score is a block's difficulty, what a loss gains on a data set and backbone (group), and what it
gains on the block alone; the intraclass correlation (ICC) is the group's share of both variances.
All losses are equal in truth: any supported medal and any pair that differs is wrong. ``--power``
makes the first loss better by 1, 2 and 3 points instead, where the scatter of a gain is 1.5
points, and counts how often its first place is supported. Tables are also drawn with heavy tails
(Student's t, 3 degrees of freedom) and with a scatter that differs between groups by a factor of
up to 10.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import polars as pl
from numpy.typing import NDArray

from podium.analysis.tournament.medals import medals
from podium.analysis.tournament.rank_bootstrap import bootstrap_ranks
from podium.analysis.tournament.rank_stability import rank_stability
from podium.analysis.tournament.tournament import Tournament, hold_tournament

_BY = ("dataset", "backbone", "embedding_dim")
_POINTS = 1.5  # standard deviation of what a loss gains on a block
_FEW_REPLICATES = 100  # of probabilities, which the coverage of an interval does not use


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Data sets x backbones x embedding dimensions, and how gains scatter.

    Attributes:
        datasets: number of data sets.
        backbones: number of backbones of each.
        dimensions: number of embedding dimensions of each.
        icc: share of the variance of a gain that the blocks of a group have in common.
        shape: ``normal``, ``heavy tails`` or ``unequal variances``.
    """

    datasets: int
    backbones: int
    dimensions: int
    icc: float
    shape: str = "normal"

    @property
    def label(self) -> str:
        return f"{self.datasets} x {self.backbones} x {self.dimensions}"


DESIGNS = ((1, 3, 4), (2, 3, 4), (3, 3, 4), (8, 1, 1))
SHAPES = ("normal", "heavy tails", "unequal variances")
ICCS = (0.0, 0.3, 0.5, 0.8, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Shares of the simulated tables, in percent; coverage is None without intervals."""

    false_medal: float
    some_pair: float
    rank_coverage: float | None


def draw(
    design: Design, num_losses: int, gain: float, generator: np.random.Generator
) -> pl.DataFrame:
    """A table of scores in which the first loss is better by ``gain`` points."""
    num_groups = design.datasets * design.backbones
    shared_GL = _scatter(design, (num_groups, num_losses), generator)
    own_GDL = _scatter(design, (num_groups, design.dimensions, num_losses), generator)
    spread_G = (
        10.0 ** generator.uniform(-0.5, 0.5, num_groups)
        if design.shape == "unequal variances"
        else np.ones(num_groups)
    )
    gains_GDL = np.sqrt(design.icc) * shared_GL[:, None] + np.sqrt(1 - design.icc) * own_GDL
    gains_GDL *= _POINTS * spread_G[:, None, None]
    gains_GDL[:, :, 0] += gain
    keys = list(product(range(design.datasets), range(design.backbones), range(design.dimensions)))
    scores_BL = 60.0 + gains_GDL.reshape(len(keys), num_losses)
    return pl.DataFrame(
        {
            **{
                name: [key[number] for key in keys for _ in range(num_losses)]
                for number, name in enumerate(_BY)
            },
            "loss": [f"loss_{loss}" for loss in range(num_losses)] * len(keys),
            "score": scores_BL.ravel(),
        }
    )


def _scatter(
    design: Design, shape: tuple[int, ...], generator: np.random.Generator
) -> NDArray[np.float64]:
    """Independent gains of variance 1."""
    if design.shape == "heavy tails":
        return generator.standard_t(3, size=shape) / np.sqrt(3)
    return generator.normal(size=shape)


def tournaments(
    design: Design, num_losses: int, gain: float, num_tables: int
) -> Iterator[Tournament]:
    """Tournaments of tables drawn with seeds 0, 1, ..."""
    for seed in range(num_tables):
        table = draw(design, num_losses, gain, np.random.default_rng(seed))
        yield hold_tournament(table, by=_BY, competitor="loss", score="score")


def supported(tournament: Tournament) -> list[str]:
    """Holders of supported medals; resampled only where the test alone would support one."""
    if all(medal.not_significantly_different for medal in medals(tournament, None)):
        return []
    stability = rank_stability(tournament)
    return [m.competitor for m in medals(tournament, stability) if m.is_supported]


def error_rates(design: Design, num_losses: int, num_tables: int) -> Rates:
    """How often verdicts on equal losses are wrong."""
    wrong_medals = wrong_pairs = 0
    rank_hits: list[bool] = []
    for tournament in tournaments(design, num_losses, 0.0, num_tables):
        wrong_pairs += any(pair.differs(tournament.alpha) for pair in tournament.pairs)
        wrong_medals += bool(supported(tournament))
        ranks = bootstrap_ranks(
            tournament.names,
            tournament.ranks_BC,
            tournament.block_groups,
            replicates=_FEW_REPLICATES,
        )
        expected = (num_losses + 1) / 2
        rank_hits += [
            found.low <= expected <= found.high
            for found in ranks.competitors
            if found.low is not None and found.high is not None
        ]
    return Rates(
        false_medal=100 * wrong_medals / num_tables,
        some_pair=100 * wrong_pairs / num_tables,
        rank_coverage=100 * float(np.mean(rank_hits)) if rank_hits else None,
    )


def power(design: Design, num_losses: int, gain: float, num_tables: int) -> float:
    """How often the first place of the one better loss is supported, in percent."""
    found = tournaments(design, num_losses, gain, num_tables)
    return 100 * sum("loss_0" in supported(one) for one in found) / num_tables


def _print_errors(designs: list[Design], losses: list[int], num_tables: int) -> None:
    print("| design | scatter | ICC | losses | false medal % | some pair % | ranks % |")
    print("|---|---|---|---|---|---|---|")
    for design, num_losses in product(designs, losses):
        found = error_rates(design, num_losses, num_tables)
        cells = (
            *(design.label, design.shape, f"{design.icc:g}", num_losses),
            *(f"{found.false_medal:.1f}", f"{found.some_pair:.1f}"),
            "none" if found.rank_coverage is None else f"{found.rank_coverage:.1f}",
        )
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def _print_power(designs: list[Design], losses: list[int], num_tables: int) -> None:
    print("| design | ICC | losses | 1 point % | 2 points % | 3 points % |")
    print("|---|---|---|---|---|---|")
    for design, num_losses in product(designs, losses):
        shares = [power(design, num_losses, gain, num_tables) for gain in (1.0, 2.0, 3.0)]
        cells = (design.label, f"{design.icc:g}", num_losses, *(f"{s:.0f}" for s in shares))
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def sizes(text: str) -> tuple[int, int, int]:
    """Data sets, backbones and dimensions of ``8x1x1``."""
    datasets, backbones, dimensions = map(int, text.split("x"))
    return datasets, backbones, dimensions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--losses", type=int, nargs="+", default=[2, 3, 5, 10, 46])
    parser.add_argument("--designs", type=sizes, nargs="+", default=DESIGNS, metavar="8x1x1")
    parser.add_argument("--icc", type=float, nargs="+", default=ICCS)
    parser.add_argument("--power", action="store_true")
    arguments = parser.parse_args()
    normal = [
        Design(datasets=a, backbones=b, dimensions=c, icc=icc)
        for (a, b, c), icc in product(arguments.designs, arguments.icc)
    ]
    if arguments.power:
        _print_power(normal, arguments.losses, arguments.tables)
        return
    odd = [
        replace(design, shape=shape)
        for shape in SHAPES[1:]
        for design in normal
        if design.icc == 0.5
    ]
    _print_errors([*normal, *odd], arguments.losses, arguments.tables)


if __name__ == "__main__":
    main()
