import json
from dataclasses import asdict

import pytest

from podium.errors import PodiumError
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import read_provenance
from podium.orchestrator.results.records.tournament_rules import rules_of
from podium.orchestrator.run.snapshot_study import check_startable, write_snapshot
from tests.orchestrator.study_files import assert_matches, cases, load, problems_of

REFUSED = """
{test: tukey} -> tournament.test must be one of .*; choices: friedman, nemenyi, .*
{against: margin} -> tournament.against must be a loss of the study; got "margin"; choices: .*
{score: recall@3} -> tournament.score must be a score of the study; got .*
{groups: {a: [contrastive]}} -> tournament.groups compares at least 2 groups of losses
{groups: {a: [contrastive], b: [margin]}} -> .*b[0] must be a loss of the study; got "margin"; .*
{groups: {a: [triplet], b: [triplet]}} -> triplet is in the group a already; got "triplet"
"""
THREE = "study: x\nlosses: [contrastive, triplet, proxy_anchor]\n"


def test_a_study_declares_what_it_ranks_by_and_which_groups_it_compares(tmp_path):
    groups = "{pairs: [contrastive, triplet], proxies: [proxy_anchor]}"
    rules = load(tmp_path, f"{THREE}tournament: {{score: nmi, groups: {groups}}}\n").tournament
    assert rules.score == "nmi"
    assert rules.groups == {"pairs": ("contrastive", "triplet"), "proxies": ("proxy_anchor",)}
    read_back = rules_of(json.loads(json.dumps({"tournament": asdict(rules)})))
    assert read_back == rules


@pytest.mark.parametrize(("given", "problem"), cases(REFUSED))
def test_what_cannot_be_declared_is_said_with_its_line(tmp_path, given, problem):
    assert_matches(
        problems_of(tmp_path, f"{THREE}tournament: {given}\n"), [f"s.yaml:3: {problem}"]
    )


def test_nemenyi_needs_three_losses(tmp_path):
    text = "study: x\nlosses: [contrastive, triplet]\ntournament: {test: nemenyi}\n"
    assert_matches(
        problems_of(tmp_path, text),
        ["s.yaml:3: nemenyi compares at least 3 losses; got 2"],
    )


def test_a_study_that_has_started_keeps_its_pairs_and_may_report_another_classic_test(tmp_path):
    study = load(tmp_path, THREE)
    paths = StudyPaths(tmp_path / "x")
    write_snapshot(study, paths, {})
    check_startable(study, paths)
    check_startable(load(tmp_path, f"{THREE}tournament: {{test: nemenyi}}\n"), paths)
    other = load(tmp_path, f"{THREE}tournament: {{against: triplet}}\n")
    with pytest.raises(PodiumError, match=r'tournament\.against: null -> "triplet"'):
        check_startable(other, paths)


GROUPED = f"{THREE}tournament: {{groups: {{a: [contrastive], b: [proxy_anchor]}}}}\n"


@pytest.mark.parametrize(
    ("groups", "problem"),
    [
        ("{a: [contrastive, margin], b: [proxy_anchor]}", None),
        ("{a: [contrastive, triplet], b: [proxy_anchor]}", "groups.a: .* -> .*triplet"),
        ("{a: [proxy_anchor], b: [contrastive]}", "groups.a"),
        ("{a: [contrastive], b: [proxy_anchor], c: [triplet]}", "groups.c: null"),
    ],
    ids=["a-new-loss", "an-old-loss", "exchanged", "another-group"],
)
def test_a_group_may_gain_losses_that_are_new_to_the_study_and_no_others(
    tmp_path, groups, problem
):
    paths = StudyPaths(tmp_path / "x")
    write_snapshot(load(tmp_path, GROUPED), paths, {})
    losses = "[contrastive, triplet, proxy_anchor, margin]"
    grown = f"study: x\nlosses: {losses}\ntournament: {{groups: {groups}}}\n"
    if problem is None:
        check_startable(load(tmp_path, grown), paths)
        return
    with pytest.raises(PodiumError, match=rf"tournament\.{problem}"):
        check_startable(load(tmp_path, grown), paths)


def test_the_snapshot_says_of_which_kind_each_loss_is(tmp_path):
    paths = StudyPaths(tmp_path / "x")
    write_snapshot(load(tmp_path, THREE), paths, {})
    assert read_provenance(paths)["loss_kinds"] == {
        "contrastive": "pair",
        "proxy_anchor": "proxy",
        "triplet": "triplet",
    }
