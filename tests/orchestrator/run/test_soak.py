"""The attack matrix at random, for as long as wanted. Left out unless asked for by its marker:

PODIUM_SOAK_SEEDS=0-14 .venv/bin/pytest -m soak -s tests/orchestrator/run/test_soak.py

Each seed is a study of its own under ten attacks or more; a seed that failed can be run again by
itself. Every attack is printed as it happens, and at the end how often what was struck when.
"""

import os
import time
from collections import Counter
from random import Random

import pytest

from tests.orchestrator.siege import Attack, Siege, Target
from tests.orchestrator.strike_points import PHASES, Phase
from tests.orchestrator.study_assertions import (
    assert_equal_to_undisturbed,
    assert_unchanged,
    attacked_study,
    problems_at_rest,
)

pytestmark = [pytest.mark.soak, pytest.mark.ray, pytest.mark.timeout(1200)]

FIRST, LAST = map(int, os.environ.get("PODIUM_SOAK_SEEDS", "0-14").split("-"))
TARGETS: tuple[Target, ...] = (*("driver", "worker", "raylet") * 2, "head")
NUM_EARLY, NUM_FINAL = 8, 2


def attacks(random: Random) -> list[Attack]:
    """Three of four are kills; gathering comes last, and once more if its driver was killed."""

    def attack(phase: Phase) -> Attack:
        target = random.choice(TARGETS)
        may_hang = target != "head" and random.random() < 0.25
        return Attack(target=target, means="hang" if may_hang else "kill", phase=phase)

    early = [attack(random.choice(PHASES[:4])) for _ in range(NUM_EARLY)]
    plan = [*early, *(attack("final") for _ in range(NUM_FINAL)), attack("gathering")]
    if plan[-1].target == "driver" and plan[-1].means == "kill":
        plan.append(attack("gathering"))
    return plan


@pytest.fixture(scope="module")
def struck():
    """(target, means, phase) -> how often; printed when all is over."""
    counts: Counter[tuple[str, str, str]] = Counter()
    yield counts
    print(f"\n{'':14}" + "".join(f"{phase:>12}" for phase in PHASES))
    for target, means in sorted({key[:2] for key in counts}):
        cells = "".join(f"{counts[target, means, phase]:>12}" for phase in PHASES)
        print(f"{means} {target:9}{cells}")
    print(f"{sum(n for key, n in counts.items() if key[1] == 'kill')} kills")


@pytest.mark.parametrize("seed", range(FIRST, LAST + 1))
def test_a_study_ends_as_it_must_whatever_is_done_to_it(seed, struck, tmp_path):
    random = Random(seed)
    order = random.choice(("deterministic", "asynchronous"))
    study, began = attacked_study(order), time.monotonic()
    with Siege(tmp_path, order, seed, cpus=2) as siege:
        for attack in attacks(random):
            hit = siege.attack(attack)
            print(f"seed {seed} {order}: {attack}: {hit.moment or 'missed'}", flush=True)
            if hit.moment is not None:
                struck[attack.target, attack.means, attack.phase] += 1
        siege.finish()

    assert problems_at_rest(tmp_path, study) == []
    assert_unchanged(tmp_path, study, siege.committed)
    if order == "deterministic":
        assert_equal_to_undisturbed(tmp_path, study, tmp_path / "undisturbed")
    print(f"seed {seed} {order}: held, {time.monotonic() - began:.0f} s", flush=True)
