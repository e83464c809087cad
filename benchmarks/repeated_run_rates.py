"""How often verdicts on these blocks are wrong, where runs are repeated and blocks are fixed.

    python -m benchmarks.repeated_run_rates [--tables 300] [--losses 2 3 5 10]

A score is a block's difficulty, what a loss gains on the block, and the chance of a run. ``equal``
losses gain nothing anywhere; ``crossed`` ones gain on some blocks what they lose on others, by 1.5
points, and nothing on average. Runs scatter normally, with heavy tails (Student's t, 3 degrees of
freedom) or by a factor of up to 10 between blocks.
"""

import argparse
from dataclasses import dataclass
from itertools import product

import numpy as np
import polars as pl
from numpy.typing import NDArray

from podium.analysis.tournament.medals import medals
from podium.analysis.tournament.rank_stability import rank_stability
from podium.analysis.tournament.table_tournament import hold_by_rules
from podium.analysis.typed_tables.score_table import ScoreTable
from podium.orchestrator.results.records.tournament_rules import TournamentRules

_GAIN_POINTS = 1.5
_RULES = TournamentRules(question="these_blocks")
DESIGNS = ((4, 3), (12, 3), (4, 10))
SHAPES = ("normal", "heavy tails", "unequal variances")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Shares of the simulated tables, in percent."""

    false_medal: float
    some_pair: float


def draw(
    design: tuple[int, int],
    num_losses: int,
    shape: str,
    generator: np.random.Generator,
    *,
    is_crossed: bool,
) -> ScoreTable:
    """Blocks x runs of losses that are equal on average."""
    num_blocks, num_runs = design
    gains_BL = np.zeros((num_blocks, num_losses))
    if is_crossed:
        gains_BL = _GAIN_POINTS * generator.normal(size=gains_BL.shape)
        gains_BL -= gains_BL.mean(axis=0)
    scores_BRL = 60 + gains_BL[:, None] + _chance(num_runs, gains_BL.shape, shape, generator)
    keys = product(range(num_blocks), range(num_runs), range(num_losses))
    runs = pl.DataFrame(
        [(f"data{b}", r, f"loss_{c}") for b, r, c in keys],
        schema=["dataset", "seed", "loss"],
        orient="row",
    ).with_columns(score=pl.Series(scores_BRL.ravel()))
    cell = ["dataset", "loss"]
    return ScoreTable(
        cells=runs.group_by(cell).agg(pl.col("score").mean()).sort(cell),
        runs=runs,
        run_columns=("seed",),
        by=("dataset",),
        competitor="loss",
        score="score",
        warnings=(),
    )


def _chance(
    num_runs: int, shape_BL: tuple[int, ...], shape: str, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Chance of the runs, B x R x L."""
    size = (shape_BL[0], num_runs, shape_BL[1])
    if shape == "heavy tails":
        return generator.standard_t(3, size=size) / np.sqrt(3)
    chance_BRL = generator.normal(size=size)
    if shape == "unequal variances":
        chance_BRL *= 10.0 ** generator.uniform(-0.5, 0.5, size=(shape_BL[0], 1, 1))
    return chance_BRL


def error_rates(
    design: tuple[int, int], num_losses: int, shape: str, num_tables: int, *, is_crossed: bool
) -> Rates:
    """How often verdicts on losses that are equal on average are wrong."""
    wrong_medals = wrong_pairs = 0
    for seed in range(num_tables):
        generator = np.random.default_rng(seed)
        table = draw(design, num_losses, shape, generator, is_crossed=is_crossed)
        held, runs = hold_by_rules(table, _RULES)
        wrong_pairs += any(pair.differs(held.alpha) for pair in held.pairs)
        if any(not medal.not_significantly_different for medal in medals(held, None)):
            found = medals(held, rank_stability(held, runs))
            wrong_medals += any(medal.is_supported for medal in found)
    return Rates(
        false_medal=100 * wrong_medals / num_tables,
        some_pair=100 * wrong_pairs / num_tables,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tables", type=int, default=300)
    parser.add_argument("--losses", type=int, nargs="+", default=[2, 3, 5, 10])
    arguments = parser.parse_args()
    print("| blocks x runs | losses | true gains | runs scatter | false medal % | some pair % |")
    print("|---|---|---|---|---|---|")
    for design, num_losses, is_crossed, shape in product(
        DESIGNS, arguments.losses, (False, True), SHAPES
    ):
        found = error_rates(design, num_losses, shape, arguments.tables, is_crossed=is_crossed)
        gains = "crossed" if is_crossed else "equal"
        cells = (" x ".join(map(str, design)), num_losses, gains, shape)
        rates = (f"{found.false_medal:.1f}", f"{found.some_pair:.1f}")
        print("| " + " | ".join(map(str, (*cells, *rates))) + " |", flush=True)


if __name__ == "__main__":
    main()
