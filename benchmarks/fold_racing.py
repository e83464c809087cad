"""What racing configs over folds saves, and what it costs, on glyphs.

    python -m benchmarks.fold_racing [--repeats 5] [--trials 20] [--folds 5] [--workers 2]

Each search trains every config on every fold once, without early stopping. Its sampler is random,
so a raced search would have tried the same configs; which of them it would have stopped follows
from the stored validation scores and the real rules (`orchestrator.scheduling.early_stopping`).
That this tells the truth is checked by racing the first search really. The configs after the
published default are drawn alike, so that any order of them is as good a search: what is said of a
search is the mean over many orders, the first of them its own.

What each way of searching selects is trained afresh, as the final stage does, on the same seeds
for all, and tested. Every search draws letters, folds, configs and seeds of its own; differences
are taken within a search. Two more rows say what selection is worth at all here: that by the first
fold alone, and none, which leaves the published default.
"""

import argparse
import json
import statistics
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path

import polars as pl

from analysis.estimates.confidence_intervals import t_interval
from benchmarks.interleaved import print_header
from benchmarks.replayed_races import FULL, KINDS, Selected, orders, ways, winner
from orchestrator.executors.in_process import InProcessExecutor
from orchestrator.results.records.asks import read_asks
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.trial_files.reader import Reader
from orchestrator.run.run_study import Console, run_study
from orchestrator.scheduling.committed_outcomes import search_outcomes
from orchestrator.search_samplers.suggester import Outcome
from orchestrator.study.study import Study
from orchestrator.study_validation.load_study import load_study
from trainables.settings.training_settings import HyperparameterValue
from trainables.settings.trial_settings import TrialSettings
from trainables.trial.run_trial import run_trial
from trainables.trial_reports import TestReport

Config = dict[str, HyperparameterValue]

TUNED = {"contrastive": "learning_rate", "proxy_anchor": "learning_rate, proxy_learning_rate"}

STUDY = """
study: fold-racing
datasets: [{{name: glyphs, classes: 100, instances_per_class: 12, seed: {seed}}}]
losses: [{loss}]
protocol: {{kind: kfold, folds: {folds}, split_seed: {seed}}}
search:
  sampler: random
  trials: {trials}
  tune: [{tuned}]
  early_stopping: {kind}
  order: deterministic
final: {{seeds: 1, protocol: {{kind: fixed, val_fraction: 0.2, split_seed: {seed}}}}}
training: {{recipe: fast, epochs: {epochs}}}
metrics: {{k: [1]}}
keep: {{models: false, embeddings: false}}
seed: {seed}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One search, by each way of searching.

    Attributes:
        selected: way -> what it selects, one for each order of the configs.
        recalls: suggestion -> Recall@1 on the test classes, one for each final seed.
    """

    selected: dict[str, list[Selected]]
    recalls: dict[int, tuple[float, ...]]

    def same(self, way: str) -> float:
        """In what share of the orders it selects what the full search does."""
        pairs = zip(self.selected[way], self.selected[FULL], strict=True)
        return statistics.mean(it.index == its.index for it, its in pairs)

    def mean(self, way: str, value: Callable[[Selected], float]) -> float:
        """Over the orders."""
        return statistics.mean(map(value, self.selected[way]))

    def recall(self, selected: Selected) -> float:
        """On the test classes, the mean over the final seeds."""
        return statistics.mean(self.recalls[selected.index])


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What a run left: outcomes and configs by suggestion, and a trial of the final stage."""

    outcomes: Sequence[Outcome]
    configs: Sequence[Config]
    final: TrialSettings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5, help="searches of each loss")
    parser.add_argument("--trials", type=int, default=20, help="configs of a search")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--seeds", type=int, default=5, help="of what is selected")
    parser.add_argument("--orders", type=int, default=100, help="of the configs of a search")
    parser.add_argument("--workers", type=int, default=2, help="processes of one thread each")
    options = parser.parse_args()
    print_header("benchmarks.fold_racing", "cpu")
    places = [(loss, seed) for seed, loss in enumerate([*TUNED] * options.repeats)]
    with ProcessPoolExecutor(options.workers, mp_context=get_context("spawn")) as pool:
        real = [pool.submit(really_raced, options, *places[0], kind) for kind in KINDS]
        searches = [pool.submit(searched, options, *place) for place in places]
        results = [search.result() for search in searches]
        for kind, race in zip(KINDS, real, strict=True):
            told = results[0].selected[kind][0]
            if race.result() != told:
                raise SystemExit(f"{kind}: really raced {race.result()}, replayed {told}")
    print(f"{', '.join(KINDS)}: really raced as replayed\n")
    print_table(results)


def searched(options: argparse.Namespace, loss: str, seed: int) -> Judged:
    """One full search: what each way of searching selects of it, and how that tests."""
    study = study_of(options, loss, seed, FULL)
    stored = run(study)
    selected: dict[str, list[Selected]] = {}
    for order in orders(options.trials, options.orders, seed):
        outcomes = [stored.outcomes[index] for index in order]
        for name, way in ways(options.epochs, options.folds, study.search.lag).items():
            picked = way(outcomes)
            selected.setdefault(name, []).append(replace(picked, index=order[picked.index]))
    recalls = {
        index: tuple(
            tested(replace(stored.final, seed=final_seed), stored.configs[index])
            for final_seed in range(options.seeds)
        )
        for index in sorted({it.index for picks in selected.values() for it in picks})
    }
    return Judged(selected=selected, recalls=recalls)


def really_raced(options: argparse.Namespace, loss: str, seed: int, kind: str) -> Selected:
    """The same search with early stopping."""
    return winner(run(study_of(options, loss, seed, kind)).outcomes)


def study_of(options: argparse.Namespace, loss: str, seed: int, kind: str) -> Study:
    text = STUDY.format(
        **{**vars(options), "loss": loss, "tuned": TUNED[loss], "seed": seed, "kind": kind}
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.yaml"
        path.write_text(text, encoding="utf-8")
        return load_study(path)


def run(study: Study) -> Stored:
    """Run a study of one search in this process."""
    with tempfile.TemporaryDirectory() as folder:
        paths = StudyPaths(Path(folder) / study.name)
        run_study(
            study,
            paths,
            start_executor=InProcessExecutor,
            console=Console(say=lambda line: None),
            trains_here=True,
        )
        reader = Reader(paths.folder)
        (asks,) = read_asks(paths).values()
        (outcomes,) = search_outcomes(reader.decisions(), 1, reader.objective).values()
        default = pl.col("stage") == "final", pl.col("is_default")
        (final,) = reader.trials().filter(*default).collect()["settings"]
        return Stored(
            outcomes=[outcomes[ask.trial_id] for ask in asks],
            configs=[dict(ask.hyperparameters) for ask in asks],
            final=TrialSettings.from_dict(json.loads(final)),
        )


def tested(final: TrialSettings, config: Config) -> float:
    """Recall@1 on the test classes of a config trained as ``final`` was."""
    reports = run_trial(replace(final, hyperparameters=config))
    (report,) = [report for report in reports if isinstance(report, TestReport)]
    return next(score.value for score in report.scores if score.metric == "recall")


def print_table(searches: Sequence[Judged]) -> None:
    variances = [
        statistics.variance(values) for search in searches for values in search.recalls.values()
    ]
    seed_sd = statistics.mean(variances) ** 0.5
    print(f"{len(searches)} searches. Of the {len(variances)} tested configs Recall@1 has a")
    print(f"standard deviation of {100 * seed_sd:.2f} points between seeds.\n")
    print("| early stopping | epochs saved | same config | validation | test | test - none |")
    print("|---|---|---|---|---|---|")
    for way in searches[0].selected:
        spent, full = (
            sum(search.mean(name, lambda it: it.epochs) for search in searches)
            for name in (way, FULL)
        )
        same = statistics.mean(search.same(way) for search in searches)
        validation = statistics.mean(
            search.mean(way, lambda it: it.objective) for search in searches
        )
        tests = [search.mean(way, search.recall) for search in searches]
        differences = [
            test - search.mean(FULL, search.recall)
            for test, search in zip(tests, searches, strict=True)
        ]
        print(
            f"| {way} | {1 - spent / full:.0%} | {same:.0%} | {100 * validation:.2f} "
            f"| {100 * statistics.mean(tests):.2f} | {with_interval(differences)} |"
        )


def with_interval(differences: Sequence[float]) -> str:
    """Mean and 95 % t interval over searches, in points."""
    interval = t_interval([100 * difference for difference in differences])
    if interval.low is None or interval.high is None:
        return f"{interval.estimate:+.2f}"
    return f"{interval.estimate:+.2f} [{interval.low:+.2f}, {interval.high:+.2f}]"


if __name__ == "__main__":
    main()
