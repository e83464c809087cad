"""How good the best of n trials is expected to be. N trials, v their validation scores in order.

Both estimators need trials that are independent draws from one distribution, so they hold only for
random search. A sampler that learns, pruning, or given first points make trials depend on one
another; for these compare incumbents of repeated searches instead.

- biased: sum of v_(i) [(i/N)^n - ((i-1)/N)^n], the best of n draws with replacement. Source: Dodge
  et al. 2019; it misleads least according to Dodge et al. 2021 (arXiv 2110.00613).
- unbiased: sum of v_(i) C(i-1, n-1) / C(N, n), n <= N, the best of n different ones. Source: Tang
  et al. 2020 (arXiv 2004.13705).
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analysis.estimates.confidence_intervals import t_reach
from analysis.estimates.split_halves import MEAN_DIGITS
from analysis.scores.protocol_run_checks import SEARCH
from podium.errors import PodiumError

_RANDOM = "random"
_LEAST_SHARE = 4  # an interval needs so many times as many trials as the search budget
_FLOATS = ("biased", "unbiased", "low", "high", "test", "gpu_hours")
_SCHEMA = {
    **dict.fromkeys(SEARCH[:3], pl.String),
    **dict.fromkeys(("repeat", "num_trials"), pl.Int64),
    **dict.fromkeys(_FLOATS, pl.Float64),
    **dict.fromkeys(("num_complete", "num_failed", "num_tested"), pl.Int64),
}


def expected_best(runs: pl.DataFrame, *, sampler: str) -> pl.DataFrame:
    """Expected validation and test scores of the incumbent after n trials.

    Args:
        runs: table of runs from ``checked_runs``; one search run for each config (folds averaged).
        sampler: sampler of the study; only ``random`` gives independent trials.

    Returns:
        For each search and ``num_trials`` n from 1 to the number of completed trials:
        ``biased`` and ``unbiased``; ``low`` to ``high``, 95 %, of the unbiased one (delete-one
        jackknife over trials, Student's t with N/n - 1 degrees of freedom: about N/n trials
        decide the best of n, a rule that simulations bear out; null beyond a quarter of the
        trials, and nothing is ever extrapolated); ``test``, the expected test score
        of the incumbent, by the weights of ``unbiased`` (null unless all completed trials were
        tested in their own run); ``gpu_hours`` of n trials at the mean of the search (failed
        ones in it; null if any is unknown); ``num_complete``, ``num_failed`` (those without a
        score too), ``num_tested``.

    Raises:
        PodiumError: another sampler, a pruned trial, or several runs of a config in one search.
    """
    if sampler != _RANDOM:
        raise PodiumError(
            "the expected best of n trials needs independent trials, as random search gives them; "
            f"this study's sampler is {sampler!r}"
        )
    rows: list[dict[str, object]] = []
    searched = runs.filter(pl.col("stage") == "search")
    for search, group in searched.group_by(SEARCH, maintain_order=True):
        trials = _trials(group, "/".join(str(part) for part in search))
        named = dict(zip(SEARCH, search, strict=True))
        rows += [named | row for row in _curve(trials)]
    return pl.DataFrame(rows, schema=_SCHEMA)


def _trials(group: pl.DataFrame, search: str) -> pl.DataFrame:
    """One row per config of a search: ``val`` (null if failed), ``test``, ``gpu_seconds``."""
    if (group["state"] == "PRUNED").any():
        raise PodiumError(
            "the expected best needs trials that ran to their end; "
            f"search {search} has pruned ones"
        )
    if group.group_by("config").n_unique()["seed"].gt(1).any():
        raise PodiumError(
            "the expected best needs one run for each config; "
            f"a config of search {search} has more"
        )
    is_complete = (pl.col("state") == "COMPLETE").all()

    def whole(column: str, value: pl.Expr) -> pl.Expr:
        is_known = pl.col(column).is_not_null().all()
        return pl.when(is_known).then(value).alias(column)

    trials = group.group_by("config").agg(
        whole("val", pl.when(is_complete).then(pl.col("val").mean().round(MEAN_DIGITS))),
        whole("test", pl.col("test").mean()),
        whole("gpu_seconds", pl.col("gpu_seconds").sum()),
    )
    return trials.sort("val", "config", nulls_last=True)


def _curve(trials: pl.DataFrame) -> list[dict[str, object]]:
    complete = trials.drop_nulls("val")
    num, num_failed = len(complete), len(trials) - len(complete)
    if num == 0:
        return []
    val_N = complete["val"].to_numpy()
    unbiased_BN = _unbiased_weights(num)
    error_B = _jackknife_error(val_N)
    seconds = trials["gpu_seconds"]
    is_tested = not complete["test"].has_nulls()
    # Trials that tie share their test score: any of them may be the incumbent.
    tests_N = complete.select(pl.col("test").mean().over("val"))["test"].to_numpy()
    columns = {
        "biased": _biased_weights(num) @ val_N,
        "unbiased": unbiased_BN @ val_N,
    }
    if is_tested:
        columns["test"] = unbiased_BN @ tests_N
    if num > 1:
        half_B = np.array([_quantile(num, n) for n in range(1, num + 1)]) * error_B
        columns |= {"low": columns["unbiased"] - half_B, "high": columns["unbiased"] + half_B}
    return [
        {
            **{name: float(value[n - 1]) for name, value in columns.items()},
            **({} if _LEAST_SHARE * n <= num else {"low": None, "high": None}),
            "num_trials": n,
            "gpu_hours": None
            if seconds.has_nulls()
            else n * float(seconds.to_numpy().mean()) / 3600,
            "num_complete": num,
            "num_failed": num_failed,
            "num_tested": num - complete["test"].null_count(),
        }
        for n in range(1, num + 1)
    ]


def _quantile(num: int, budget: int) -> float:
    return t_reach(max(num / budget, _LEAST_SHARE) - 1)


def _biased_weights(num: int) -> NDArray[np.float64]:
    """[n - 1, i - 1]: probability that the i-th of all is the best of n with replacement."""
    budgets_B1 = np.arange(1, num + 1)[:, None]
    shares = np.arange(num + 1) / num
    weights: NDArray[np.float64] = np.diff(shares**budgets_B1, axis=1)
    return weights


def _unbiased_weights(num: int) -> NDArray[np.float64]:
    """[n - 1, i - 1]: probability that the i-th of all is the best of n different ones."""
    ranks_N = np.arange(1, num + 1)
    budgets_B1 = np.arange(1, num)[:, None]
    # C(i-1, n) / C(N, n+1) from C(i-1, n-1) / C(N, n), without factorials that overflow.
    steps = (
        (budgets_B1 + 1) / budgets_B1 * np.maximum(ranks_N - budgets_B1, 0) / (num - budgets_B1)
    )
    return np.cumprod(np.concatenate([np.full((1, num), 1 / num), steps]), axis=0)


def _jackknife_error(val_N: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard error of the unbiased estimate for n = 1 to N, leaving out each trial; N is inf."""
    num = len(val_N)
    if num < 2:
        return np.full(num, np.inf)
    weights_BM = _unbiased_weights(num - 1)
    zeros = np.zeros((num - 1, 1))
    # Without the j-th, those before it keep their rank and those after it move down by one.
    before_BN = np.concatenate([zeros, np.cumsum(weights_BM * val_N[:-1], axis=1)], axis=1)
    after = np.cumsum((weights_BM * val_N[1:])[:, ::-1], axis=1)[:, ::-1]
    without_BN = before_BN + np.concatenate([after, zeros], axis=1)
    errors = np.sqrt((num - 1) * without_BN.var(axis=1))
    return np.concatenate([errors, [np.inf]])
