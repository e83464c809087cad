"""Makes docs/examples/findings-screening.md from the finished runs of its three studies.

python -m docs.make.screening [podium-results]
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from docs.make.markdown import table
from docs.make.screening_measures import (
    SEARCH,
    Agreement,
    agreement_by_block,
    best_so_far,
    config_agreement,
    leads,
    mean_agreement,
    over_blocks,
    reached_scores,
    saved_at_least,
)
from docs.make.screening_text import LIMITS, MEANING, OPENING
from podium.analysis.estimates.confidence_intervals import Interval
from podium.analysis.scores.final_scores import final_trials
from podium.analysis.scores.protocol_runs import search_runs
from podium.orchestrator.results.records.journal import read_asks
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.trial_files.reader import Reader

_PAGE = Path(__file__).parents[1] / "examples" / "findings-screening.md"
_SHOWN_BUDGETS = (1, 2, 4, 6, 8, 12, 16)
_MINUTE = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class _Results:
    """What the page needs of one study.

    Attributes:
        folder: results folder of the study.
        trials: all its trials.
        searched: trials of its searches, with ``config``, the hyperparameters as text.
        curves: the best validation score of each search after each number of trials.
        winners: mean test score of the finals of each search's winner: ``block``, ``loss``,
            ``score``.
        defaults: the same of the published defaults.
        seeds: the winner's test score of each final seed, with ``seed_index``.
    """

    folder: Path
    trials: pl.DataFrame
    searched: pl.DataFrame
    curves: pl.DataFrame
    winners: pl.DataFrame
    defaults: pl.DataFrame
    seeds: pl.DataFrame

    @property
    def best(self) -> pl.DataFrame:
        """Best validation score of each search: ``block``, ``loss``, ``score``."""
        return self.curves.group_by(SEARCH).agg(score=pl.col("val").max())


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=Path("podium-results"))
    folder = parser.parse_args().folder
    heads, cold, warm = (_read(folder / f"screening-{name}") for name in ("heads", "cold", "warm"))
    _PAGE.write_text("\n".join(_page(heads, cold, warm)), encoding="utf-8")


def _read(folder: Path) -> _Results:
    reader = Reader(folder)
    trials = reader.trials().collect()
    runs = search_runs(trials, reader.scores(), reader.test_scores(), metric="recall", k=1)
    finals = final_trials(reader.trials()).filter(pl.col("state") == "COMPLETE")
    tested = finals.select(*SEARCH, "finalist", "seed_index", score=pl.col("test_recall_at_1"))
    means = tested.group_by(*SEARCH, "finalist").agg(pl.col("score").mean())
    searched = trials.filter(pl.col("stage") == "search").with_columns(
        config=pl.col("settings").map_elements(_config_text, return_dtype=pl.String)
    )
    return _Results(
        folder=folder,
        trials=trials,
        searched=searched,
        curves=best_so_far(runs),
        winners=means.filter(pl.col("finalist") == "winner"),
        defaults=means.filter(pl.col("finalist") == "default"),
        seeds=tested.filter(pl.col("finalist") == "winner"),
    )


def _config_text(settings: str) -> str:
    return json.dumps(json.loads(settings)["hyperparameters"], sort_keys=True)


def _page(heads: _Results, cold: _Results, warm: _Results) -> Iterator[str]:
    blocks = sorted(cold.winners["block"].unique())
    yield OPENING.format(
        losses=cold.winners["loss"].n_unique(),
        blocks=len(blocks),
        heads_trials=heads.curves["num_trials"].max(),
        trials=cold.curves["num_trials"].max(),
    )
    yield "### Does the ranking of heads carry over?\n"
    yield "Kendall's tau of two rankings of the losses (p: of no association, exact without ties):\n"
    yield _ranking_table(heads, cold, warm, blocks)
    yield "\n### Does the order of configs carry over?\n"
    yield _config_table(heads, cold, warm)
    yield "\n### What a warm start saves\n"
    yield from _savings(cold, warm)
    yield "\nBest validation score so far, mean over all searches, %:\n"
    yield _lead_table(cold, warm)
    yield "\n### Test scores\n"
    yield from _test_lines(heads, cold, warm)
    yield "\n### What it costs\n"
    yield _cost_table(heads, cold, warm)
    yield MEANING + LIMITS


def _ranking_table(heads: _Results, cold: _Results, warm: _Results, blocks: list[str]) -> str:
    seeds = [
        cold.seeds.filter(pl.col("seed_index") == index)
        for index in sorted(cold.seeds["seed_index"].unique())[:2]
    ]
    pairs = {
        "heads' best validation, fine-tuned test": (heads.best, cold.winners),
        "heads' test, fine-tuned test": (heads.winners, cold.winners),
        "the same with a warm start": (heads.winners, warm.winners),
        "published defaults: heads' test, fine-tuned test": (heads.defaults, cold.defaults),
        "fine-tuned test, cold and warm": (cold.winners, warm.winners),
        "fine-tuned test, one final seed and another": (seeds[0], seeds[1]),
    }
    rows = []
    for name, (x, y) in pairs.items():
        found = agreement_by_block(x, y, blocks)
        mean = mean_agreement(found.values())
        rows.append((name, *(_tau(found[block]) for block in blocks), _interval(mean)))
    return table(("between", *map(_script, blocks), "mean"), rows)


def _config_table(heads: _Results, cold: _Results, warm: _Results) -> str:
    rows = []
    for name, other in (
        ("the default and what the sampler drew first (cold)", cold),
        ("the default and the best heads (warm)", warm),
    ):
        taus = config_agreement(heads.searched, other.searched)
        mean = over_blocks(taus["tau"], taus["block"])
        rows.append((name, str(len(taus)), f"{taus['num'].mean():.1f}", _interval(mean)))
    return table(("configs that both tried", "searches", "configs each", "mean tau"), rows)


def _savings(cold: _Results, warm: _Results) -> Iterator[str]:
    firsts = _first_trials(warm)
    budget = int(cold.curves["num_trials"].to_numpy().max())
    ahead = reached_scores(warm.curves, cold.curves, firsts)
    saved = over_blocks(saved_at_least(ahead), ahead["block"])
    never = ahead["other"].null_count()
    yield (
        f"- After the default and the heads' best, {max(firsts.values())} trials, a warm search has"
        f" a validation score that the cold one needs {_median(ahead, budget)} trials for"
        f" (median); {never} of {len(ahead)} cold searches never reached it in {budget}. Saved at"
        f" the same score: at least {_interval(saved, 1)} trials a search, where a cold"
        f" search that never reached it counts as reaching it in trial {budget + 1}."
    )
    back = reached_scores(cold.curves, warm.curves, dict.fromkeys(firsts, budget))
    gone = over_blocks(saved_at_least(back), back["block"])
    yield (
        f"- The other way round: what a cold search has after all {budget} trials, reached in trial"
        f" {back['setter'].mean():.1f} on average, a warm one reaches in trial"
        f" {_median(back, budget)} (median); {back['other'].null_count()} of {len(back)} never do."
        f" The warm search needs {_interval(gone, 1)} trials more (negative: fewer)."
    )


def _first_trials(warm: _Results) -> dict[tuple[str, str], int]:
    """Trials of each search that are the default or were given."""
    asks = read_asks(StudyPaths(warm.folder))
    searches = warm.searched.select("search", *SEARCH).unique()
    return {
        (block, loss): sum(ask.source != "sampler" for ask in asks[search])
        for search, block, loss in searches.iter_rows()
    }


def _median(reached: pl.DataFrame, budget: int) -> str:
    """The median number of the trial, as far as it is known."""
    middle = reached["other"].fill_null(budget + 1).median()
    assert isinstance(middle, float)
    return f"more than {budget}" if middle > budget else f"{middle:g}"


def _lead_table(cold: _Results, warm: _Results) -> str:
    lead = leads(warm.curves, cold.curves)
    rows = []
    for budget in (number for number in _SHOWN_BUDGETS if number in lead):
        means = [
            one.curves.filter(pl.col("num_trials") == budget)["val"].to_numpy().mean()
            for one in (cold, warm)
        ]
        rows.append(
            (
                str(budget),
                *(f"{100 * mean:.2f}" for mean in means),
                _interval(_points(lead[budget])),
            )
        )
    return table(("trials", "cold", "warm", "warm - cold, points"), rows)


def _test_lines(heads: _Results, cold: _Results, warm: _Results) -> Iterator[str]:
    for name, x, y in (
        ("Warm minus cold", warm, cold),
        ("Fine-tuned (cold) minus heads", cold, heads),
        ("Fine-tuned (warm) minus heads", warm, heads),
    ):
        both = x.winners.join(y.winners, on=SEARCH, suffix="_y").sort(SEARCH)
        gains = both["score"] - both["score_y"]
        higher = int((gains > 0).sum())
        yield (
            f"- {name}, winners on test: {_interval(_points(over_blocks(gains, both['block'])))}"
            f" points; higher in {higher} of {len(both)} searches, lower in"
            f" {int((gains < 0).sum())}."
        )


def _cost_table(heads: _Results, cold: _Results, warm: _Results) -> str:
    rows = []
    for name, one in (("heads", heads), ("cold", cold), ("warm", warm)):
        searched = one.searched["seconds"].to_numpy()
        finals = one.trials.filter(pl.col("stage") == "final")["seconds"].to_numpy()
        rows.append(
            (
                name,
                str(len(searched)),
                f"{searched.sum() / _MINUTE:.1f}",
                f"{searched.mean():.2f}",
                f"{finals.sum() / _MINUTE:.1f}",
                f"{searched.sum() / cold.searched['seconds'].to_numpy().mean() / len(one.best):.1f}",
            )
        )
    head = ("study", "trials", "search, min", "s a trial", "finals, min")
    return table((*head, "a search in cold trials"), rows)


def _points(found: Interval) -> Interval:
    """The interval in percentage points."""
    low, high, error = (
        None if value is None else 100 * value
        for value in (found.low, found.high, found.standard_error)
    )
    return Interval(
        estimate=100 * found.estimate, low=low, high=high, standard_error=error, num=found.num
    )


def _interval(found: Interval, digits: int = 2) -> str:
    if found.low is None or found.high is None:
        return f"{found.estimate:.{digits}f}"
    return f"{found.estimate:.{digits}f} ({found.low:.{digits}f} to {found.high:.{digits}f})"


def _tau(found: Agreement) -> str:
    p = "p < 0.01" if found.p < 0.01 else f"p = {found.p:.2f}"
    return f"{found.tau:.2f} ({p})"


def _script(block: str) -> str:
    return block.partition("/")[0].removeprefix("glyphs-")


if __name__ == "__main__":
    main()
