"""What racing configs over folds saves, and what it costs, on glyphs.

    python -m benchmarks.fold_racing [--repeats 5] [--trials 20] [--folds 5] [--workers 2]

Each search trains every config on every fold once, without early stopping. Its sampler is random,
so a raced search would have tried the same configs; which of them it would have stopped follows
from the stored validation scores and the real rules (`orchestrator.racing`), in the order of the
suggestions. That this tells the truth is checked by racing the first search really.

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
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import polars as pl

from analysis.intervals import t_interval
from benchmarks.interleaved import print_header
from orchestrator.executors.in_process import InProcessExecutor
from orchestrator.outcomes import search_outcomes
from orchestrator.racing import Race, race_of
from orchestrator.results.asks import read_asks
from orchestrator.results.paths import StudyPaths
from orchestrator.results.reader import Reader
from orchestrator.run import run_study
from orchestrator.search_run import Outcome
from orchestrator.study import EarlyStopping, Stopping, Study
from orchestrator.study_yaml import load_study
from trainables.records import TestReport
from trainables.settings import HyperparameterValue, TrialSettings
from trainables.trial import run_trial

Config = dict[str, HyperparameterValue]

KINDS: tuple[Stopping, ...] = ("folds", "asha", "hyperband", "median")
FULL, FIRST_FOLD, DEFAULT = "none", "first fold alone", "published default"
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
class Selected:
    """The config that a way of searching picks, and what that took.

    Attributes:
        index: the suggestion.
        objective: its mean validation Recall@1 over all folds.
        epochs: trained by the whole search.
        recalls: Recall@1 on the test classes, one for each final seed.
    """

    index: int
    objective: float
    epochs: int
    recalls: tuple[float, ...] = ()


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
    parser.add_argument("--workers", type=int, default=2, help="processes of one thread each")
    options = parser.parse_args()
    print_header("benchmarks.fold_racing", "cpu")
    places = [(loss, seed) for seed, loss in enumerate([*TUNED] * options.repeats)]
    with ProcessPoolExecutor(options.workers, mp_context=get_context("spawn")) as pool:
        real = [pool.submit(really_raced, options, *places[0], kind) for kind in KINDS]
        searches = [pool.submit(searched, options, *place) for place in places]
        results = [search.result() for search in searches]
        for kind, race in zip(KINDS, real, strict=True):
            told = replace(results[0][kind], recalls=())
            if race.result() != told:
                raise SystemExit(f"{kind}: really raced {race.result()}, replayed {told}")
    print(f"{', '.join(KINDS)}: really raced as replayed\n")
    print_table(results)


def searched(options: argparse.Namespace, loss: str, seed: int) -> dict[str, Selected]:
    """One full search: what each way of searching selects of it, and how that tests."""
    study = study_of(options, loss, seed, FULL)
    stored = run(study)
    ways: dict[str, Callable[[Sequence[Outcome]], Selected]] = {
        FULL: winner,
        FIRST_FOLD: partial(by_first_fold, options.epochs),
        DEFAULT: lambda outcomes: Selected(index=0, objective=score_of(outcomes[0]), epochs=0),
    }
    for kind in KINDS:
        race = race_of(EarlyStopping(kind=kind), epochs=options.epochs, folds=options.folds)
        ways[kind] = partial(replayed, race, study.search.lag)
    selected = {name: way(stored.outcomes) for name, way in ways.items()}
    recalls = {
        index: tuple(
            tested(replace(stored.final, seed=final_seed), stored.configs[index])
            for final_seed in range(options.seeds)
        )
        for index in {it.index for it in selected.values()}
    }
    return {name: replace(it, recalls=recalls[it.index]) for name, it in selected.items()}


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
            watch=lambda director: nullcontext(),
            say=lambda line: None,
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


def replayed(race: Race, lag: int, outcomes: Sequence[Outcome]) -> Selected:
    """What a race leaves of trials that ran to their end, one suggestion after the other."""
    return winner([cut(outcome, index, race, lag) for index, outcome in enumerate(outcomes)])


def cut(outcome: Outcome, index: int, race: Race, lag: int) -> Outcome:
    """The outcome up to where the race stops it."""

    def competes_with(other: int) -> bool:
        return other <= index - lag

    for place, (step, score) in enumerate(outcome.path, start=1):
        if not race.goes_on(index, step, score, competes_with):
            return replace(outcome, state="PRUNED", objective=None, path=outcome.path[:place])
    return outcome


def winner(outcomes: Sequence[Outcome]) -> Selected:
    """The best complete suggestion, the earliest on ties, and the epochs of all of them."""
    complete = [index for index, it in enumerate(outcomes) if it.state == "COMPLETE"]
    best = max(complete, key=lambda index: score_of(outcomes[index]))
    return Selected(
        index=best,
        objective=score_of(outcomes[best]),
        epochs=sum(len(outcome.path) for outcome in outcomes),
    )


def by_first_fold(epochs: int, outcomes: Sequence[Outcome]) -> Selected:
    """Selection by one split: that of the first fold."""
    complete = [index for index, it in enumerate(outcomes) if it.state == "COMPLETE"]
    best = max(complete, key=lambda index: outcomes[index].path[epochs - 1][1])
    objective = score_of(outcomes[best])
    return Selected(index=best, objective=objective, epochs=epochs * len(outcomes))


def score_of(outcome: Outcome) -> float:
    assert outcome.objective is not None, "only complete trials are selected"
    return outcome.objective


def tested(final: TrialSettings, config: Config) -> float:
    """Recall@1 on the test classes of a config trained as ``final`` was."""
    reports = run_trial(replace(final, hyperparameters=config))
    (report,) = [report for report in reports if isinstance(report, TestReport)]
    return next(score.value for score in report.scores if score.metric == "recall")


def print_table(searches: Sequence[dict[str, Selected]]) -> None:
    full = [search[FULL] for search in searches]
    configs = [{it.index: it.recalls for it in search.values()} for search in searches]
    variances = [statistics.variance(recalls) for them in configs for recalls in them.values()]
    seed_sd = statistics.mean(variances) ** 0.5
    print(f"{len(searches)} searches, {len(full[0].recalls)} seeds of each selected config; ")
    print(f"sd between seeds of one config: {100 * seed_sd:.2f} points of test Recall@1\n")
    print("| early stopping | epochs saved | same config | validation | test | test - none |")
    print("|---|---|---|---|---|---|")
    for name in searches[0]:
        ours = [search[name] for search in searches]
        saved = 1 - sum(it.epochs for it in ours) / sum(it.epochs for it in full)
        same = sum(it.index == its.index for it, its in zip(ours, full, strict=True))
        validation = statistics.mean(it.objective for it in ours)
        test = statistics.mean(statistics.mean(it.recalls) for it in ours)
        differences = [
            statistics.mean(it.recalls) - statistics.mean(its.recalls)
            for it, its in zip(ours, full, strict=True)
        ]
        print(
            f"| {name} | {saved:.0%} | {same} of {len(full)} | {100 * validation:.2f} "
            f"| {100 * test:.2f} | {with_interval(differences)} |"
        )


def with_interval(differences: Sequence[float]) -> str:
    """Mean and 95 % t interval over searches, in points."""
    interval = t_interval([100 * difference for difference in differences])
    if interval.low is None or interval.high is None:
        return f"{interval.estimate:+.2f}"
    return f"{interval.estimate:+.2f} [{interval.low:+.2f}, {interval.high:+.2f}]"


if __name__ == "__main__":
    main()
