"""Whoever is killed or stopped, and whenever: the same command ends the study as if undisturbed.

Studies, each on a Ray cluster of its own, are attacked at the same time, inside an operation of
the phase (`strike_points`), at seeded moments. Every target is struck by each means, and in every
phase somebody is; `test_soak` strikes at random. Training is simulated, but for the study of
populations, which leave no checkpoints; the processes, the cluster and the store are real.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from podium.orchestrator.results.records.journal import read_attempts
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.study.study import Study
from tests.orchestrator.siege import MEANS, Attack, Hit, Siege
from tests.orchestrator.strike_points import PHASES
from tests.orchestrator.study_assertions import (
    POPULATIONS,
    assert_equal_to_undisturbed,
    assert_unchanged,
    is_of_populations,
    problems_at_rest,
)

pytestmark = [pytest.mark.ray, pytest.mark.timeout(600)]

SEED = 7
STRIKES = [f"{means} {target}" for target in ("driver", "worker", "raylet") for means in MEANS]
STRIKES.append("kill head")


def strike(name: str, phase: str) -> Attack:
    means, target = name.split()
    return Attack(target=target, means=means, phase=phase)


# The kind of study -> what is struck.
SIEGES = {
    "deterministic": [
        strike("kill worker", "commit"),
        strike("hang raylet", "training"),
        strike("hang worker", "checkpoint"),
        strike("kill raylet", "checkpoint"),
        strike("hang driver", "suggest"),
        strike("kill driver", "final"),
        strike("kill driver", "gathering"),
    ],
    "asynchronous": [strike("kill head", "commit")],
    POPULATIONS: [strike("kill worker", "training"), strike("kill raylet", "commit")],
}
ATTACKS = {attack for attacks in SIEGES.values() for attack in attacks}


@dataclass(frozen=True, slots=True, kw_only=True)
class Aftermath:
    storage: Path
    study: Study
    hits: list[Hit]
    committed: list[pl.DataFrame]


def besiege(kind: str, attacks: Sequence[Attack], storage: Path) -> Aftermath:
    # One worker a node: that several are lost with one is seen by tests of the executor.
    with Siege(storage, kind, SEED, cpus=1) as siege:
        for attack in attacks:
            siege.attack(attack)
        siege.finish()
        return Aftermath(
            storage=storage, study=siege.study, hits=siege.hits, committed=siege.committed
        )


@pytest.fixture(scope="module")
def aftermaths(tmp_path_factory) -> list[Aftermath]:
    with pytest.MonkeyPatch.context() as patched, ThreadPoolExecutor() as pool:
        patched.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        futures = [
            pool.submit(besiege, kind, attacks, tmp_path_factory.mktemp(kind))
            for kind, attacks in SIEGES.items()
        ]
        return [future.result() for future in futures]


def test_the_matrix_strikes_every_target_by_each_means_and_in_every_phase_somebody():
    assert {f"{attack.means} {attack.target}" for attack in ATTACKS} == set(STRIKES)
    assert {attack.phase for attack in ATTACKS} == set(PHASES)


def test_every_attack_found_its_phase(aftermaths):
    hits = [hit for aftermath in aftermaths for hit in aftermath.hits]
    assert {hit.attack for hit in hits if hit.moment is not None} == ATTACKS


def test_nothing_is_lost_repeated_or_left_behind(aftermaths):
    for aftermath in aftermaths:
        assert problems_at_rest(aftermath.storage, aftermath.study) == []


def test_what_was_committed_before_an_attack_never_changes(aftermaths):
    for aftermath in aftermaths:
        assert aftermath.committed
        assert_unchanged(aftermath.storage, aftermath.study, aftermath.committed)


def test_attempts_in_a_study_of_populations_say_what_ended_them(aftermaths):
    (struck,) = (aftermath for aftermath in aftermaths if is_of_populations(aftermath.study))
    attempts = read_attempts(StudyPaths(struck.storage / struck.study.name))
    causes = {attempt.cause for attempt in attempts}
    assert causes & {"lost_worker", "lost_node"}
    assert causes <= {None, "stopped", "complete", "lost_worker", "lost_node", "stuck"}


def test_in_deterministic_order_the_tables_equal_those_of_an_undisturbed_run(aftermaths, tmp_path):
    orders = [aftermath.study.search.order for aftermath in aftermaths]
    assert set(orders) == {"deterministic", "asynchronous"}
    for number, aftermath in enumerate(aftermaths):
        if aftermath.study.search.order == "deterministic":
            undisturbed = tmp_path / str(number)
            assert_equal_to_undisturbed(aftermath.storage, aftermath.study, undisturbed)
