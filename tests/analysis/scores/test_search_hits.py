"""Statistics of class hits are the same in parts as in one table of all of them."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from podium.analysis.estimates.class_variance import class_variance
from podium.analysis.protocols.optimism import class_optimism, of_several_classes
from podium.analysis.scores.protocol_run_checks import checked
from podium.analysis.scores.search_hits import SearchHits
from podium.orchestrator.results.trial_files.reader import Reader
from tests.analysis.protocol_store import write_protocol_store
from tests.analysis.protocol_truth import Judge, K, ProtocolTruth
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth

CLASSES = Truth(scripts=("greek", "latin"), embedding_dims=(8, 16), search_trials=5, seeds=2)
FOLDS = ProtocolTruth(
    judges={"kfold": Judge(kind="kfold", folds=3)},
    losses=("triplet", "contrastive"),
    repeats=2,
    configs=4,
    classes=4,
    pruned=(2,),
    failed=(3,),
)


@pytest.fixture(
    scope="module",
    params=[(write_store, CLASSES, 1), (write_protocol_store, FOLDS, K)],
    ids=["one split", "folds and repeats"],
)
def study(request, tmp_path_factory):
    """Its reader, its trials and its K."""
    write, truth, k = request.param
    reader = Reader(write(tmp_path_factory.mktemp("store") / "synthetic", truth))
    return reader, reader.trials().collect(), k


def hits_of(study):
    reader, trials, k = study
    return SearchHits(trials, reader, k=k)


def whole_table(study):
    """Row by row from every hit that the store has."""
    reader, trials, k = study
    by_trial = {row["trial_id"]: row for row in trials.to_dicts()}
    rows = []
    for hit in reader.class_hits().collect().to_dicts():
        trial = by_trial[hit["trial_id"]]
        is_complete = trial["stage"] == "search" and trial["state"] == "COMPLETE"
        if is_complete and hit["role"] == "val" and hit["k"] == k and hit["queries"]:
            named = {name: trial[name] for name in ("block", "loss", "protocol", "repeat")}
            named |= {"config": trial["config_hash"], "seed": trial["seed_index"]}
            own = {name: hit[name] for name in ("epoch", "class_id", "queries", "hits")}
            rows.append(named | own | {"fold": hit["fold"] if trial["num_folds"] > 1 else None})
    return checked(pl.DataFrame(rows), "class hits")


def texts(frame):
    return frame.with_columns(pl.selectors.enum().cast(pl.String))


def in_parts(monkeypatch, study, epochs=1):
    monkeypatch.setattr("podium.analysis.scores.search_hits.EPOCHS_OF_PART", epochs)
    return hits_of(study)


def test_parts_hold_all_hits_of_complete_trials_and_whole_searches(study, monkeypatch):
    (whole,) = hits_of(study)
    parts = list(in_parts(monkeypatch, study))
    searches = [set(part.select("block", "loss", "repeat").iter_rows()) for part in parts]

    assert len(parts) == whole.select("block", "loss", "repeat").n_unique() > 2
    assert all(len(names) == 1 for names in searches)
    assert_frame_equal(texts(whole), texts(whole_table(study)))
    assert_frame_equal(pl.concat(map(texts, parts)), texts(whole))


def test_parts_are_gone_through_again_without_reading_the_store(study, monkeypatch):
    hits = in_parts(monkeypatch, study)
    first = list(hits)
    monkeypatch.delattr(Reader, "summarise")
    for one, other in zip(first, hits, strict=True):
        assert_frame_equal(one, other)


@pytest.mark.parametrize("epochs", [1, 25])
def test_statistics_in_parts_are_those_of_one_table(study, epochs, monkeypatch):
    parts, whole = in_parts(monkeypatch, study, epochs), [whole_table(study)]
    grouping = {"group": ["block", "loss", "repeat", "fold"], "member": ["config", "seed"]}

    assert class_variance(parts, **grouping) == class_variance(whole, **grouping)
    optimism = [class_optimism(map(of_several_classes, hits)) for hits in (parts, whole)]
    assert_frame_equal(*optimism)


def test_a_study_without_complete_searches_has_an_empty_part(tmp_path):
    reader = Reader(write_store(tmp_path / "s", CLASSES, stages=("baseline",)))
    (none,) = SearchHits(reader.trials().collect(), reader, k=1)

    assert none.is_empty()
    assert class_optimism([none]).is_empty()
