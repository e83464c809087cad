import pytest

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.tournament_rules import TournamentRules
from orchestrator.run.snapshot_study import check_startable, write_snapshot
from podium.errors import PodiumError
from tests.orchestrator.study_files import MINIMAL, assert_matches, load, problems_of

THREE = "study: x\nlosses: [contrastive, triplet, proxy_anchor]\n"


def test_wilcoxon_with_holm_is_the_test_unless_another_is_declared(tmp_path):
    assert load(tmp_path, MINIMAL).tournament == TournamentRules(
        question="other_blocks", test="wilcoxon_holm", alpha=0.05, rope_points=None
    )


def test_a_study_declares_its_question_test_level_and_region(tmp_path):
    rules = "{question: these_blocks, test: nemenyi, alpha: 0.01, rope_points: 0.5}"
    assert load(tmp_path, f"{THREE}tournament: {rules}\n").tournament == TournamentRules(
        question="these_blocks", test="nemenyi", alpha=0.01, rope_points=0.5
    )


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (
            "{test: tukey}",
            's.yaml:3: tournament.test must be one of the choices; got "tukey"; choices: '
            "nemenyi, permutation_holm, wilcoxon_holm",
        ),
        (
            "{question: all}",
            's.yaml:3: tournament.question must be one of the choices; got "all"; choices: '
            "other_blocks, these_blocks",
        ),
        ("{alpha: 0.5}", "s.yaml:3: tournament.alpha must be a number > 0 and < 0.5; got 0.5"),
        ("{alpha: 0}", "s.yaml:3: tournament.alpha must be a number > 0 and < 0.5; got 0"),
        ("{rope_points: -1}", "s.yaml:3: tournament.rope_points must be a number >= 0; got -1"),
        ("{level: 0.1}", 's.yaml:3: unknown key in tournament; got "level"; choices: alpha.*'),
        ("nemenyi", "s.yaml:3: tournament must be a mapping; got .*nemenyi.*"),
    ],
)
def test_what_cannot_be_declared_is_said_with_its_line(tmp_path, given, problem):
    assert_matches(problems_of(tmp_path, f"{THREE}tournament: {given}\n"), [problem])


def test_nemenyi_needs_three_losses(tmp_path):
    text = "study: x\nlosses: [contrastive, triplet]\ntournament: {test: nemenyi}\n"
    assert_matches(
        problems_of(tmp_path, text),
        ["s.yaml:3: nemenyi compares at least 3 losses; the study has 2"],
    )


def test_a_study_that_has_started_keeps_its_test(tmp_path):
    study = load(tmp_path, THREE)
    paths = StudyPaths(tmp_path / "x")
    write_snapshot(study, paths)
    check_startable(study, paths)
    other = load(tmp_path, f"{THREE}tournament: {{test: nemenyi}}\n")
    with pytest.raises(PodiumError, match=r'tournament\.test: "wilcoxon_holm" -> "nemenyi"'):
        check_startable(other, paths)
