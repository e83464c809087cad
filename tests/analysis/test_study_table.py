import pytest

from analysis.study_table import study_table
from orchestrator.results.errors import PodiumError
from tests.analysis.store_frames import QUERIES, Store


@pytest.fixture
def store():
    store = Store()
    for loss, base in [("a", 100), ("b", 120)]:
        for seed in range(2):
            store.final(16, loss, "published", base, default=True, seed=seed)
            store.final(16, loss, "tuned", base + 10 * (1 + seed), winner=True, seed=seed)
    store.baseline(16, 50)
    return store


def table(store, *where):
    return study_table(store.trials, store.test_scores, primary_k=1, where=where)


def test_winners_are_ranked_by_their_primary_recall(store):
    found = table(store)
    assert found.cells.rows() == [
        ("glyphs", "net", 16, "a", 115 / QUERIES),
        ("glyphs", "net", 16, "b", 135 / QUERIES),
    ]
    assert found.warnings == ()


def test_seeds_are_runs_and_no_blocks(store):
    found = table(store)
    assert found.run_columns == ("repeat", "seed_index")
    assert found.runs["recall"].to_list() == [0.55, 0.6, 0.65, 0.7]


def test_the_published_defaults_can_be_ranked_instead(store):
    assert table(store, "finalist=default").cells["recall"].to_list() == [0.5, 0.6]


def test_another_k_can_be_ranked_instead(store):
    assert table(store, "k=2").cells["recall"].to_list() == [125 / QUERIES, 145 / QUERIES]


def test_failed_runs_are_warned_of(store):
    store.final(16, "a", "tuned", None, winner=True, seed=2)
    assert table(store).warnings == (
        "final runs failed, the others are averaged: glyphs/net/16/a (1 of 3)",
    )


def test_an_unknown_condition_is_told(store):
    with pytest.raises(PodiumError, match=r"no row of the study has finalist = loser"):
        table(store, "finalist=loser")


def test_two_protocols_of_one_loss_are_not_mixed(store):
    other = Store(protocol="kfold")
    other.final(16, "a", "tuned", 90, winner=True)
    store.rows += other.rows
    store.scores += other.scores
    with pytest.raises(PodiumError, match=r"They differ in .*protocol \(fixed, kfold\)"):
        table(store)
    assert len(table(store, "protocol=fixed").cells) == 2


def test_a_study_without_final_trials_is_told():
    store = Store()
    store.search(16, "a", "published", 0.5, default=True)
    with pytest.raises(PodiumError, match="no tested final trial yet"):
        table(store)


def test_image_sizes_are_told_apart_where_there_are_some():
    store = Store(image_size=224)
    store.final(16, "a", "tuned", 110, winner=True)
    store.final(16, "b", "tuned", 120, winner=True)
    larger = Store(image_size=256)
    larger.final(16, "a", "tuned", 150, winner=True)
    larger.final(16, "b", "tuned", 140, winner=True)
    store.rows += larger.rows
    store.scores += larger.scores
    found = table(store)
    assert found.by == ("dataset", "backbone", "embedding_dim", "image_size")
    assert found.cells.select("image_size", "loss", "recall").rows() == [
        (224, "a", 110 / QUERIES),
        (224, "b", 120 / QUERIES),
        (256, "a", 150 / QUERIES),
        (256, "b", 140 / QUERIES),
    ]
    assert table(store, "image_size=256").cells["loss"].to_list() == ["a", "b"]
