"""The same table under several tests: does the verdict hold, whichever one had been chosen?

The primary test was declared before; nothing here replaces it.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from analysis.estimates.ranks import Standing
from analysis.hypothesis_tests.anova import (
    RepeatedMeasures,
    paired_t_p_values,
    repeated_measures_anova,
)
from analysis.hypothesis_tests.bayesian_signed_rank import BetterProbability, better_probabilities
from analysis.hypothesis_tests.pairwise_comparisons import differences, holm
from analysis.hypothesis_tests.sign_flip_test import sign_flip_p_values
from analysis.tournament.block_runs import BlockRuns, pooled_std, run_scores
from analysis.tournament.interquartile_means import InterquartileMean, interquartile_means
from analysis.tournament.probability_of_superiority import Superiority, superiorities
from analysis.tournament.tournament import Tournament
from orchestrator.results.records.tournament_rules import TEST_LABELS

__all__ = ["MedalUnderTest", "Multiverse", "UnderTest", "multiverse"]

_MEDALS = 3
_BAYES = "bayesian_signed_rank"
_T_TESTS = "anova_t_holm"

_LABELS: dict[str, str] = {
    **dict(TEST_LABELS.items()),
    _T_TESTS: "ANOVA with t–Holm",
    _BAYES: "Bayesian signed-rank",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MedalUnderTest:
    """One of the first three places, and who behind it the test cannot tell from it."""

    place: int
    competitor: str
    not_told_apart: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderTest:
    """The verdict of one test.

    Attributes:
        test: its name, such as ``wilcoxon_holm``.
        label: for a table.
        is_primary: whether it was declared to decide.
        apart: the pairs it tells apart, the better placed first.
        not_from_first: who cannot be told from the first of the ranking.
        medals: the first three places under it, as far as somebody is behind.
    """

    test: str
    label: str
    is_primary: bool
    apart: tuple[tuple[str, str], ...]
    not_from_first: tuple[str, ...]
    medals: tuple[MedalUnderTest, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Multiverse:
    """All tests of one tournament, and what speaks in probabilities and points instead.

    Attributes:
        tests: one entry each, the primary one first.
        num_pairs: of competitors.
        anova: repeated measures, beside Friedman.
        rope: half-width of the region of practical equivalence, in units of the score.
        rope_source: ``declared``, ``seeds`` (the pooled standard deviation of runs) or ``none``
            (nothing was declared and no cell has two runs: 0).
        better: probabilities of each pair, in the tournament's order of pairs.
        superiorities: P(a > b) of each pair, likewise.
        interquartile: one entry a competitor, best placed first.
    """

    tests: tuple[UnderTest, ...]
    num_pairs: int
    anova: RepeatedMeasures
    rope: float
    rope_source: str
    better: Sequence[BetterProbability]
    superiorities: Sequence[Superiority]
    interquartile: Sequence[InterquartileMean]


def multiverse(
    tournament: Tournament,
    runs: Sequence[BlockRuns] | None = None,
    *,
    rope: float | None = None,
    scale: float = 1.0,
    seed: int = 0,
) -> Multiverse | None:
    """Hold every test on the blocks of a tournament, at its level.

    The Bayesian test calls a pair different where one side is better by more than the region with
    a probability of 1 - alpha; it is not adjusted for the number of pairs, and is no test with an
    error rate.

    Args:
        tournament: with its primary test.
        runs: of the same table; None if no cell has two.
        rope: declared half-width, in units of the score; None: the standard deviation of runs.
        scale: the tournament's unit in that of the runs, such as 100 for percent.
        seed: equal seeds give equal numbers.

    Returns:
        None with a single block, which supports no test.
    """
    if tournament.is_descriptive:
        return None
    scores = run_scores(tournament, runs, scale=scale)
    found_std = pooled_std(scores)
    region = rope if rope is not None else found_std or 0.0
    gaps_BP = differences(tournament.scores_BC)
    better = better_probabilities(gaps_BP, rope=region, seed=seed)
    alpha = tournament.alpha
    p_values: dict[str, Sequence[float | None]] = {
        "wilcoxon_holm": [pair.p_holm for pair in tournament.pairs],
        "permutation_holm": holm(sign_flip_p_values(gaps_BP, seed=seed).tolist()),
        **_nemenyi(tournament),
        _T_TESTS: holm(paired_t_p_values(gaps_BP).tolist()),
    }
    is_apart: dict[str, Sequence[bool]] = {
        test: [p is not None and p <= alpha for p in values] for test, values in p_values.items()
    }
    # Ties of a_better and b_better are impossible from one half on.
    is_apart[_BAYES] = [max(one.a_better, one.b_better) >= 1 - alpha for one in better]
    ordered = sorted(is_apart, key=lambda test: test != tournament.test)
    return Multiverse(
        tests=tuple(_under(tournament, test, is_apart[test]) for test in ordered),
        num_pairs=len(tournament.pairs),
        anova=repeated_measures_anova(tournament.scores_BC),
        rope=region,
        rope_source="declared" if rope is not None else "none" if found_std is None else "seeds",
        better=better,
        superiorities=superiorities(tournament.names, scores, seed=seed),
        interquartile=interquartile_means(tournament.names, scores, seed=seed),
    )


def _nemenyi(tournament: Tournament) -> dict[str, Sequence[float | None]]:
    """Nothing with two competitors, of which the test does not speak."""
    if tournament.critical_difference is None:
        return {}
    return {"nemenyi": [pair.p_nemenyi for pair in tournament.pairs]}


def _under(tournament: Tournament, test: str, is_apart: Iterable[bool]) -> UnderTest:
    apart = tuple(
        (pair.a, pair.b) for pair, found in zip(tournament.pairs, is_apart, strict=True) if found
    )
    told = set(map(frozenset, apart))
    first = tournament.names[0]
    return UnderTest(
        test=test,
        label=_LABELS[test],
        is_primary=test == tournament.test,
        apart=apart,
        not_from_first=tuple(
            name for name in tournament.names[1:] if frozenset((first, name)) not in told
        ),
        medals=tuple(_medals(tournament.standings, told)),
    )


def _medals(
    standings: Sequence[Standing], told: Collection[frozenset[str]]
) -> Iterator[MedalUnderTest]:
    for standing in standings:
        if standing.place > _MEDALS:
            return
        rivals = [
            other.competitor
            for other in standings
            if other is not standing and other.place >= standing.place
        ]
        if rivals:
            name = standing.competitor
            yield MedalUnderTest(
                place=standing.place,
                competitor=name,
                not_told_apart=tuple(r for r in rivals if frozenset((name, r)) not in told),
            )
