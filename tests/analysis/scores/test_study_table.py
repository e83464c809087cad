import pytest

from podium.analysis.scores.protocol_runs import Protocol
from podium.analysis.scores.study_table import study_table
from podium.errors import PodiumError
from podium.orchestrator.results.records.metric_columns import RankedScore
from tests.analysis.store_frames import QUERIES, Store

RECALL_1 = RankedScore("recall", 1)


@pytest.fixture
def two_loss_store():
    store = Store()
    for loss, base in [("a", 100), ("b", 120)]:
        for seed in range(2):
            store.final(16, loss, "published", base, default=True, seed=seed)
            store.final(16, loss, "tuned", base + 10 * (1 + seed), winner=True, seed=seed)
    store.baseline(16, 50)
    return store


def study_table_of(store, *where):
    return study_table(store.trials, store.test_scores, RECALL_1, where=where)


def test_winners_are_ranked_by_their_primary_score(two_loss_store):
    found = study_table_of(two_loss_store)
    assert found.cells.rows() == [
        ("glyphs", "net", 16, "a", 115 / QUERIES),
        ("glyphs", "net", 16, "b", 135 / QUERIES),
    ]
    assert found.warnings == ()


def test_seeds_are_runs_and_no_blocks(two_loss_store):
    found = study_table_of(two_loss_store)
    assert found.run_columns == ("repeat", "seed_index")
    assert found.runs["recall"].to_list() == [0.55, 0.6, 0.65, 0.7]


def test_the_published_defaults_can_be_ranked_instead(two_loss_store):
    assert study_table_of(two_loss_store, "finalist=default").cells["recall"].to_list() == [
        0.5,
        0.6,
    ]


@pytest.mark.parametrize(
    ("where", "hits"), [((), (115, 135)), (("finalist=default",), (100, 120))]
)
def test_baselines_compete_where_they_are_asked_for(two_loss_store, where, hits):
    two_loss_store.features(140)
    found = study_table(
        *(two_loss_store.trials, two_loss_store.test_scores, RECALL_1),
        where=where,
        protocols=CROSSED,
        with_baselines=True,
    )
    expected = {"a": hits[0], "b": hits[1], "features": 140, "untrained": 50}
    assert found.cells.select("loss", "recall").rows() == [
        (loss, of_loss / QUERIES) for loss, of_loss in expected.items()
    ]


def test_another_k_can_be_ranked_instead(two_loss_store):
    assert study_table_of(two_loss_store, "k=2").cells["recall"].to_list() == [
        125 / QUERIES,
        145 / QUERIES,
    ]


def test_failed_runs_and_unequal_numbers_are_warned_of(two_loss_store):
    two_loss_store.final(16, "a", "tuned", None, winner=True, seed=2)
    assert study_table_of(two_loss_store).warnings == (
        "final trials failed, the others are averaged: glyphs/net/16/a (1 of 3)",
        "means are over unequal numbers of final trials, as in an unfinished study: b has 2, a 3",
    )


def test_an_unknown_condition_is_refused(two_loss_store):
    with pytest.raises(PodiumError, match=r"no row of the study has finalist = loser"):
        study_table_of(two_loss_store, "finalist=loser")


def test_two_protocols_of_one_loss_are_not_mixed(two_loss_store):
    other = Store(protocol="kfold")
    other.final(16, "a", "tuned", 90, winner=True)
    two_loss_store.rows += other.rows
    two_loss_store.scores += other.scores
    with pytest.raises(PodiumError, match=r"They differ in .*protocol \(fixed, kfold\)"):
        study_table_of(two_loss_store)
    assert len(study_table_of(two_loss_store, "protocol=fixed").cells) == 2


CROSSED = (
    Protocol(label="test_tuned", kind="test_tuned", leaks=True),
    Protocol(label="fixed", kind="fixed", leaks=False),
    Protocol(label="kfold", kind="kfold", leaks=False),
)


def crossed(store, *where):
    """The store with winners under two more protocols."""
    for protocol, hits in (("kfold", 90), ("test_tuned", 190)):
        other = Store(protocol=protocol)
        for loss in ("a", "b"):
            other.final(16, loss, "tuned", hits, winner=True)
        store.rows += other.rows
        store.scores += other.scores
    return study_table(store.trials, store.test_scores, RECALL_1, where=where, protocols=CROSSED)


def test_losses_are_compared_under_the_first_protocol_that_does_not_leak(two_loss_store):
    found = crossed(two_loss_store)
    assert found.cells["recall"].to_list() == [115 / QUERIES, 135 / QUERIES]
    assert found.warnings == (
        "losses are compared under the protocol fixed only; with --where protocol=LABEL, under "
        "test_tuned (leaks) or kfold",
    )


def test_another_protocol_can_be_chosen(two_loss_store):
    assert (
        crossed(two_loss_store, "protocol=kfold").cells["recall"].to_list() == [90 / QUERIES] * 2
    )


def test_a_protocol_that_leaks_is_warned_of(two_loss_store):
    found = crossed(two_loss_store, "protocol=test_tuned")
    assert found.cells["recall"].to_list() == [190 / QUERIES] * 2
    assert found.warnings[0].startswith("test_tuned (leaks): epochs and configs were chosen by")


def test_an_unknown_protocol_is_refused_with_those_there_are(two_loss_store):
    with pytest.raises(PodiumError, match="one of test_tuned, fixed, kfold; got 'x'"):
        crossed(two_loss_store, "protocol=x")


def test_what_was_trained_on_all_classes_is_ranked_on_request_only(two_loss_store):
    for loss, hits in (("a", 180), ("b", 170)):
        two_loss_store.final(16, loss, "refit", hits, winner=True)
        two_loss_store.change(-1, train_on="all", trial_id=f"{loss}.all")
        for score in two_loss_store.scores[-2:]:
            score["trial_id"] = f"{loss}.all"
    assert study_table_of(two_loss_store).cells["recall"].to_list() == [
        115 / QUERIES,
        135 / QUERIES,
    ]
    assert study_table_of(two_loss_store, "train_on=all").cells["recall"].to_list() == [
        180 / QUERIES,
        170 / QUERIES,
    ]


def test_a_training_that_the_study_does_not_have_is_refused(two_loss_store):
    with pytest.raises(PodiumError, match="no tested final trial yet with train_on = all"):
        study_table_of(two_loss_store, "train_on=all")


def test_a_study_without_final_trials_is_refused():
    store = Store()
    store.search(16, "a", "published", 0.5, default=True)
    with pytest.raises(PodiumError, match="no tested final trial yet"):
        study_table_of(store)


def test_image_sizes_are_part_of_the_block_where_there_are_some():
    store = Store(image_size=224)
    store.final(16, "a", "tuned", 110, winner=True)
    store.final(16, "b", "tuned", 120, winner=True)
    larger = Store(image_size=256)
    larger.final(16, "a", "tuned", 150, winner=True)
    larger.final(16, "b", "tuned", 140, winner=True)
    store.rows += larger.rows
    store.scores += larger.scores
    found = study_table_of(store)
    assert found.by == ("dataset", "backbone", "embedding_dim", "image_size")
    assert found.cells.select("image_size", "loss", "recall").rows() == [
        (224, "a", 110 / QUERIES),
        (224, "b", 120 / QUERIES),
        (256, "a", 150 / QUERIES),
        (256, "b", 140 / QUERIES),
    ]
    assert study_table_of(store, "image_size=256").cells["loss"].to_list() == ["a", "b"]


def folded(seeds):
    store = Store(num_folds=2)
    for loss, hits in (("a", 100), ("b", 120)):
        for seed in range(seeds):
            for fold in range(2):
                found = hits + 10 * fold + seed
                store.final(16, loss, "x", found, winner=True, seed=seed, fold=fold)
    return study_table_of(store)


def test_folds_are_runs_where_one_seed_leaves_no_others():
    runs = folded(seeds=1)
    assert runs.run_columns == ("repeat", "seed_index", "fold")
    assert runs.runs.sort("loss", "fold")["hits"].to_list() == [100, 110, 120, 130]


def test_folds_are_summed_within_seeds_where_there_are_several():
    runs = folded(seeds=2)
    assert runs.run_columns == ("repeat", "seed_index")
    assert runs.runs.sort("loss", "seed_index")["hits"].to_list() == [210, 212, 250, 252]
    assert set(runs.runs["queries"]) == {2 * QUERIES}
