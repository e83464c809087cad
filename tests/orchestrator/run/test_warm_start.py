"""Configs of earlier results, which are tried before the sampler draws any."""

import shutil
from dataclasses import replace

import pytest
from polars.testing import assert_frame_equal

from podium.errors import PodiumError
from podium.orchestrator.results.records.journal import read_asks
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import read_study
from podium.orchestrator.run.warm_start import find_warm_starts, recall_warm_starts
from podium.orchestrator.study.study import (
    EarlyStopping,
    FinalSettings,
    StudyLoss,
    StudyTraining,
    WarmStart,
)
from podium.search_spaces.parameters import Real, Space
from podium.trainables.settings.frozen_feature_rules import FROZEN_FEATURES
from podium.trainables.settings.trial_settings import ProtocolSettings
from tests.orchestrator.small_study import STUDY, InterruptedAfter, rows, run_here, tables

QUICK = replace(STUDY, final=FinalSettings(seeds=1), losses=(StudyLoss("contrastive"),))
EARLIER = replace(
    QUICK,
    name="earlier",
    search=replace(
        STUDY.search, sampler="random", trials=7, early_stopping=EarlyStopping(kind="none")
    ),
)
EIGHT, SIXTEEN = "glyphs-greek/conv_small/8", "glyphs-greek/conv_small/16"


@pytest.fixture(scope="module")
def earlier(tmp_path_factory):
    storage = tmp_path_factory.mktemp("earlier")
    run_here(EARLIER, storage)
    return storage / "earlier"


def warm(folder, top=2, search=None, **changes):
    settings = WarmStart(folder=str(folder), top=top)
    later = replace(
        QUICK,
        name="later",
        embedding_dims=(8,),
        search=replace(STUDY.search, warm_start=settings, **(search or {})),
        declared_differences={"warm_start": "to see what it does"},
    )
    return replace(later, **changes)


def looked_up(study):
    """Configs that are found for each block and loss, and what is said."""
    said = []
    return find_warm_starts(study, said.append).warm_starts, " ".join(said)


def best_of(folder, *, study=STUDY, names=("margin", "learning_rate"), **filters):
    """Configs of an earlier study's search trials but its default, the best first."""
    trials = rows(folder.parent, replace(study, name=folder.name)).filter(
        stage="search", state="COMPLETE", is_default=False, **filters
    )
    ordered = trials.sort("objective", "index", descending=[True, False])
    return tuple(
        {name: row[f"hp.{name}"] for name in names if row[f"hp.{name}"] is not None}
        for row in ordered.iter_rows(named=True)
    )


def test_a_block_takes_its_own_best_configs_by_validation(earlier):
    found, said = looked_up(warm(earlier, embedding_dims=(8, 16)))
    assert found == {
        f"{EIGHT} contrastive": best_of(earlier, embedding_dim=8)[:2],
        f"{SIXTEEN} contrastive": best_of(earlier, embedding_dim=16)[:2],
    }
    assert f"Warm start of contrastive in {EIGHT}: tries 2 configs of earlier results." in said


def test_a_new_block_takes_the_best_of_every_search_before_the_second_best_of_any(earlier):
    found, _ = looked_up(warm(earlier, top=4, embedding_dims=(4,)))
    (configs,) = found.values()
    for place in (0, 1):
        best = [best_of(earlier, embedding_dim=dim)[place] for dim in (8, 16)]
        assert sorted(map(str, configs[2 * place : 2 * place + 2])) == sorted(map(str, best))


def test_the_best_heads_of_a_loss_are_what_its_fine_tuning_tries_first(tmp_path):
    heads = replace(
        EARLIER,
        name="heads",
        embedding_dims=(8,),
        losses=(StudyLoss("contrastive"), StudyLoss("proxy_anchor")),
        training=StudyTraining(overrides={"epochs": 4, "mode": FROZEN_FEATURES}),
    )
    run_here(heads, tmp_path)
    fine_tuning = warm(tmp_path / "heads", top=3, losses=heads.losses)
    assert fine_tuning.training.overrides.get("mode") is None
    found, said = looked_up(fine_tuning)
    assert "dropped" not in said
    for loss, names in (
        ("contrastive", ("margin", "learning_rate")),
        ("proxy_anchor", ("alpha", "margin", "learning_rate")),
    ):
        best = best_of(tmp_path / "heads", names=names, study=heads, loss=loss)[:3]
        assert found[f"{EIGHT} {loss}"] == best


def test_configs_outside_the_present_space_are_dropped_and_said(earlier):
    best = best_of(earlier, embedding_dim=8)
    middle = sorted(config["margin"] for config in best)[len(best) // 2]
    narrow = StudyLoss("contrastive", space=Space({"margin": Real(0.0, middle)}))
    found, said = looked_up(warm(earlier, top=9, losses=(narrow,)))
    inside = tuple(config for config in best if config["margin"] <= middle)
    assert found == {f"{EIGHT} contrastive": inside}
    assert f"in {EIGHT}: {len(best) - len(inside)} configs dropped: margin" in said
    assert "is outside the search space here" in said


def test_configs_of_a_wider_space_are_dropped_and_said(earlier):
    found, said = looked_up(warm(earlier, search={"tune": ()}))
    assert found == {f"{EIGHT} contrastive": ()}
    assert said.count("learning_rate is not searched here, and had other values there") == 1
    assert "the earlier results contain nothing for this study" in said


def test_a_search_that_saw_test_classes_warms_no_other(tmp_path):
    leaking = replace(
        EARLIER,
        embedding_dims=(8,),
        protocols=(
            ProtocolSettings(kind="test_tuned", val_fraction=None),
            ProtocolSettings(kind="fixed", val_fraction=0.25),
        ),
    )
    run_here(leaking, tmp_path)
    folder = tmp_path / "earlier"
    found, said = looked_up(warm(folder, top=9))
    assert "searches under test_tuned saw test classes and are left out." in said
    assert found == {f"{EIGHT} contrastive": best_of(folder, protocol="fixed")}


def test_pruned_and_failed_trials_are_no_results(tmp_path):
    pruning = replace(EARLIER, search=replace(STUDY.search, sampler="random"), embedding_dims=(8,))
    run_here(pruning, tmp_path)
    folder = tmp_path / "earlier"
    trials = rows(tmp_path, pruning).filter(stage="search")
    assert "PRUNED" in trials["state"].to_list()
    found, _ = looked_up(warm(folder, top=9))
    assert found == {f"{EIGHT} contrastive": best_of(folder)}


def test_results_that_are_not_there_are_refused(tmp_path):
    with pytest.raises(PodiumError, match="nowhere is not a results folder"):
        looked_up(warm(tmp_path / "nowhere"))


def asks_of(storage):
    (asks,) = read_asks(StudyPaths(storage / "later")).values()
    return asks


def test_given_configs_come_after_the_default_and_count_as_trials(earlier, tmp_path):
    best = best_of(earlier, embedding_dim=8)
    study = warm(earlier)
    run_here(study, tmp_path)
    asks = asks_of(tmp_path)
    assert [ask.source for ask in asks] == ["default", *["given"] * 2, *["sampler"] * 3]
    given = [dict(ask.hyperparameters) for ask in asks if ask.source == "given"]
    assert given == list(best[:2])
    assert len(rows(tmp_path, study).filter(stage="search")) == STUDY.search.trials


def test_nothing_depends_on_the_earlier_results_once_the_study_has_started(earlier, tmp_path):
    run_here(warm(earlier), tmp_path / "undisturbed")
    copy, disturbed = tmp_path / "copy", tmp_path / "disturbed"
    shutil.copytree(earlier, copy)
    run_here(warm(copy), disturbed, InterruptedAfter(9))
    shutil.rmtree(copy)
    run_here(warm(tmp_path / "moved"), disturbed)
    assert asks_of(disturbed) == asks_of(tmp_path / "undisturbed")
    assert_frame_equal(tables(disturbed, warm(copy)), tables(tmp_path / "undisturbed", warm(copy)))


def test_a_loss_that_joins_later_is_looked_up_when_it_does(earlier, tmp_path):
    run_here(warm(earlier), tmp_path, InterruptedAfter(1))
    paths = StudyPaths(tmp_path / "later")
    frozen = read_study(paths)["warm_starts"]
    joined = recall_warm_starts(
        warm(earlier, losses=(StudyLoss("contrastive"), StudyLoss("triplet"))), paths
    )
    found, said = looked_up(joined)
    assert list(frozen) == [f"{EIGHT} contrastive"]
    assert list(found) == [f"{EIGHT} contrastive", f"{EIGHT} triplet"]
    assert "contrastive in" not in said
    assert "nothing was found for triplet; the other losses have an advantage" in said
