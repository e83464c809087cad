"""What a search for score and time leaves to read."""

import json
import re
from dataclasses import replace

import pytest

from podium.analysis.report.report import study_page
from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.study.study import EarlyStopping, FinalSettings, StudyLoss
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.small_study import STUDY, run_here
from tests.podium.calling import call

TWO = replace(
    STUDY,
    embedding_dims=(8,),
    losses=(StudyLoss("contrastive"),),
    final=FinalSettings(seeds=1),
    search=replace(
        STUDY.search,
        sampler="nsga-ii",
        objectives=("recall", "seconds"),
        order="asynchronous",
        early_stopping=EarlyStopping(kind="none"),
    ),
)


def slower_with_margin(settings, **how):
    seconds = 1 + settings.hyperparameters.get("margin", 0.0)
    for report in simulated_trial(settings, **how):
        yield replace(report, seconds=seconds)


@pytest.fixture(scope="module")
def two_objective_folder(tmp_path_factory):
    storage = tmp_path_factory.mktemp("two")
    run_here(TWO, storage, InProcessExecutor(slower_with_margin))
    return storage / TWO.name


def front_of(trials):
    """Trial by trial, from the definition; no trial here has another's score and time."""
    searched = [trial for trial in trials if trial["stage"] == "search"]
    return {
        one["trial_id"]
        for one in searched
        if not any(
            other["objective"] >= one["objective"] and other["seconds"] < one["seconds"]
            for other in searched
        )
    }


def test_the_front_is_marked_among_the_trials(capsys, two_objective_folder):
    trials = json.loads(call(capsys, "trials", two_objective_folder, "--json").out)
    marked = {trial["trial_id"] for trial in trials if trial["on_front"]}
    assert marked == front_of(trials)
    assert 0 < len(marked) < STUDY.search.trials
    assert {trial["on_front"] for trial in trials if trial["stage"] != "search"} == {None}


def test_the_report_has_a_row_for_each_trial_on_the_front(capsys, two_objective_folder):
    trials = json.loads(call(capsys, "trials", two_objective_folder, "--json").out)
    page = study_page(two_objective_folder)
    (table,) = re.findall(r"<table[^>]*search-fronts.*?</table>", page, flags=re.DOTALL)
    assert table.count("<tr") - 1 == len(front_of(trials))
    assert "margin" in table


def test_other_studies_have_no_front(capsys, tmp_path):
    one = replace(TWO, search=replace(STUDY.search, trials=2))
    run_here(one, tmp_path)
    trials = json.loads(call(capsys, "trials", tmp_path / one.name, "--json").out)
    assert not any("on_front" in trial for trial in trials)
    assert "Score against training time" not in study_page(tmp_path / one.name)
