"""Losses that could be taken for each other each say how they differ."""

import itertools

import pytest

from podium.orchestrator.study.loss_facts import facts_of
from podium.search_spaces.families import FAMILIES
from podium.trainables.registry import names


@pytest.mark.parametrize("family", FAMILIES)
def test_each_member_of_a_family_says_in_a_line_of_its_own_how_it_differs(family):
    assert {facts_of(loss).family for loss in FAMILIES[family]} == {family}
    lines = [facts_of(loss).differs for loss in FAMILIES[family]]
    assert len(lines) > 1
    assert len(set(lines)) == len(lines)
    assert all(line == line.strip() != "" and "\n" not in line for line in lines)


def test_losses_of_which_one_has_the_name_of_the_other_in_its_own_are_of_one_family():
    for short, long in itertools.permutations(names("losses"), 2):
        if set(short.split("_")) < set(long.split("_")):
            assert facts_of(short).family, short
            assert facts_of(long).family, long
            assert facts_of(short).family == facts_of(long).family


def test_a_composed_loss_is_of_no_family():
    assert facts_of("contrastive+triplet").family is None
