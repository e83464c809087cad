"""What ``podium plan`` says a study can show."""

import json
import math
from dataclasses import asdict, fields
from pathlib import Path

import pytest
import yaml

from podium.analysis.estimates.design_analysis import random_search_odds
from podium.analysis.estimates.t_test_power import detectable_difference
from podium.orchestrator.planning.study_plan import plan
from podium.orchestrator.study_validation.load_study import load_study
from podium.plan.statistical_power import Assumptions, DatasetPower, StudyPower, study_power
from tests.orchestrator.study_files import MINIMAL
from tests.podium.calling import call

STUDIES = Path(__file__).parents[3] / "studies"
STATISTICS = STUDIES.parent / "docs" / "explanation" / "statistics"
PAGE = (STATISTICS / "before-a-study.md").read_text(encoding="utf-8")
TWO_A_GROUP = ("--set", "embedding_dims=[16, 64]")  # blocks of one data set and backbone
CUB = {
    "study": "birds",
    "datasets": [{"name": "cub200"}],
    "backbones": ["resnet50"],
    "losses": ["contrastive", "arcface"],
}


@pytest.fixture
def cub(tmp_path):
    file = tmp_path / "birds.yaml"
    file.write_text(yaml.safe_dump(CUB | {"storage": str(tmp_path)}))
    return file


def power_of(capsys, *arguments):
    return json.loads(call(capsys, "plan", *arguments, "--json").out)["power"]


def plan_output(capsys, *arguments):
    return " ".join(call(capsys, "plan", *arguments, "--full").out.split())


def test_ten_classes_of_cub_show_little(capsys, cub):
    """586 queries: 1.12 points at 92 % if independent, more than three times that by classes."""
    birds = power_of(capsys, cub, "--assume", "recall=92", "--assume", "class_correlation=0")
    assert birds["datasets"][0]["standard_error"] == pytest.approx(1.12, abs=0.005)
    (birds,) = power_of(capsys, cub, "--assume", "recall=92")["datasets"]
    assert birds["val_classes"] == 10
    by_classes = 100 * math.sqrt(0.92 * 0.08 / 586 * (1 + 57.6 * 0.15))
    assert birds["standard_error"] == pytest.approx(by_classes)
    noise = math.sqrt(by_classes**2 * 0.3 + 0.5**2)
    assert birds["noise"] == pytest.approx(noise)
    assert birds["least_significant_difference"] == pytest.approx(
        1.96 * math.sqrt(2) * noise, rel=1e-4
    )


def test_classes_that_repetitions_validate_again_count_once(capsys, cub):
    folds = ("--set", "protocol={kind: kfold, folds: 5}")
    again = ("--set", "protocol={kind: repeated_kfold, folds: 5, repeats: 4}")
    (once,), (repeated,) = (power_of(capsys, cub, *given)["datasets"] for given in (folds, again))
    assert repeated["val_classes"] == once["val_classes"] == 100
    assert repeated["standard_error"] == once["standard_error"]


def test_odds_are_those_of_as_many_configs_as_a_search_evaluates(capsys, cub):
    arguments = ("--set", "search.trials=33", "--assume", "spread=3")
    (birds,) = power_of(capsys, cub, *arguments)["datasets"]
    odds = random_search_odds(33, spread=3.0, noise=birds["noise"])
    found = (birds["best"], birds["regret"], birds["optimism"])
    assert found == pytest.approx(odds)


def test_power_of_finals_follows_from_seeds_and_blocks(capsys):
    power = power_of(capsys, STUDIES / "quickstart.yaml", *TWO_A_GROUP, "--assume", "seed_std=2")
    assert (power["seeds"], power["blocks"], power["units"]) == (3, 16, 8)
    assert power["gain"] == pytest.approx(detectable_difference(3, difference_std=math.sqrt(8)))
    shares = list(power["power"].values())
    assert shares == sorted(shares)
    assert list(power["power"]) == ["1.0", "2.0", "3.0"]
    assert power["seeds_needed"] > 3
    one_seed = ("--set", "final.seeds=1")
    text = plan_output(capsys, STUDIES / "quickstart.yaml", *TWO_A_GROUP, *one_seed)
    assert (
        "one seed shows no gain of tuning beyond chance; the test of 3 pairs over 8 data sets"
        in text
    )


def test_a_validation_part_too_small_is_warned_of(capsys, cub):
    text = plan_output(capsys, cub, "--difference", "2")
    (birds,) = power_of(capsys, cub, "--difference", "2")["datasets"]
    needed = birds["classes_needed"]
    assert needed > 10
    assert (
        "Warning: validation is too small to distinguish configs that differ by 2 points. Classes "
        f"it takes: about {needed:,} (cub200 has 10 of 100 training classes)."
    ) in text


def test_what_seeds_hide_is_reported_with_the_classes(capsys, cub):
    (birds,) = power_of(capsys, cub)["datasets"]
    assert birds["classes_needed"] is None
    text = plan_output(capsys, cub)
    assert f"about {birds['classes_needed_alone']:,} (cub200" in text
    assert "the noise of seeds alone hides differences below 1.4." in text
    assert "noise of seeds" not in plan_output(capsys, cub, "--assume", "seed_std=0.1")


def test_as_many_classes_as_are_printed_would_do(cub):
    """The number of the warning, put into the formula of the table."""
    planned = plan(load_study(cub))
    (birds,) = study_power(planned, Assumptions(), 2.0).datasets
    ratio = birds.val_classes / birds.classes_needed
    scaled = math.sqrt(birds.standard_error**2 * ratio * 0.3 + 0.5**2)
    assert 1.96 * math.sqrt(2) * scaled == pytest.approx(2.0, rel=0.01)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--assume", "sprad=1"), "--assume takes one of recall, spread, class_correlation"),
        (("--assume", "recall=100"), "--assume recall: Input should be less than 100; got '100'"),
        (("--assume", "spread=nan"), "spread: Input should be a finite number; got 'nan'"),
        (("--assume", "shared=1.5"), "shared: Input should be less than or equal to 1; got '1.5'"),
        (("--assume", "seed_std=inf"), "seed_std: Input should be a finite number; got 'inf'"),
        (("--difference", "0"), "--difference must be points above 0 and below 100; got 0"),
    ],
)
def test_what_cannot_be_assumed_is_refused(capsys, tmp_path, arguments, error):
    file = tmp_path / "s.yaml"
    file.write_text(MINIMAL)
    refused = call(capsys, "plan", file, *arguments)
    assert refused.code == 2
    assert error in refused.err


@pytest.mark.parametrize(
    "extreme", ["shared=1", "class_correlation=0", "seed_std=0", "recall=99.9"]
)
def test_extreme_assumptions_are_planned_with(capsys, cub, extreme):
    (birds,) = power_of(capsys, cub, "--assume", extreme)["datasets"]
    assert 0 < birds["best"] <= 1
    assert birds["regret"] >= 0


def test_every_number_and_assumption_is_in_the_documentation():
    for name, value in asdict(Assumptions()).items():
        assert f"| `{name}` | {value:g} |" in PAGE, name
    context = {"assumptions", "datasets", "dataset", "val_classes", "search_trials"}
    context |= {"difference", "seeds", "blocks"}
    for field in (*fields(StudyPower), *fields(DatasetPower)):
        assert field.name in context or f"`{field.name}`" in PAGE, field.name


def test_the_example_of_the_documentation_is_what_is_planned(capsys, cub):
    (birds,) = power_of(capsys, cub, "--assume", "recall=92")["datasets"]
    printed = " ".join(PAGE.split())
    assert f"and {birds['standard_error']:.1f} as those of a class go together" in printed
    assert f"the better one then wins {100 * birds['better_wins']:.0f} of 100 times" in printed
    assert (
        f"differences below {birds['least_significant_difference']:.1f} points are noise"
        in printed
    )
