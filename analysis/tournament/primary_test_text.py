"""The primary test in words. Plans say it too, so nothing heavy is loaded for it."""

from collections.abc import Mapping

from podium.analysis.hypothesis_tests.pairwise_comparisons import blocks_needed
from podium.analysis.tournament.repeated_runs import IndependentUnits
from podium.orchestrator.results.records.tournament_rules import PrimaryTest

METHODS: Mapping[PrimaryTest, str] = {
    "wilcoxon_holm": "two-sided Wilcoxon, Holm-adjusted",
    "nemenyi": "Nemenyi",
    "permutation_holm": "two-sided sign flips of mean gaps, Holm-adjusted",
}
"""Primary test -> its description within brackets."""


def needed_text(
    num_competitors: int, alpha: float, test: PrimaryTest, *, units: IndependentUnits
) -> str:
    """How many more units it takes for any pair to be significantly different."""
    needed = blocks_needed(num_competitors, alpha, test)
    if needed is None:
        return f"No number of {units.noun}s is enough."
    return f"It takes {needed} {units.noun}s: {units.more(needed - units.number)} would do."
