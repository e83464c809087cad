"""Study files with several protocols: how they may grow, and what may not change."""

from dataclasses import replace

import pytest

from podium.orchestrator.study.blocks import protocol_of, searches
from podium.orchestrator.study.resolved_study import resolved_dict
from podium.orchestrator.study.study_changes import forbidden_changes
from tests.orchestrator.study_files import FOUR_PROTOCOLS, MINIMAL, load

BASE = FOUR_PROTOCOLS + "search: {repeats: 2, sampler: random}\n"


@pytest.mark.parametrize(
    "change",
    [
        ("{kind: test_tuned}", "{kind: test_tuned}\n  - {kind: random_splits}"),
        ("repeats: 2", "repeats: 3"),
        ("search:", "final: {train_on: [part, all]}\nsearch:"),
        ("search:", "final: {seeds: 5}\nsearch:"),
    ],
)
def test_a_crossed_study_may_grow(tmp_path, change):
    old, new = (resolved_dict(load(tmp_path, text)) for text in (BASE, BASE.replace(*change)))
    assert old != new
    assert not forbidden_changes(old, new)


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (("name: 80-20", "name: eighty"), "protocol 80-20"),
        (("folds: 3", "folds: 4"), "protocol kfold"),
        (("  - {kind: test_tuned}\n", ""), "protocol test_tuned"),
        (("split_seed: 3", "split_seed: 4"), "protocol 60-40"),
        # The untrained network is tested under the first.
        (("  - {name: 80-20", "  - {kind: random_splits}\n  - {name: 80-20"), "first protocol"),
        (("search:", "quarantine: record\nsearch:"), "quarantine"),
        (("repeats: 2", "repeats: 2, shared_configs: true"), "search.shared_configs"),
        (("repeats: 2", "repeats: 2, splits: fresh"), "search.splits"),
        (("repeats: 2", "repeats: 1"), "search.repeats"),
        (("search:", "final: {train_on: [all]}\nsearch:"), "final.train_on"),
    ],
)
def test_what_its_numbers_mean_may_not_change(tmp_path, change, key):
    old, new = (resolved_dict(load(tmp_path, text)) for text in (BASE, BASE.replace(*change)))
    assert [change.split(":")[0] for change in forbidden_changes(old, new)] == [key]


def test_a_single_protocol_may_get_others_behind_it_and_may_not_change(tmp_path):
    one = load(tmp_path, MINIMAL)
    grown = load(tmp_path, MINIMAL + "protocol: [{kind: fixed}, {kind: kfold, folds: 3}]")
    assert not forbidden_changes(resolved_dict(one), resolved_dict(grown))
    assert forbidden_changes(resolved_dict(grown), resolved_dict(one))
    named = load(tmp_path, MINIMAL + "protocol: {name: ours}")
    (change,) = forbidden_changes(resolved_dict(one), resolved_dict(named))
    assert change.startswith("protocol fixed: {")
    assert change.endswith("} -> null")


def test_the_first_repeat_has_the_splits_of_the_file_so_that_others_may_get_fresh_ones(tmp_path):
    one = load(tmp_path, MINIMAL)
    more = load(tmp_path, MINIMAL + "search: {repeats: 3, splits: fresh}")
    assert not forbidden_changes(resolved_dict(one), resolved_dict(more))
    assert protocol_of(more, searches(more)[0]) == protocol_of(one, searches(one)[0])
    same = replace(more, search=replace(more.search, splits="same"))
    assert forbidden_changes(resolved_dict(same), resolved_dict(more))
