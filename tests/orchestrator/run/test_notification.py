"""The command that a study file names under notify: when it runs, what it gets, what it may do."""

import sys
from dataclasses import replace

import pytest
import yaml

from orchestrator.executors.in_process import InProcessExecutor
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.run import notification
from orchestrator.run.notification import Notification
from orchestrator.study.resolved_study import resolved_dict, study_from_resolved
from orchestrator.study.study import BudgetSettings
from podium.errors import PodiumError, StudyError
from tests.orchestrator.clocked import Clock, ClockedExecutor
from tests.orchestrator.run.test_budgets import MANY, ONE_GPU
from tests.orchestrator.scripted import TINY, ScriptedExecutor
from tests.orchestrator.small_study import run_here
from tests.orchestrator.study_files import MINIMAL, load

_WRITES = """
import os, sys
names = ("EVENT", "STUDY", "FOLDER", "MESSAGE")
with open(sys.argv[1], "a") as file:
    print(*(os.environ["PODIUM_" + name] for name in names), sep="|", file=file)
"""


@pytest.fixture
def told(tmp_path):
    return tmp_path / "told"


def telling(told, study=TINY):
    return replace(study, notify=(sys.executable, "-c", _WRITES, str(told)))


def test_the_end_of_a_run_is_told(tmp_path, told):
    run_here(telling(told), tmp_path, ScriptedExecutor())
    assert told.read_text() == (
        f"finished|tiny|{tmp_path / 'tiny'}|8 of 8 trials are done, 0 failed.\n"
    )


def test_a_budget_that_is_used_up_is_told(tmp_path, told):
    clock = Clock()
    study = replace(telling(told, MANY), budget=BudgetSettings(wall_hours=0.01))
    executor = ClockedExecutor(clock, lambda settings: 100.0, ONE_GPU)
    end = run_here(study, tmp_path, executor, clock=clock)
    assert end.out_of_budget is not None
    assert told.read_text().startswith("budget|small|")
    assert end.out_of_budget in told.read_text()


def test_a_run_that_is_stopped_is_told(tmp_path, told):
    executor = ScriptedExecutor(at_step=lambda scheduler, jobs: scheduler.stop())
    run_here(telling(told), tmp_path, executor)
    assert told.read_text().startswith("interrupted|tiny|")


def test_what_every_trial_would_fail_for_is_told(tmp_path, told):
    def broken(settings, *, resume, save, keep=None):
        raise ValueError("no such thing")
        yield

    with pytest.raises(PodiumError, match="cannot be trained"):
        run_here(telling(told), tmp_path, InProcessExecutor(broken))
    assert told.read_text().startswith("error|tiny|")
    assert "no such thing" in told.read_text()


@pytest.mark.parametrize(
    ("command", "warning"),
    [
        ((sys.executable, "-c", "import sys; sys.exit('offline')"), "exit code 1: offline"),
        ((sys.executable, "-c", "import time; time.sleep(60)"), "took longer than 0.5 s"),
        (("/no/such/program",), "is not a program that can be run here"),
        (("/no/such/program",), "could not be started: No such file or directory"),
    ],
)
def test_a_command_that_fails_is_a_warning(tmp_path, monkeypatch, command, warning):
    monkeypatch.setattr(notification, "_TIMEOUT_SECONDS", 0.5)
    said = tell(tmp_path, *command)
    assert all(line.startswith(f"warning: notify: {command[0]} ") for line in said)
    assert any(warning in line for line in said)


def test_no_shell_reads_the_words(tmp_path):
    made = tmp_path / "made"
    assert tell(tmp_path, "echo", f"; touch {made}", f"$(touch {made})") == []
    assert not made.exists()


def tell(folder, *command):
    """What is said where a run ends that has this command."""
    said = []
    with Notification(replace(TINY, notify=command), StudyPaths(folder), said.append) as ending:
        ending.set("finished", "done")
    return said


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("echo done", 'at least one item, such as \\[echo done\\]; got "echo done"'),
        ("[]", "notify must be a list with at least one item; got \\[\\]"),
        ("[echo, 1]", "notify\\[1\\] must be text, in quotes; got 1"),
    ],
)
def test_a_command_is_a_list_of_words(tmp_path, given, message):
    with pytest.raises(StudyError, match=message):
        load(tmp_path, f"{MINIMAL}notify: {given}\n")


def test_a_program_beside_the_study_file_is_found_from_anywhere(tmp_path):
    assert load(tmp_path, f"{MINIMAL}notify: [./tell.sh, ./as-it-is]\n").notify == (
        str(tmp_path / "tell.sh"),
        "./as-it-is",
    )
    assert load(tmp_path, f"{MINIMAL}notify: [mail, ana, ana]\n").notify == ("mail", "ana", "ana")


def test_the_command_is_no_part_of_what_is_stored(tmp_path, told):
    run_here(telling(told), tmp_path, ScriptedExecutor())
    stored = (tmp_path / "tiny" / "study.yaml").read_text()
    assert "notify" not in stored
    assert study_from_resolved(yaml.safe_load(stored)).notify == ()
    end = run_here(TINY, tmp_path, ScriptedExecutor())
    assert not end.interrupted, "and without it, it is the same study"


def test_a_command_in_a_foreign_results_folder_is_refused():
    planted = {**resolved_dict(TINY), "notify": ["touch", "/tmp/planted"]}
    with pytest.raises(StudyError, match="notify"):
        study_from_resolved(planted)
