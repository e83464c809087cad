"""A study whose budget is used up, as a user meets it: real training, in one process."""

import json
import re

import pytest

from tests.podium.calling import call, podium
from tests.podium.commands.test_run import STUDY

LIMITED = STUDY + "budget: {wall_hours: 0.0001}\n"


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stopped")
    (folder / "tiny.yaml").write_text(LIMITED)
    return folder, podium("run", "tiny.yaml", "--local", cwd=folder)


def test_a_run_that_used_up_its_budget_ends_with_code_3_and_says_how_to_continue(stopped):
    _, done = stopped
    assert done.returncode == 3
    told = " ".join(done.stderr.split())
    assert re.search(r"The budget is used up: [\d.]+ of 0\.0001 hours\. ", told)
    assert "With a larger budget.wall_hours the same command resumes the study." in told
    assert "Traceback" not in told


def test_status_shows_what_was_spent_and_what_the_budget_leaves(stopped, capsys):
    folder, _ = stopped
    results = folder / "podium-results" / "tiny"
    printed = call(capsys, "status", results).out
    assert "s of training, starts of trials included, in 1 run of" in printed
    assert "of 0.0001 hours\n" in printed
    status = json.loads(call(capsys, "status", results, "--json").out)
    assert status["num_runs"] == 1
    assert status["progress"]["budget"][0]["used"] > 0.0001


def plan(capsys, tmp_path, *overrides):
    (tmp_path / "tiny.yaml").write_text(STUDY)
    options = [word for override in overrides for word in ("--set", override)]
    return call(capsys, "plan", tmp_path / "tiny.yaml", *options)


def test_the_plan_shows_the_trials_that_a_budget_leaves_each_search(capsys, tmp_path):
    # 2 searches x 2 finalists x 2 seeds, and 3 baselines, leave 4 of 15.
    planned = plan(capsys, tmp_path, "budget.trials=15").out
    assert "Budget: 15 trials leave each of 2 searches 2 of 3, finals and baselines" in planned
    record = json.loads(
        call(capsys, "plan", tmp_path / "tiny.yaml", "--json", "--set", "budget.trials=15").out
    )
    assert record["stages"]["search"]["trials"] == 4
    assert record["budget"]["trials_per_search"] == 2


def test_a_budget_that_leaves_a_search_no_trial_is_refused(capsys, tmp_path):
    printed = plan(capsys, tmp_path, "budget.trials=11").err
    assert "budget.trials must be at least 13: 11 of the final stage and its baselines" in printed
