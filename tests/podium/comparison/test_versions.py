"""Versions of one loss on the same test classes are counted, and p with them."""

import pytest

from podium.analysis.study_results.study_results import read_results
from podium.comparison.answer import differences_of
from podium.comparison.design import comparison_keys
from podium.comparison.versions import version_sentences
from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.study_validation.load_study import load_study
from tests.orchestrator.small_study import run_here
from tests.podium.comparison.test_answer import OTHER, OWN, trial_of


@pytest.fixture
def compared(tmp_path):
    """A function that runs a version of the loss with some skill, and returns what is said."""

    def run(version, skill, num_sets=8):
        keys = comparison_keys(OWN, [OTHER], minutes=1, data=None)
        keys |= {"search": {"trials": 1}, "datasets": keys["datasets"][:num_sets]}
        keys["study"] = f"compare-{OWN}-1min-{version}"
        study, trial = load_study(keys), trial_of({OWN: skill, OTHER: 0.2})
        run_here(study, tmp_path, InProcessExecutor(trial))
        results = read_results(tmp_path / study.name)
        against = differences_of(results, OWN)
        return version_sentences(tmp_path / study.name, results, OWN, against)

    return run


def test_the_first_version_is_only_itself(compared):
    assert compared("a", 0.6) == []


def test_each_version_has_its_gain_and_every_p_is_multiplied(compared):
    compared("c", 0.5)
    second, claim = compared("b", 0.6)
    assert second.startswith(f"2 versions of {OWN} were compared on these test classes: mean")
    gain = second.split("(+")[1]
    assert gain.split(",")[0] == "10.0"
    assert gain.endswith(", this one).")
    assert claim.startswith("With p times 2, for")
    assert claim.endswith(f"the difference to {OTHER} still holds.")
    for number in range(4):
        compared(f"d{number}", 0.6)
    seventh, claim = compared("e", 0.6)
    # The smallest p of eight sets is 2/256; seven times it is above 0.05.
    assert seventh.startswith(
        f"7 versions of {OWN} were compared on these test classes; the latest 5"
    )
    assert claim.startswith("With p times 7, for")
    assert claim.endswith(f"the difference to {OTHER} no longer holds.")


def test_comparisons_on_other_sets_are_no_versions(compared):
    compared("a", 0.5, num_sets=7)
    assert compared("b", 0.6) == []


def test_a_damaged_version_costs_the_count_and_not_the_answer(compared, tmp_path):
    compared("a", 0.5)
    (tmp_path / f"compare-{OWN}-1min-a" / "study.json").write_text("{")
    (said,) = compared("b", 0.6)
    assert said.startswith(f"Versions of {OWN} in this storage are not counted: ")
    assert "study.json" in said
