"""Whoever is killed or stopped, and whenever: the same command ends the study as if undisturbed.

Studies, each on a Ray cluster of its own, are attacked at the same time, inside an operation of
the phase (`strike_points`), at seeded moments. In the short matrix every target is struck by each
means and in every phase somebody is; in the whole one (`soak`) every target by each means in every
phase. Training is simulated, but for the study of populations, which leave no checkpoints; the
processes, the cluster and the store are real.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

import polars as pl
import pytest

from podium.orchestrator.results.records.journal import read_attempts
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.study.study import Study
from tests.orchestrator.siege import MEANS, Attack, Hit, Siege
from tests.orchestrator.strike_points import PHASES, Phase
from tests.orchestrator.study_assertions import (
    POPULATIONS,
    assert_equal_to_undisturbed,
    assert_optuna_is_a_replay,
    assert_unchanged,
    is_of_populations,
    problems_at_rest,
)

pytestmark = [pytest.mark.ray, pytest.mark.timeout(600)]

SEED = 7
STRIKES = [f"{means} {target}" for target in ("driver", "worker", "raylet") for means in MEANS]
STRIKES.append("kill head")
# Once the search is over it has no phases any more; these two come at the end too.
LATE = ("final", "gathering")

# Of one study: its kind, and what is struck, in one moment each.
Attacks = Sequence[tuple[Attack, ...]]
Sieges = Mapping[str, tuple[str, Attacks]]


def strike(name: str, phase: str) -> Attack:
    means, target = name.split()
    return Attack(target=target, means=means, phase=phase)


def of(*names: str, phases: Sequence[Phase] = PHASES) -> list[tuple[Attack, ...]]:
    """Each of them in each phase but gathering, in which there may be no worker."""
    early = [(strike(name, phase),) for phase in phases if phase not in LATE for name in names]
    Random(SEED).shuffle(early)
    return [*early, *((strike(name, "final"),) for name in names)]


def gathering(*names: str) -> tuple[Attack, ...]:
    """All in one moment: they do not need each other, since no trial runs any more."""
    return tuple(strike(name, "gathering") for name in names)


SHORT: Sieges = {
    "processes": (
        "deterministic",
        [
            (strike("kill worker", "commit"),),
            (strike("hang raylet", "training"),),
            (strike("hang worker", "checkpoint"),),
            (strike("kill raylet", "checkpoint"),),
            (strike("hang driver", "commit"),),
            (strike("kill driver", "final"),),
            gathering("kill driver"),
        ],
    ),
    "head": ("asynchronous", [(strike("kill head", "commit"),)]),
    "populations": (
        POPULATIONS,
        [
            (strike("kill driver", "suggest"),),
            (strike("hang worker", "training"),),
            (strike("kill raylet", "commit"),),
            (strike("kill worker", "final"),),
        ],
    ),
}
WHOLE: Sieges = {
    "driver": (
        "deterministic",
        [
            gathering("kill driver"),
            *of("kill driver", "hang driver"),
            gathering("kill driver", "hang worker"),
            gathering("hang driver", "kill raylet"),
        ],
    ),
    "nodes": (
        "deterministic",
        [
            *of("kill worker", "hang worker", "kill raylet", "hang raylet"),
            gathering("kill worker", "hang raylet"),
        ],
    ),
    "head": ("asynchronous", [*of("kill head"), gathering("kill head")]),
    "populations": (
        POPULATIONS,
        of(
            *("kill driver", "hang driver", "kill worker", "hang worker", "kill raylet"),
            phases=("suggest", "training", "commit"),
        ),
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Aftermath:
    storage: Path
    study: Study
    hits: list[Hit]
    committed: list[pl.DataFrame]
    optuna: dict[str, str]


def besiege(kind: str, attacks: Attacks, storage: Path) -> Aftermath:
    # One worker a node: that several are lost with one is seen by tests of the executor.
    with Siege(storage, kind, SEED, cpus=1) as siege:
        for together in attacks:
            siege.attack(*together)
        return Aftermath(
            storage=storage,
            study=siege.study,
            optuna=siege.finish(),
            hits=siege.hits,
            committed=siege.committed,
        )


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(SHORT, id="short"),
        pytest.param(WHOLE, id="whole", marks=pytest.mark.soak),
    ],
)
def sieges(request) -> Sieges:
    return request.param


@pytest.fixture(scope="module")
def aftermaths(sieges: Sieges, tmp_path_factory) -> Iterator[list[Aftermath]]:
    with pytest.MonkeyPatch.context() as patched, ThreadPoolExecutor() as pool:
        patched.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        futures = [
            pool.submit(besiege, kind, attacks, tmp_path_factory.mktemp(name))
            for name, (kind, attacks) in sieges.items()
        ]
        yield [future.result() for future in futures]


def attacks_in(sieges: Sieges) -> set[Attack]:
    return {
        attack for _, attacks in sieges.values() for together in attacks for attack in together
    }


def test_the_short_matrix_strikes_every_target_by_each_means_and_in_every_phase_somebody():
    attacks = attacks_in(SHORT)
    assert {f"{attack.means} {attack.target}" for attack in attacks} == set(STRIKES)
    assert {attack.phase for attack in attacks} == set(PHASES)


def test_the_whole_matrix_strikes_every_target_by_each_means_in_every_phase():
    assert attacks_in(WHOLE) == {strike(name, phase) for name in STRIKES for phase in PHASES}


def test_every_attack_found_its_phase(sieges, aftermaths):
    hits = [hit for aftermath in aftermaths for hit in aftermath.hits]
    struck = {attack for hit in hits if hit.moment is not None for attack in hit.attacks}
    assert struck == attacks_in(sieges)


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


def test_optuna_stands_where_a_replay_of_the_store_stands(aftermaths):
    for aftermath in aftermaths:
        assert_optuna_is_a_replay(aftermath.storage, aftermath.study, aftermath.optuna)


def test_in_deterministic_order_the_tables_equal_those_of_an_undisturbed_run(aftermaths, tmp_path):
    orders = [aftermath.study.search.order for aftermath in aftermaths]
    assert set(orders) == {"deterministic", "asynchronous"}
    for number, aftermath in enumerate(aftermaths):
        if aftermath.study.search.order == "deterministic":
            undisturbed = tmp_path / str(number)
            assert_equal_to_undisturbed(aftermath.storage, aftermath.study, undisturbed)
