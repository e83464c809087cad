"""A results folder of a synthetic study that crosses protocols, through the store's own writer."""

from datetime import timedelta

from podium.orchestrator.results.records.journal_records import Ask, Attempt
from podium.orchestrator.results.records.metric_columns import RECALL
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import Store, write_snapshot_files
from podium.orchestrator.results.records.trial_schema import IDENTITY_COLUMNS
from podium.orchestrator.study.resolved_study import resolved_dict
from podium.orchestrator.study.study import (
    FinalSettings,
    ResourceSettings,
    SearchSettings,
    Study,
    StudyLoss,
    StudyTraining,
)
from podium.trainables.settings.trial_settings import (
    BackboneSettings,
    DatasetSettings,
    ProtocolSettings,
)
from tests.analysis.protocol_truth import STARTED_AT, K, ProtocolTruth
from tests.analysis.synthetic_protocols import study_frames
from tests.orchestrator.journals import write_records
from tests.orchestrator.results.store_rows import PROVENANCE, commit_flat

EPOCHS = 2
CROSSED = ProtocolTruth(
    losses=("contrastive", "triplet"), repeats=3, configs=4, seeds=1, classes=6
)
SEED = 4


def study_file(truth):
    return Study(
        name="synthetic",
        datasets=(DatasetSettings(name="glyphs", options={"script": "latin"}),),
        backbones=(BackboneSettings(name="conv_small"),),
        embedding_dims=tuple(int(block.split("/")[2]) for block in truth.blocks),
        losses=tuple(map(StudyLoss, truth.losses)),
        protocols=tuple(
            ProtocolSettings(
                kind=judge.kind, name=label, folds=judge.folds if judge.folds > 1 else None
            )
            for label, judge in truth.judges.items()
        ),
        search=SearchSettings(
            sampler=truth.sampler,
            trials=truth.configs,
            repeats=truth.repeats,
            shared_configs=truth.shared_configs,
            splits=truth.splits,
        ),
        final=FinalSettings(seeds=truth.seeds, train_on=truth.train_on),
        training=StudyTraining(overrides={"epochs": EPOCHS}),
        resources=ResourceSettings(),
        quarantine="record" if truth.quarantine else "none",
        ks=(K,),
    )


def write_protocol_store(folder, truth, seed=0):
    """Writes the folder and returns it."""
    store = Store(study="synthetic", ks=(K,), metrics=(RECALL,), hyperparameters={})
    paths, schema = StudyPaths(folder), store.schema
    provenance = {**PROVENANCE, "git_dirty": False}
    write_snapshot_files(
        paths, store, study=resolved_dict(study_file(truth)), provenance=provenance
    )
    frames = study_frames(truth, seed)
    nested = {
        "scores": _by_trial(frames.scores, _score),
        "class_hits": _by_trial(frames.class_hits.rows, _hit),
        "test_scores": _by_trial(frames.test_scores, _score),
    }
    records = []
    for trial in frames.trials.to_dicts():
        parts = {name: found.get(trial["trial_id"], []) for name, found in nested.items()}
        assert commit_flat(paths, schema, _row(schema, trial, parts))
        if trial["stage"] == "search":
            source = "default" if trial["is_default"] else "sampler"
            ask = {name: trial[name] for name in ("search", "index", "trial_id", "config_hash")}
            records.append(Ask(**ask, hyperparameters={}, source=source))
    records.sort(key=lambda ask: ask.index)
    search_of = dict(frames.trials.select("trial_id", "search").iter_rows())
    for row in frames.attempts.collect().to_dicts():
        known = {"search": search_of[row["trial_id"]], "node": "node-a", "pid": 1}
        records.append(Attempt(**row, **known, device="cpu", cause=None))
    write_records(paths, records)
    return folder


def _by_trial(frame, nested):
    found = {}
    for row in frame.collect().to_dicts():
        found.setdefault(row["trial_id"], []).append(nested(row))
    return found


def _score(row):
    named = {name: row[name] for name in ("fold", "epoch", "role", "metric", "k", "value")}
    return {**named, "hits": None, "queries": None, "gallery": None}


def _hit(row):
    return {
        name: row[name] for name in ("fold", "epoch", "role", "k", "class_id", "queries", "hits")
    }


def _row(schema, trial, parts):
    dataset, backbone, dim = trial["block"].split("/")
    is_scored = trial["state"] != "FAILED"
    identity = {name for name, _ in IDENTITY_COLUMNS}
    best = {}
    for score in parts["scores"]:
        best[score["fold"]] = max(best.get(score["fold"], 0), score["value"])
    val = sum(best.values()) / len(best) if best else None
    values = {
        "study": "synthetic",
        "selected_from": 8 if trial["stage"] == "final" else None,
        "dataset": dataset,
        "backbone": backbone,
        "weights": "random",
        "embedding_dim": int(dim),
        "protocol_hash": f"{len(trial['protocol'])}{trial['train_on']}",
        "test_hash": "test",
        "data_hash": "data",
        "settings": "{}",
        "cause": None if is_scored else "diverged",
        "epochs_planned": EPOCHS,
        "epochs_run": EPOCHS,
        "epoch_selected": EPOCHS if len(best) == 1 else None,
        "selection_rule": "best_val_epoch",
        "objective": val,
        f"val_recall_at_{K}": val,
        "attempts": 0 if trial["same_as"] else 1,
        "node": "node-a",
        "started_at": STARTED_AT,
        "ended_at": STARTED_AT + timedelta(seconds=trial["seconds"]),
        "podium_version": "0.1.0",
        "test_retrievals": [],
        "test_class_hits": [],
        **parts,
    }
    known = {name: value for name, value in trial.items() if name in schema.names}
    assert identity <= {*known, *values, "image_size"}
    return {**dict.fromkeys(schema.names), **known, **values}
