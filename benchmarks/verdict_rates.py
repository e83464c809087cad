"""How often verdicts on simulated tables are wrong, and how often they find what is there.

    python -m benchmarks.verdict_rates [--tables 3000] [--power]

A score is a block's difficulty plus what a loss gains: on its data set, on its backbone, on both
together, and on the block alone. Shares of the variance of a gain are given for the first two; of
the rest a quarter belongs to both together. The truth is that of the sentence which is printed.
"On other data sets, with these backbones" counts what a loss gains on these backbones, "on other
backbones, for these data sets" what it gains on these data sets, and "on these blocks" all but
chance. False is a table in which any pair is called significantly different that has no true
difference, or one of the other sign; an interval is right if it holds the true difference.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from podium.analysis.estimates.ranks import standings
from podium.analysis.tournament.tournament import Tournament
from podium.orchestrator.results.records.tournament_rules import Question, TournamentRules

_BY = ("dataset", "backbone", "embedding_dim")
_POINTS = 1.5  # standard deviation of what a loss gains on a block
_NO_DIFFERENCE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Data sets x backbones x embedding dimensions x runs, and how gains scatter.

    Attributes:
        sizes: number of data sets, backbones and embedding dimensions.
        losses: number of losses.
        of_dataset: share of the variance of a gain that blocks of a data set have in common.
        of_backbone: the same of a backbone.
        shape: ``normal``, ``heavy tails`` (Student's t, 3 degrees of freedom) or ``unequal``
            (a scatter that differs between data sets by a factor of up to 10).
        runs: runs of each block; above 1 the question is about these blocks.
    """

    sizes: tuple[int, int, int]
    losses: int
    of_dataset: float = 0.0
    of_backbone: float = 0.0
    shape: str = "normal"
    runs: int = 1


SHARES = tuple(product((0.0, 0.2, 0.4), repeat=2))
ROWS = (
    Design(sizes=(3, 3, 4), losses=5, of_dataset=0.4),
    Design(sizes=(6, 1, 1), losses=2),
    *(
        Design(sizes=sizes, losses=5, of_dataset=data, of_backbone=backbone)
        for sizes in ((6, 3, 2), (2, 7, 2))
        for data, backbone in SHARES
    ),
    Design(sizes=(8, 2, 2), losses=10, of_dataset=0.2, of_backbone=0.2),
    *(
        Design(sizes=(8, 1, 1), losses=losses, shape=shape)
        for losses, shape in product((3, 10), ("normal", "heavy tails", "unequal"))
    ),
    Design(sizes=(16, 1, 1), losses=5),
    *(Design(sizes=(4, 1, 1), losses=5, of_dataset=share, runs=3) for share in (0.0, 0.4)),
)


def simulated(
    design: Design, gain: float, generator: np.random.Generator
) -> tuple[Tournament, NDArray[np.float64]]:
    """A tournament, and the true mean of each loss for its question, in alphabetical order."""
    size, losses = design.sizes, design.losses

    def gains(*of: int) -> NDArray[np.float64]:
        shape = (*of, losses)
        if design.shape == "heavy tails":
            return generator.standard_t(3, size=shape) / np.sqrt(3)
        return generator.normal(size=shape)

    rest = 1 - design.of_dataset - design.of_backbone
    data_DL = np.sqrt(design.of_dataset) * gains(size[0], 1, 1)
    backbone_BL = np.sqrt(design.of_backbone) * gains(1, size[1], 1)
    both_L = np.sqrt(0.25 * rest) * gains(size[0], size[1], 1)
    fixed = data_DL + backbone_BL + both_L
    own = np.sqrt(0.75 * rest) * gains(*size)
    spread = 10.0 ** generator.uniform(-0.5, 0.5, (size[0], 1, 1, 1))
    scale = _POINTS * (spread if design.shape == "unequal" else 1.0)
    better_L = gain * (np.arange(losses) == 0)
    if design.runs > 1:
        cells = scale * (fixed + own) + better_L
        chance = _POINTS * gains(*size, design.runs)
        runs = 60 + cells[..., None, :] + chance
        held = _held(runs.mean(axis=3), "these_blocks")
        order = [int(name.removeprefix("loss_")) for name in held.names]
        blocks = runs.reshape(-1, design.runs, losses)[..., order]
        return replace(held, runs=tuple(blocks)), cells.reshape(-1, losses).mean(axis=0)
    held = _held(60 + scale * (fixed + own) + better_L, "other_blocks")
    kept = {"data set": backbone_BL, "backbone": data_DL}.get(held.units.noun, 0 * backbone_BL)
    truth_L = (scale * kept).mean(axis=(0, 1, 2)) + better_L
    return held, truth_L


def _held(scores: NDArray[np.float64], question: Question) -> Tournament:
    blocks = [dict(zip(_BY, map(str, key), strict=True)) for key in np.ndindex(scores.shape[:3])]
    names = [f"loss_{loss:02d}" for loss in range(scores.shape[3])]
    scores_BL = scores.reshape(-1, len(names))
    ranking = standings(names, scores_BL)
    ranked_BL = scores_BL[:, [names.index(one.competitor) for one in ranking]]
    return Tournament(
        by=_BY,
        blocks=tuple(blocks),
        standings=ranking,
        scores_BC=ranked_BL,
        excluded=(),
        available=(),
        rules=TournamentRules(question=question),
        runs=(),
    )


def error_rates(design: Design, num_tables: int) -> Iterator[str]:
    """Cells of a row: the unit, false tables, and intervals that hold the truth, in percent."""
    false, held_share, all_held, noun = 0, [], [], ""
    for seed in range(num_tables):
        held, truth_L = simulated(design, 0.0, np.random.default_rng([7, seed]))
        noun = held.units.noun if held.is_tested else "none"
        truth = {name: truth_L[int(name.removeprefix("loss_"))] for name in held.names}
        wrong, holds = False, []
        for pair in held.pairs:
            true = truth[pair.a] - truth[pair.b]
            has_sign = abs(true) > _NO_DIFFERENCE and (true > 0) == (pair.mean_difference > 0)
            wrong |= pair.differs(0.05) and not has_sign
            if pair.low is not None and pair.high is not None:
                holds.append(pair.low <= true <= pair.high)
        false += wrong
        if holds:
            held_share.append(np.mean(holds))
            all_held.append(all(holds))
    error = 100 * np.sqrt(max(false, 1) * (num_tables - false)) / num_tables**1.5
    yield noun
    yield f"{100 * false / num_tables:.1f} ± {error:.1f}"
    yield f"{100 * np.mean(held_share):.1f}" if held_share else "none"
    yield f"{100 * np.mean(all_held):.1f}" if all_held else "none"


def power(design: Design, gain: float, num_tables: int) -> tuple[float, float]:
    """How often the better loss is found better than some, and than all others, in percent."""
    some = every = 0
    for seed in range(num_tables):
        held, _ = simulated(design, gain, np.random.default_rng([8, seed]))
        best = [
            pair.differs(0.05) and (pair.mean_difference > 0) == (pair.a == "loss_00")
            for pair in held.pairs
            if "loss_00" in (pair.a, pair.b)
        ]
        some += any(best)
        every += all(best)
    return 100 * some / num_tables, 100 * every / num_tables


def _print(heads: tuple[str, ...], rows: Iterator[tuple[object, ...]]) -> None:
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tables", type=int, default=3000)
    parser.add_argument("--power", action="store_true")
    arguments = parser.parse_args()
    if arguments.power:
        rows = (
            (units, losses, *(f"{a:.0f} / {b:.0f}" for a, b in found))
            for units, losses in product((6, 8, 12), (2, 5, 10))
            for design in [Design(sizes=(units, 1, 1), losses=losses)]
            for found in [[power(design, gain, arguments.tables) for gain in (1.0, 2.0, 3.0)]]
        )
        _print(("data sets", "losses", "1 point", "2 points", "3 points"), rows)
        return
    heads = ("design", "runs", "losses", "shares", "scatter", "unit", "false %", "held %", "all %")
    _print(
        heads,
        (
            (
                *(" x ".join(map(str, it.sizes)), it.runs, it.losses),
                *(f"{it.of_dataset:g}, {it.of_backbone:g}", it.shape),
                *error_rates(it, arguments.tables),
            )
            for it in ROWS
        ),
    )


if __name__ == "__main__":
    main()
