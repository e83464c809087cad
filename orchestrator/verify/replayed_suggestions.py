"""Draws every suggestion of a search again, and compares it with the stored one."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial

from orchestrator.results.records.asks import Ask, file_of_ask
from orchestrator.results.records.retried import RetriedFailure
from orchestrator.results.trial_files.reader import Reader
from orchestrator.run.resume_study import search_run
from orchestrator.scheduling.committed_outcomes import search_outcomes
from orchestrator.scheduling.running_search import SearchRun
from orchestrator.search_samplers.suggester import Outcome
from orchestrator.study.blocks import searches
from orchestrator.study.budget import with_trials_per_search
from orchestrator.study.study import Study
from orchestrator.trials.specification_maker import TrialSpecMaker
from orchestrator.verify.findings import Findings
from orchestrator.verify.stored_study import StoredStudy

# These do not use outcomes, so it does not matter which of them a suggestion had seen.
_WITHOUT_OUTCOMES = ("random", "grid", "qmc")

# No sampler learns from the epochs of a failed trial.
_FAILED = Outcome(state="FAILED", objective=None, path=(), selected_epoch=None, seconds=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Difference:
    """The first suggestion that differs: as it is stored, and as it was drawn again."""

    ask: Ask
    drawn: Mapping[str, object]


def check_replay(stored: StoredStudy, maker: TrialSpecMaker, findings: Findings) -> None:
    """Every search, drawn again from its outcomes.

    In asynchronous order the store does not say which outcomes a suggestion had seen. So only
    samplers that use none can be drawn again there. What was suggested before a trial was retried
    saw its failure, and not the outcome that it has now.
    """
    study = with_trials_per_search(stored.study)
    if reason := _why_not(study, {run.trials_per_search for run in stored.runs}):
        findings.note(stored.paths.asks, f"suggestions were not drawn again: {reason}")
        return
    reader = Reader(stored.paths.folder)
    outcomes = search_outcomes(reader.decisions(), study.ks[0], reader.objective)
    for number, search in enumerate(planned := searches(study), start=1):
        findings.tell(f"replaying search {number} of {len(planned)}")
        asks = stored.asks.get(search.id, ())
        start = partial(search_run, study, search, maker)
        difference = _replay(start, asks, outcomes.get(search.id, {}), stored.retried)
        findings.checked["searches replayed"] += bool(asks)
        if difference is not None:
            findings.problem(
                file_of_ask(stored.paths, search.id, difference.ask.index),
                "drawn again from the outcomes before it, the suggestion must be the same;"
                f" now it is {dict(difference.drawn)}",
                dict(difference.ask.hyperparameters),
                "Later suggestions of the search were not compared",
            )


def _why_not(study: Study, trials_before: Set[int]) -> str | None:
    """Why suggestions do not follow from what the store holds; None if they do."""
    if study.search.order != "deterministic" and study.search.sampler not in _WITHOUT_OUTCOMES:
        return (
            f"in asynchronous order what {study.search.sampler} suggests follows from which trials"
            " had ended by then, which is not stored"
        )
    if trials_before - {study.search.trials}:
        return "the searches had a different number of trials when they began"
    return None


def _replay(
    start: Callable[[], SearchRun],
    stored: Sequence[Ask],
    outcomes: Mapping[str, Outcome],
    retried: Mapping[str, Sequence[RetriedFailure]],
) -> _Difference | None:
    """Suggestions of a search, in parts that saw the same outcome of every trial."""
    mine = {ask.trial_id: retried.get(ask.trial_id, ()) for ask in stored}
    changes = {failure.asks for failures in mine.values() for failure in failures}
    starts = sorted({0, *(index for index in changes if index < len(stored))})
    for first, end in zip(starts, [*starts[1:], len(stored)], strict=True):
        seen = {
            trial_id: outcome
            for trial_id in mine
            if (outcome := _outcome_at(first, mine[trial_id], outcomes.get(trial_id)))
        }
        run = start()
        run.restore(stored[:first], seen)
        if difference := _replay_part(run, stored[first:end], seen):
            return difference
    return None


def _outcome_at(
    index: int, failures: Sequence[RetriedFailure], now: Outcome | None
) -> Outcome | None:
    """Outcome of a trial as suggestion ``index`` saw it, if it saw the trial."""
    return _FAILED if any(failure.asks > index for failure in failures) else now


def _replay_part(
    run: SearchRun, stored: Sequence[Ask], outcomes: Mapping[str, Outcome]
) -> _Difference | None:
    for ask in stored:
        drawn, _ = run.suggest()
        if drawn != ask:
            return _Difference(ask=ask, drawn=drawn.hyperparameters)
        outcome = outcomes.get(ask.trial_id)
        if outcome is not None:
            run.finish(ask.trial_id, outcome)
    return None
