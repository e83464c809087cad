"""Whoever is killed or stopped, and whenever: the same command ends the study as if undisturbed.

Three studies, each on a Ray cluster of its own, are attacked at the same time. Every target is
struck in every phase, inside an operation of that phase (`strike_points`), at seeded moments.
Training is simulated; the processes, the cluster and the store are real.
"""

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

import polars as pl
import pytest

from orchestrator.study.study import Study
from tests.orchestrator.ray_cluster import RayCluster
from tests.orchestrator.siege import MEANS, NUM_NODES, Attack, Hit, Siege
from tests.orchestrator.strike_points import PHASES
from tests.orchestrator.study_assertions import (
    assert_equal_to_undisturbed,
    assert_optuna_is_a_replay,
    assert_unchanged,
    problems_at_rest,
)

pytestmark = [pytest.mark.ray, pytest.mark.timeout(600)]

SEED = 7
TARGETS = [(target, means) for target in ("driver", "worker", "raylet") for means in MEANS]
MATRIX = {
    Attack(target=target, means=means, phase=phase)
    for target, means in [*TARGETS, ("head", "kill")]
    for phase in PHASES
}
# Once the search is over it has no phases any more; these two come at the end.
LATE = ("final", "compaction")


def strike(name: str, phase: str) -> Attack:
    means, target = name.split()
    return Attack(target=target, means=means, phase=phase)


def of(*names: str) -> list[tuple[Attack, ...]]:
    """Each of them in each phase but compaction, which there is once in a run."""
    early = [(strike(name, phase),) for phase in PHASES if phase not in LATE for name in names]
    Random(SEED).shuffle(early)
    return [*early, *((strike(name, "final"),) for name in names)]


def compacting(*names: str) -> tuple[Attack, ...]:
    """All in one moment: they do not need each other, since no trial runs any more."""
    return tuple(strike(name, "compaction") for name in names)


SIEGES: Mapping[str, tuple[str, list[tuple[Attack, ...]]]] = {
    "driver": (
        "deterministic",
        [
            *of("kill driver", "hang driver"),
            compacting("kill driver", "hang worker"),
            compacting("hang driver", "kill raylet"),
        ],
    ),
    "nodes": (
        "deterministic",
        [
            *of("kill worker", "hang worker", "kill raylet", "hang raylet"),
            compacting("kill worker", "hang raylet"),
        ],
    ),
    "head": ("asynchronous", [*of("kill head"), compacting("kill head")]),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Aftermath:
    storage: Path
    study: Study
    hits: list[Hit]
    committed: list[pl.DataFrame]
    optuna: dict[str, str]


def besiege(name: str, storage: Path) -> Aftermath:
    order, attacks = SIEGES[name]
    with RayCluster(nodes=NUM_NODES) as cluster, Siege(cluster, storage, order, SEED) as siege:
        for together in attacks:
            siege.attack(*together)
        return Aftermath(
            storage=storage,
            study=siege.study,
            optuna=siege.finish(),
            hits=siege.hits,
            committed=siege.committed,
        )


@pytest.fixture(scope="module")
def sieges(tmp_path_factory):
    with ThreadPoolExecutor() as pool:
        return {name: pool.submit(besiege, name, tmp_path_factory.mktemp(name)) for name in SIEGES}


@pytest.fixture(params=SIEGES)
def aftermath(request, sieges: dict[str, Future[Aftermath]]) -> Aftermath:
    return sieges[request.param].result()


def test_every_attack_found_its_phase(sieges):
    hits = [hit for siege in sieges.values() for hit in siege.result().hits]
    struck = {attack for hit in hits if hit.moment is not None for attack in hit.attacks}
    assert struck == MATRIX


def test_nothing_is_lost_repeated_or_left_behind(aftermath):
    assert problems_at_rest(aftermath.storage, aftermath.study) == []


def test_what_was_committed_before_an_attack_never_changes(aftermath):
    assert aftermath.committed
    assert_unchanged(aftermath.storage, aftermath.study, aftermath.committed)


def test_optuna_stands_where_a_replay_of_the_store_stands(aftermath):
    assert_optuna_is_a_replay(aftermath.storage, aftermath.study, aftermath.optuna)


@pytest.mark.parametrize("name", ["driver", "nodes"])
def test_in_deterministic_order_the_tables_equal_those_of_an_undisturbed_run(
    name, sieges, tmp_path
):
    aftermath = sieges[name].result()
    assert aftermath.study.search.order == "deterministic"
    assert_equal_to_undisturbed(aftermath.storage, aftermath.study, tmp_path)
