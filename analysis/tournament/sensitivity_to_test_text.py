"""A tournament under several tests, as plain values and in sentences."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from analysis.hypothesis_tests.bayesian_signed_rank import FEW_BLOCKS
from analysis.hypothesis_tests.pairwise_comparisons import Pair
from analysis.tournament.probability_of_superiority import ENOUGH_RUNS
from analysis.tournament.sensitivity_to_test import (
    MedalUnderTest,
    SensitivityToTest,
    VerdictUnderTest,
)
from analysis.tournament.tournament import Tournament
from analysis.tournament.verdict_text import unit_count
from analysis.wording import counted, listed


def sensitivity_record(tournament: Tournament, found: SensitivityToTest) -> dict[str, Any]:
    """``tests`` (the primary one first), ``pairs``, ``competitors``, ``anova`` and ``rope``."""
    return {
        "tests": [
            {**asdict(test), "num_different": len(test.different_pairs)} for test in found.tests
        ],
        "num_pairs": found.num_pairs,
        "anova": asdict(found.anova),
        "rope": found.rope,
        "rope_source": found.rope_source,
        "pairs": [
            {
                "a": pair.a,
                "b": pair.b,
                "p_a_better": better.a_better,
                "p_rope": better.rope,
                "p_b_better": better.b_better,
                "superiority": superiority.estimate,
                "superiority_low": superiority.low,
                "superiority_high": superiority.high,
                "is_paired": superiority.is_paired,
                "is_meaningful": superiority.is_meaningful,
            }
            for pair, better, superiority in _pairs(tournament, found)
        ],
        "competitors": [asdict(one) for one in found.interquartile],
    }


def sensitivity_sentences(tournament: Tournament, found: SensitivityToTest) -> Iterator[str]:
    """What the tests agree on and what probabilities say of the first two."""
    yield agreement_text(tournament, found)
    pair, better, one = next(iter(_pairs(tournament, found)))
    interval = "" if one.low is None else f" (95 % interval {one.low:.2f} to {one.high:.2f})"
    meaning = "meaningful" if one.is_meaningful else "not meaningful"
    yield (
        f"{pair.a} against {pair.b}: P(a run of it scores higher) = {one.estimate:.2f}{interval}, "
        f"{meaning}; probably better by more than the region: {better.a_better:.2f}, as good as "
        f"equal {better.rope:.2f}, worse {better.b_better:.2f}. {rope_text(found)}"
    )
    if tournament.units.number < FEW_BLOCKS:
        yield (
            f"With {unit_count(tournament)} these probabilities say little: it takes "
            f"{FEW_BLOCKS} and more, or {ENOUGH_RUNS} comparisons of runs on one block."
        )


def rope_text(found: SensitivityToTest) -> str:
    """Half-width of the region of practical equivalence, and where it is from."""
    if found.rope_source == "none":
        return "No region of practical equivalence: nothing is known of seeds."
    why = "as declared" if found.rope_source == "declared" else "the standard deviation of runs"
    return f"Region of practical equivalence: {found.rope:.2g} either way, {why}."


def medals_text(test: VerdictUnderTest) -> str:
    """Whether each rank differs from all behind it: ``1 kept, 2 shared, 3 shared``."""
    return ", ".join(f"{medal.place} {_standing(medal)}" for medal in test.medals)


def _standing(medal: MedalUnderTest) -> str:
    return "shared" if medal.not_significantly_different else "kept"


def agreement_text(tournament: Tournament, found: SensitivityToTest) -> str:
    """Whether rank 1, and which pairs, depend on the choice of the test.

    With few groups of blocks it says that the Bayesian test has no ground for its verdicts.
    """
    return f"{_agreement(found)}{_few_groups(tournament)}"


def _few_groups(tournament: Tournament) -> str:
    if tournament.units.number >= FEW_BLOCKS:
        return ""
    return (
        f" With {unit_count(tournament)} the verdicts of the Bayesian test say"
        f" little: its prior and single {tournament.units.noun}s decide below {FEW_BLOCKS}."
    )


def _agreement(found: SensitivityToTest) -> str:
    different = [set(map(frozenset, test.different_pairs)) for test in found.tests]
    always, ever = set.intersection(*different), set.union(*different)
    shares = [test.label for test in found.tests if test.medals[0].not_significantly_different]
    behind = "the first significantly different from all behind it"
    if not shares:
        first = f"All of them find {behind}."
    elif len(shares) == len(found.tests):
        first = f"None of them finds {behind}."
    elif 2 * len(shares) <= len(found.tests):
        first = f"All but {listed(shares)} find {behind}."
    else:
        others = [test.label for test in found.tests if test.label not in shares]
        first = f"Only {listed(others)} {'finds' if len(others) == 1 else 'find'} {behind}."
    pairs, tests = counted(found.num_pairs, "pair"), len(found.tests)
    if not ever:
        return f"None of {tests} tests finds any of {pairs} significantly different."
    if len(ever) == len(always):
        return (
            f"All {tests} tests find the same {len(ever)} of {pairs} significantly different."
            f" {first}"
        )
    if not always:
        return (
            f"No pair is significantly different by all {tests} tests, and {len(ever)} of {pairs}"
            f" by some. {first}"
        )
    return (
        f"All {tests} tests find {len(always)} of {pairs} significantly different; of"
        f" {len(ever) - len(always)} more the verdict depends on the test. {first}"
    )


def _pairs(tournament: Tournament, found: SensitivityToTest) -> Iterator[tuple[Pair, Any, Any]]:
    yield from zip(tournament.pairs, found.better, found.superiorities, strict=True)
