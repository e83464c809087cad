"""What heads on frozen features tell of fine-tuning, from frames of three finished studies.

Curves are those of `best_so_far`. Scores are from 0 to 1.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl
from scipy.stats import kendalltau

from podium.analysis.estimates.confidence_intervals import Interval, grouped_interval, t_interval
from podium.analysis.estimates.kendall_tau import kendall_tau

SEARCH = ("block", "loss")

_FEWEST_CONFIGS = 4  # below, a tau is nearly always -1 or 1
_TIE = 1e-9  # scores are counts over counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far two scores order the same items alike.

    Attributes:
        tau: Kendall's tau-b; NaN where one score is constant.
        p: two-sided p of no association: exact without ties, else by the normal approximation.
        num: number of items.
    """

    tau: float
    p: float
    num: int


def best_so_far(runs: pl.DataFrame) -> pl.DataFrame:
    """The best validation score of each search after each of its trials.

    Args:
        runs: table of runs from `analysis.scores.protocol_runs.search_runs`, each config once.

    Returns:
        ``block``, ``loss``, ``num_trials`` (from 1) and ``val`` (null before the first complete
        trial).
    """
    is_complete = (pl.col("state") == "COMPLETE") & pl.col("val").is_not_null()
    score = pl.when(is_complete).then(pl.col("val"))
    trials = runs.filter(pl.col("stage") == "search").sort(*SEARCH, "index")
    return trials.select(
        *SEARCH,
        pl.int_range(1, pl.len() + 1).over(SEARCH).alias("num_trials"),
        score.cum_max().forward_fill().over(SEARCH).alias("val"),
    )


def agreement(x: Sequence[float], y: Sequence[float]) -> Agreement:
    """Kendall's tau-b of two scores of the same items, with its p."""
    return Agreement(tau=kendall_tau(x, y), p=float(kendalltau(x, y).pvalue), num=len(x))


def agreement_by_block(
    x: pl.DataFrame, y: pl.DataFrame, blocks: Sequence[str]
) -> dict[str, Agreement]:
    """Agreement of two scores of losses in each block.

    Args:
        x: ``block``, ``loss`` and ``score``; losses that are not in both are left out.
        y: the same of the other score.
        blocks: blocks to compare in.
    """
    both = x.join(y, on=SEARCH, suffix="_y").sort("loss")
    pairs = {block: both.filter(pl.col("block") == block) for block in blocks}
    return {
        block: agreement(pair["score"].to_list(), pair["score_y"].to_list())
        for block, pair in pairs.items()
    }


def mean_agreement(found: Iterable[Agreement]) -> Interval:
    """Mean tau of independent blocks, with Student's t interval, cut to [-1, 1], from three on."""
    mean = t_interval([one.tau for one in found])
    if mean.low is None or mean.high is None:
        return mean
    return replace(mean, low=max(mean.low, -1.0), high=min(mean.high, 1.0))


def config_agreement(first: pl.DataFrame, second: pl.DataFrame) -> pl.DataFrame:
    """Kendall's tau of the configs that a search of both studies tried.

    Args:
        first: trials with ``block``, ``loss``, ``config`` and ``objective``.
        second: trials of the other study.

    Returns:
        ``block``, ``loss``, ``tau`` and ``num`` (configs in both); searches with fewer than four
        such configs, or with equal scores of all, are left out.
    """
    both = first.join(second, on=(*SEARCH, "config"), suffix="_second")
    rows = [
        {
            "block": block,
            "loss": loss,
            "tau": kendall_tau(pair["objective"].to_list(), pair["objective_second"].to_list()),
            "num": len(pair),
        }
        for (block, loss), pair in both.group_by(SEARCH)
        if len(pair) >= _FEWEST_CONFIGS
    ]
    schema = {"block": pl.String, "loss": pl.String, "tau": pl.Float64, "num": pl.Int64}
    return pl.DataFrame(rows, schema).filter(pl.col("tau").is_not_nan()).sort(SEARCH)


def reached_scores(
    setter: pl.DataFrame, other: pl.DataFrame, firsts: Mapping[tuple[str, str], int]
) -> pl.DataFrame:
    """How many trials each of two searches needs for the score that one had after its first ones.

    Args:
        setter: curves of the searches that set the score.
        other: curves of the searches that are to reach it.
        firsts: (block, loss) -> number of the setter's trials after which its score counts.

    Returns:
        One row a search: ``block``, ``loss``, ``score``, ``setter`` and ``other``: the number of
        the first trial at which it is reached, null where the other search ended below it;
        ``budget``: trials of the other search.
    """
    rows = []
    for (block, loss), first in sorted(firsts.items()):
        own, its = (
            curves.filter(pl.col("block") == block, pl.col("loss") == loss)
            for curves in (setter, other)
        )
        score = float(own.filter(pl.col("num_trials") <= first)["val"].to_numpy().max())
        rows.append(
            {
                "block": block,
                "loss": loss,
                "score": score,
                "setter": _first_at(own, score),
                "other": _first_at(its, score),
                "budget": its["num_trials"].max(),
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def saved_at_least(reached: pl.DataFrame) -> pl.Series:
    """Trials of the other search minus those of the setter.

    What is never reached counts as one more than the whole search, which is the least it can be.
    """
    return reached.select(
        saved=pl.col("other").fill_null(pl.col("budget") + 1) - pl.col("setter")
    )["saved"]


def over_blocks(values: pl.Series, blocks: pl.Series) -> Interval:
    """Mean over searches, with the interval over their blocks: searches of one share classes."""
    return grouped_interval(values.to_list(), blocks.to_list())


def leads(warm: pl.DataFrame, cold: pl.DataFrame) -> dict[int, Interval]:
    """Best validation score, warm minus cold, after each number of trials that all searches had."""
    both = warm.join(cold, on=(*SEARCH, "num_trials"), suffix="_cold").with_columns(
        lead=pl.col("val") - pl.col("val_cold")
    )
    num = both.n_unique(SEARCH)
    return {
        int(trials): over_blocks(rows["lead"], rows["block"])
        for (trials,), rows in both.sort("num_trials", *SEARCH).group_by(
            "num_trials", maintain_order=True
        )
        if len(rows) == num
    }


def _first_at(curve: pl.DataFrame, score: float) -> int | None:
    """The first number of trials with this score; None if there is none."""
    found = curve.filter(pl.col("val") >= score - _TIE).sort("num_trials")["num_trials"]
    return None if found.is_empty() else int(found[0])
