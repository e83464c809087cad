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
    """One of the first three places, and who behind it does not differ by the test."""

    place: int
    competitor: str
    not_significantly_different: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictUnderTest:
    """The verdict of one test.

    Attributes:
        test: name of the test, such as ``wilcoxon_holm``.
        label: name of the test as tables show it.
        is_primary: whether it was declared to decide.
        different_pairs: pairs that are significantly different, the better placed first.
        not_different_from_first: competitors that are not significantly different from the first
            of the ranking.
        medals: the first three places under the test, those with a competitor behind.
    """

    test: str
    label: str
    is_primary: bool
    different_pairs: tuple[tuple[str, str], ...]
    not_different_from_first: tuple[str, ...]
    medals: tuple[MedalUnderTest, ...]

    @property
    def shown(self) -> str:
        """The label, and whether the test was declared to decide."""
        return f"{self.label} (primary)" if self.is_primary else self.label


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitivityToTest:
    """The verdicts of all tests on one tournament, and probabilities and points beside them.

    Attributes:
        tests: verdict of each test, the primary one first.
        num_pairs: number of pairs of competitors.
        anova: repeated-measures analysis of variance, the counterpart of Friedman's test.
        rope: half-width of the region of practical equivalence, in units of the score.
        rope_source: ``declared``, ``seeds`` (the pooled standard deviation of runs) or ``none``
            (nothing was declared and no cell has two runs: 0).
        better: posterior probabilities of each pair, in the tournament's order of pairs.
        superiorities: P(a > b) of each pair, in the same order.
        interquartile: interquartile mean of each competitor, best placed first.
    """

    tests: tuple[VerdictUnderTest, ...]
    num_pairs: int
    anova: RepeatedMeasures
    rope: float
    rope_source: str
    better: Sequence[BetterProbability]
    superiorities: Sequence[Superiority]
    interquartile: Sequence[InterquartileMean]


def sensitivity_to_test(
    tournament: Tournament,
    runs: Sequence[BlockRuns] | None = None,
    *,
    rope: float | None = None,
    scale: float = 1.0,
) -> SensitivityToTest | None:
    """Hold every test on the units of a tournament, at its level.

    The Bayesian test calls a pair different where one side is better by more than the region with
    a probability of 1 - alpha; it is not adjusted for the number of pairs, and is no test with an
    error rate.

    Args:
        tournament: tournament with its primary test and level.
        runs: runs behind the cells of each block; None if no cell has two.
        rope: declared half-width of the region of practical equivalence, in units of the score;
            None: the pooled standard deviation of runs.
        scale: factor from the unit of the runs to that of the tournament, such as 100 for percent.

    Returns:
        None where there are too few units for a test.
    """
    if tournament.is_descriptive:
        return None
    scores = run_scores(tournament, runs, scale=scale)
    found_std = pooled_std(scores)
    region = rope if rope is not None else found_std or 0.0
    gaps_UP = differences(tournament.unit_scores_UC)
    better = better_probabilities(gaps_UP, rope=region)
    alpha = tournament.alpha
    p_values: dict[str, Sequence[float | None]] = {
        "wilcoxon_holm": [pair.p_holm for pair in tournament.pairs],
        "permutation_holm": holm(sign_flip_p_values(gaps_UP).tolist()),
        **_nemenyi(tournament),
        _T_TESTS: holm(paired_t_p_values(gaps_UP).tolist()),
    }
    is_different: dict[str, Sequence[bool]] = {
        test: [p is not None and p <= alpha for p in values] for test, values in p_values.items()
    }
    # Ties of a_better and b_better are impossible from one half on.
    is_different[_BAYES] = [max(one.a_better, one.b_better) >= 1 - alpha for one in better]
    ordered = sorted(is_different, key=lambda test: test != tournament.test)
    return SensitivityToTest(
        tests=tuple(_verdict(tournament, test, is_different[test]) for test in ordered),
        num_pairs=len(tournament.pairs),
        anova=repeated_measures_anova(tournament.unit_scores_UC),
        rope=region,
        rope_source="declared" if rope is not None else "none" if found_std is None else "seeds",
        better=better,
        superiorities=superiorities(
            tournament.names,
            scores,
            tournament.block_groups.members,
            shared_runs=tournament.run_scores,
        ),
        interquartile=interquartile_means(tournament.names, scores),
    )


def _nemenyi(tournament: Tournament) -> dict[str, Sequence[float | None]]:
    """Empty with two competitors, for which the test is not defined."""
    if tournament.critical_difference is None:
        return {}
    return {"nemenyi": [pair.p_nemenyi for pair in tournament.pairs]}


def _verdict(tournament: Tournament, test: str, is_different: Iterable[bool]) -> VerdictUnderTest:
    pairs = tuple(
        (pair.a, pair.b)
        for pair, found in zip(tournament.pairs, is_different, strict=True)
        if found
    )
    different = set(map(frozenset, pairs))
    first = tournament.names[0]
    return VerdictUnderTest(
        test=test,
        label=_LABELS[test],
        is_primary=test == tournament.test,
        different_pairs=pairs,
        not_different_from_first=tuple(
            name for name in tournament.names[1:] if frozenset((first, name)) not in different
        ),
        medals=tuple(_medals(tournament.standings, different)),
    )


def _medals(
    standings: Sequence[Standing], different: Collection[frozenset[str]]
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
                not_significantly_different=tuple(
                    r for r in rivals if frozenset((name, r)) not in different
                ),
            )
