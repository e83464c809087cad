"""Merged studies of which some have trials that failed and were retried."""

from dataclasses import replace

import pytest

from orchestrator.results.records.attempts import read_attempts
from orchestrator.results.records.retried import read_retried
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results_tools.merge_studies import merge_studies
from orchestrator.study.study import StudyLoss
from orchestrator.verify.verify_store import verify_store
from podium.errors import PodiumError
from tests.orchestrator.broken_trials import FRAIL, run_broken, run_fixed
from tests.orchestrator.small_study import run_here

ONE, OTHER = (
    replace(FRAIL, name=name, losses=(StudyLoss(loss),))
    for name, loss in (("one", "contrastive"), ("other", "proxy_anchor"))
)


def test_failures_that_were_retried_are_merged_with_their_trials(tmp_path):
    for study in (ONE, OTHER):
        run_broken(tmp_path, study)
        run_fixed(tmp_path, study)
    merge_studies([tmp_path / "one", tmp_path / "other"], tmp_path / "both")
    parts = [read_retried(StudyPaths(tmp_path / name)) for name in ("one", "other")]
    assert all(parts)
    assert read_retried(StudyPaths(tmp_path / "both")) == {**parts[0], **parts[1]}
    assert verify_store(tmp_path / "both", replay=True).problems == []


def test_a_failure_and_the_same_trial_retried_are_not_merged(tmp_path):
    run_broken(tmp_path / "here", ONE)
    run_broken(tmp_path / "there", ONE)
    run_fixed(tmp_path / "there", ONE)
    with pytest.raises(PodiumError, match="cannot be merged"):
        merge_studies([tmp_path / "here" / "one", tmp_path / "there" / "one"], tmp_path / "both")


def test_a_trial_of_two_sources_has_the_failures_of_the_one_that_its_attempts_are_of(tmp_path):
    """Else attempts would be counted from a failure that they do not know."""
    run_here(ONE, tmp_path / "here")
    run_broken(tmp_path / "there", ONE, lambda settings: settings.evaluate_test)
    run_fixed(tmp_path / "there", ONE)
    merge_studies([tmp_path / "here" / "one", tmp_path / "there" / "one"], tmp_path / "both")
    both = StudyPaths(tmp_path / "both")
    assert verify_store(both.folder, replay=True).problems == []
    for trial_id, failures in read_retried(both).items():
        attempts = sum(attempt.trial_id == trial_id for attempt in read_attempts(both))
        assert attempts > failures[-1].attempts
