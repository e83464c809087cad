"""How well each protocol chooses, over all its searches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from analysis.choice_cells import CEILINGS, CHOICE_MEASURES, choice_cells
from analysis.contests import Contest, config_contests, loss_contests
from analysis.group_means import NO_WIDTH, group_means, independent_cells, paired_differences
from analysis.proportion import wilson_interval
from analysis.rank_agreement import rank_agreement
from analysis.regret_bootstrap import RegretSettings, mean_regret
from analysis.selection_regret import search_regrets

__all__ = ["Ground", "ground", "loss_choices", "own_runs"]

_MEANS = tuple(measure for measure in CHOICE_MEASURES if measure != "top_1")
_ON_SCALE = ("picked_test", "tau")
_ON_OWN = ("regret", "tau")  # the levels of own runs differ with what they were trained on
_BOOTSTRAPPED = ("low", "high", "standard_error")
_PLACE = ["protocol", "block", "loss", "repeat"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What picks were worth by one set of test runs.

    Attributes:
        means: from ``group_means``: of each protocol ``picked_test``, ``regret``, ``tau``,
            ``overtuning``, ``ceiling`` and ``at_ceiling``. The interval of regret over repeats is
            that of its bootstrap.
        by_place: the same without ceilings, of each protocol, block and loss.
        differences: from ``paired_differences``: of ``tau``, and of ``picked_test`` on one scale,
            of ``regret`` on own runs.
        pick_rates: ``protocol``, ``rate``, its Wilson interval ``low`` to ``high``,
            ``num_searches`` and ``chance``: how often a blind pick would be the best.
        searches: the cells, one row per search.
    """

    means: pl.DataFrame
    by_place: pl.DataFrame
    differences: pl.DataFrame
    pick_rates: pl.DataFrame
    searches: pl.DataFrame


def ground(
    runs: pl.DataFrame,
    *,
    order: Sequence[str],
    tested: pl.DataFrame | None = None,
    settings: RegretSettings | None = None,
) -> Ground | None:
    """All statistics of choices by the test runs that each did not see; None without any.

    Args:
        runs: search runs, from ``checked_runs``.
        order: labels of the protocols.
        tested: as in ``config_contests``.
        settings: of the regrets.
    """
    chosen = settings or RegretSettings()
    contests = config_contests(runs, tested=tested)
    cells = choice_cells(contests, settings=chosen)
    if cells.whole["picked_test"].null_count() == len(cells.whole):
        return None
    means = group_means(cells, (*_MEANS, *CEILINGS))
    by_place = group_means(cells, _MEANS, by=("protocol", "block", "loss"))
    of_protocol, of_place = (
        _by(contests, ("protocol",)),
        _by(contests, ("protocol", "block", "loss")),
    )
    return Ground(
        means=_with_bootstrap(means, of_protocol, ("protocol",), chosen),
        by_place=_with_bootstrap(by_place, of_place, ("protocol", "block", "loss"), chosen),
        differences=paired_differences(
            cells, _ON_OWN if tested is None else _ON_SCALE, order=order
        ),
        pick_rates=_pick_rates(cells.whole),
        searches=cells.whole,
    )


def own_runs(runs: pl.DataFrame, *, most_halves: int = 60) -> pl.DataFrame:
    """What the tests of the very runs that were chosen from say, from ``group_means``.

    ``naive_regret``: oracle and pick scored by the run that the pick was made by, too large.
    ``own_tau``: agreement of networks, higher than that of configs. Null without such tests.

    Args:
        runs: search runs, from ``checked_runs``; each repeat is taken by itself.
        most_halves: rows of halves at most.
    """
    frames = []
    for _, single in runs.group_by("repeat", maintain_order=True):
        whole = _folds_averaged(single)
        regrets = search_regrets(whole, settings=RegretSettings(most_halves=most_halves))
        taus = rank_agreement(whole, test_runs="own", most_halves=most_halves)
        frames.append(
            regrets.select(*_PLACE, "naive_regret").join(
                taus.select(*_PLACE, pl.col("tau").alias("own_tau")), on=_PLACE
            )
        )
    cells = pl.concat(frames).sort(_PLACE)
    return group_means(independent_cells(cells), ("naive_regret", "own_tau"))


def loss_choices(
    runs: pl.DataFrame, finals: pl.DataFrame, *, settings: RegretSettings | None = None
) -> pl.DataFrame:
    """Regret of choosing a loss by the validation scores of what the searches picked.

    Picks are scored by the finals of their own repeat, which share seeds.

    Args:
        runs: search runs, from ``checked_runs``; their tests are not read.
        finals: final runs, from ``checked_runs``.
        settings: of the regrets.

    Returns:
        As ``group_means``; empty without two losses in one repeat.
    """
    chosen = settings or RegretSettings()
    contests: list[Contest] = []
    searched = runs.with_columns(pl.lit(None, dtype=pl.Float64).alias("test"))
    for (repeat,), single in searched.group_by("repeat", maintain_order=True):
        mine = finals.filter(pl.col("repeat") == repeat)
        picked = map(_earliest_pick, config_contests(pl.concat([single, mine])))
        contests += loss_contests(tuple(picked))
    schema = {**dict.fromkeys(("block", "protocol", "loss"), pl.String), "repeat": pl.Int64}
    rows = [
        {
            "block": contest.place[0],
            "protocol": contest.place[1],
            "loss": "",
            "repeat": contest.unit,
            "regret": mean_regret([contest], chosen)["regret"],
        }
        for contest in contests
    ]
    cells = pl.DataFrame(rows, schema={**schema, "regret": pl.Float64})
    means = group_means(independent_cells(cells), ["regret"])
    by_protocol: dict[tuple[str, ...], list[Contest]] = {}
    for contest in contests:
        by_protocol.setdefault((contest.place[1],), []).append(contest)
    return _with_bootstrap(means, by_protocol, ("protocol",), chosen)


def _earliest_pick(contest: Contest) -> Contest:
    """The contest with its winner alone: the earliest of those that tie, which has finals."""
    pick = slice(first := int(contest.val_C.argmax()), first + 1)
    return replace(
        contest,
        candidates=contest.candidates[pick],
        indices=contest.indices[pick],
        val_C=contest.val_C[pick],
        test_CE=contest.test_CE[pick],
    )


_Groups = Mapping[tuple[str, ...], Sequence[Contest]]


def _by(contests: Sequence[Contest], by: tuple[str, ...]) -> _Groups:
    found: dict[tuple[str, ...], list[Contest]] = {}
    for contest in contests:
        place = dict(zip(("block", "loss", "protocol"), contest.place, strict=True))
        found.setdefault(tuple(place[name] for name in by), []).append(contest)
    return found


def _with_bootstrap(
    means: pl.DataFrame, groups: _Groups, by: tuple[str, ...], settings: RegretSettings
) -> pl.DataFrame:
    """The means with the bootstrap's interval of regret in the place of the jackknife's.

    It resamples repeats and test runs, which holds the planted regret more often where most
    searches pick the same.
    """
    rows = [
        {**dict(zip(by, key, strict=True)), "measure": "regret", **_regret(group, settings)}
        for key, group in groups.items()
    ]
    schema = {
        **dict.fromkeys((*by, "measure"), pl.String),
        **dict.fromkeys(_BOOTSTRAPPED, pl.Float64),
    }
    found = pl.DataFrame(rows, schema=schema)
    keys = [*by, "measure"]
    joined = means.join(found, on=keys, how="left", suffix="_boot", maintain_order="left")
    is_regret = pl.col("measure") == "regret"
    return joined.with_columns(
        pl.when(is_regret).then(pl.col(f"{name}_boot")).otherwise(pl.col(name)).alias(name)
        for name in _BOOTSTRAPPED
    ).select(means.columns)


def _regret(contests: Sequence[Contest], settings: RegretSettings) -> dict[str, object]:
    found = mean_regret(contests, settings)
    error = found["standard_error"]
    has_width = error is not None and error > NO_WIDTH
    return {name: found[name] if has_width else None for name in _BOOTSTRAPPED}


def _pick_rates(cells: pl.DataFrame) -> pl.DataFrame:
    rows = []
    for (protocol,), group in cells.drop_nulls("top_1").group_by("protocol", maintain_order=True):
        found = wilson_interval(float(group["top_1"].sum()), len(group))
        rows.append(
            {
                "protocol": protocol,
                "rate": found.estimate,
                "low": found.low,
                "high": found.high,
                "num_searches": len(group),
                "chance": float((1 / group["num_configs"].to_numpy()).mean()),
            }
        )
    schema = {
        "protocol": pl.String,
        **dict.fromkeys(("rate", "low", "high"), pl.Float64),
        "num_searches": pl.Int64,
        "chance": pl.Float64,
    }
    return pl.DataFrame(rows, schema=schema).sort("protocol")


def _folds_averaged(runs: pl.DataFrame) -> pl.DataFrame:
    """One row per run; a run that lacks a fold's score has none."""
    keys = [name for name in runs.columns if name not in ("fold", "val", "test", "gpu_seconds")]

    def whole(name: str) -> pl.Expr:
        is_whole = pl.col(name).is_not_null().all()
        return pl.when(is_whole).then(pl.col(name).mean()).alias(name)

    return (
        runs.group_by(keys, maintain_order=True)
        .agg(whole("val"), whole("test"), pl.col("gpu_seconds").sum())
        .with_columns(pl.lit(None, dtype=pl.Int64).alias("fold"))
        .select(runs.columns)
    )
