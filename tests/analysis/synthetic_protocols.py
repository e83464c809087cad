"""The frames that a reader gives of a synthetic study that crosses protocols."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import timedelta

import numpy as np
import polars as pl

from podium.analysis.protocols.protocol_study import ProtocolStudy
from podium.analysis.scores.cached_reader import CachedReader
from podium.analysis.scores.protocol_runs import class_hits_of, complete_trials
from tests.analysis.protocol_truth import METRIC, POINT, QUERIES, STARTED_AT, K

# The columns of a reader's frames that protocol statistics read.
TRIAL_SCHEMA = {
    **dict.fromkeys(("block", "loss", "protocol"), pl.String),
    "repeat": pl.Int32,
    **dict.fromkeys(("trial_id", "search", "stage", "config_hash", "train_on"), pl.String),
    **dict.fromkeys(("split_protocol", "same_as", "split_hash", "state", "device"), pl.String),
    **dict.fromkeys(("is_default", "is_winner", "leaks"), pl.Boolean),
    **dict.fromkeys(("index", "fold", "num_folds", "seed_index", "test_readings"), pl.Int32),
    "seed": pl.Int64,
    **dict.fromkeys(("seconds", "test_seconds"), pl.Float64),
}
SCORE_SCHEMA = {
    **dict.fromkeys(("trial_id", "search", "role", "metric"), pl.String),
    **dict.fromkeys(("fold", "epoch", "k"), pl.Int32),
    "value": pl.Float64,
}
HIT_SCHEMA = {
    **dict.fromkeys(("trial_id", "search", "role"), pl.String),
    **dict.fromkeys(("fold", "epoch", "k", "class_id"), pl.Int32),
    **dict.fromkeys(("queries", "hits"), pl.Int64),
}
ATTEMPT_SCHEMA = {
    "trial_id": pl.String,
    "number": pl.Int32,
    **dict.fromkeys(("started_at", "ended_at"), pl.Datetime("us", "UTC")),
    "seconds": pl.Float64,
}


def study_frames(truth, seed):
    """The study's frames, with luck and noise drawn by ``seed``."""
    rows = _Rows(truth, np.random.default_rng(seed))
    for block in truth.blocks:
        for loss in truth.losses:
            for repeat in range(truth.repeats):
                rows.add_repeat(block, loss, repeat)
    trials = pl.DataFrame(rows.trials, schema=TRIAL_SCHEMA)
    return StudyFrames(
        study=truth.study,
        trials=trials,
        scores=pl.LazyFrame(rows.scores, schema=SCORE_SCHEMA),
        class_hits=HitRows(pl.LazyFrame(rows.class_hits, schema=HIT_SCHEMA)),
        test_scores=pl.LazyFrame(rows.test_scores, schema=SCORE_SCHEMA),
        attempts=pl.LazyFrame(rows.attempts, schema=ATTEMPT_SCHEMA),
    )


@dataclass(frozen=True)
class StudyFrames:
    """What a results folder would hold."""

    study: Mapping
    trials: pl.DataFrame
    scores: pl.LazyFrame
    class_hits: "HitRows"
    test_scores: pl.LazyFrame
    attempts: pl.LazyFrame


class FramesReader(CachedReader):
    """The reader of frames in memory."""

    objective, k = METRIC, K

    def __init__(self, frames):
        self.study, self.search_hits = (lambda: frames.study), frames.class_hits
        self.best_validation, self.test_scores = (
            (lambda: frames.scores),
            lambda: frames.test_scores,
        )
        self.attempts = lambda: frames.attempts


def study_of(frames):
    return ProtocolStudy(FramesReader(frames), frames.trials)


@dataclass(frozen=True)
class HitRows:
    """Hits of all trials; called, the table of those of searches, in one part."""

    rows: pl.LazyFrame

    def __call__(self, trials):
        complete = complete_trials(trials).with_row_index("number")
        numbers = complete.lazy().select("trial_id", "search", "number")
        hits = self.rows.filter(pl.col("role") == "val", pl.col("k") == K, pl.col("queries") > 0)
        columns = ("number", "fold", "epoch", "class_id", "queries", "hits")
        found = hits.join(numbers, on=["trial_id", "search"]).select(columns).collect()
        return [class_hits_of(complete, found)]


def statistics(truth, seed=0):
    return study_of(study_frames(truth, seed))


def shuffled(frames, seed):
    """The same frames with their rows in another order."""
    values = {part.name: getattr(frames, part.name) for part in fields(frames)}
    for name, value in values.items():
        if isinstance(value, pl.LazyFrame | pl.DataFrame):
            mixed = value.lazy().collect().sample(fraction=1, shuffle=True, seed=seed)
            values[name] = mixed if isinstance(value, pl.DataFrame) else mixed.lazy()
    hits = frames.class_hits.rows.collect().sample(fraction=1, shuffle=True, seed=seed)
    values["class_hits"] = HitRows(hits.lazy())
    return StudyFrames(**values)


class _Rows:
    """Writes the rows of one study, repeat by repeat."""

    def __init__(self, truth, generator):
        self.truth, self.generator = truth, generator
        self.trials, self.scores, self.class_hits = [], [], []
        self.test_scores, self.attempts = [], []
        self._refits = {}  # what is trained on all classes -> trial id and test score

    def add_repeat(self, block, loss, repeat):
        """One search of each protocol with its finals; all share their seeds."""
        luck = self._normal(self.truth.run_noise)
        final_luck_S = self._normal(self.truth.seed_noise, self.truth.seeds)
        for protocol in self.truth.judges:
            place = {"block": block, "loss": loss, "protocol": protocol, "repeat": repeat}
            winner = self._add_search(place, luck)
            for train_on in self.truth.train_on:
                for c in sorted({0, winner}):
                    for s, of_seed in enumerate(final_luck_S):
                        self._add_final(place, c, s, train_on, of_seed, is_winner=c == winner)

    def _add_search(self, place, luck):
        truth, judge = self.truth, self.truth.judges[place["protocol"]]
        true_C, shape = truth.true_C(**place), (truth.configs, judge.folds)
        run_CF = true_C[:, None] + luck + self._normal(truth.run_noise, shape)
        val_CF = run_CF + self._normal(judge.val_noise, shape)
        test_CF = run_CF + judge.level + self._normal(truth.test_noise, shape)
        for c in range(truth.configs):
            state = "PRUNED" if c in truth.pruned else "COMPLETE"
            state = "FAILED" if c in truth.failed else state
            folds = {"COMPLETE": judge.folds, "PRUNED": 1, "FAILED": 0}[state]
            trial_id = self._trial(
                place,
                stage="search",
                c=c,
                state=state,
                seconds=judge.seconds * max(1, folds),
                fold=0 if judge.folds == 1 else None,
                num_folds=judge.folds,
                split=[self._split(place, f) for f in range(judge.folds)],
                readings=folds * (truth.quarantine + 2 * judge.leaks),
            )
            for f in range(folds):
                self._add_validation(trial_id, f, val_CF[c, f])
                if state == "COMPLETE" and truth.quarantine:
                    self._score(self.test_scores, trial_id, f, 2, "test", test_CF[c, f])
        is_out = np.isin(np.arange(truth.configs), truth.pruned + truth.failed)
        return int(np.where(is_out, -np.inf, val_CF.mean(axis=1)).argmax())

    def _add_validation(self, trial_id, fold, points):
        """Two epochs, the second the better one."""
        for epoch, value in ((1, points - 5), (2, points)):
            self._score(self.scores, trial_id, fold, epoch, "val", value)
            for k in range(self.truth.classes):
                hits = self.generator.binomial(QUERIES, min(1, value * POINT))
                self.class_hits.append(
                    {
                        **self._named(trial_id),
                        "fold": fold,
                        "epoch": epoch,
                        "role": "val",
                        "k": K,
                        "class_id": 100 * fold + k,
                        "queries": QUERIES,
                        "hits": hits,
                    }
                )

    def _add_final(self, place, c, s, train_on, luck, *, is_winner):
        truth, judge = self.truth, self.truth.judges[place["protocol"]]
        score = truth.true_C(**place)[c] + luck
        folds = judge.folds if train_on == "part" else 1
        # Trained on all classes, a config is the same network whoever asks for it.
        key = place["block"], place["loss"], place["repeat"], c, s
        known = self._refits.get(key) if train_on == "all" else None
        original, same = known or (None, None)
        for fold in range(folds):
            level = judge.level if train_on == "part" else 0
            test = score + level + self._normal(truth.test_noise) if same is None else same
            trial_id = self._trial(
                place,
                stage="final",
                c=c,
                state="COMPLETE",
                seconds=judge.seconds,
                fold=fold,
                num_folds=folds,
                split=[self._split(place, fold) if train_on == "part" else "all"],
                readings=original is None,
                seed=s,
                train_on=train_on,
                is_winner=is_winner,
                same_as=original,
            )
            if train_on == "part":
                val = score + self._normal(truth.run_noise) + self._normal(judge.val_noise)
                self._score(self.scores, trial_id, fold, 2, "val", val)
            elif original is None:
                self._refits[key] = trial_id, test
            self._score(self.test_scores, trial_id, fold, 2, "test", test)

    def _trial(
        self, place, *, stage, c, state, seconds, fold, num_folds, split, readings, seed=0,
        train_on=None, is_winner=False, same_as=None,
    ):  # fmt: skip
        judge = self.truth.judges[place["protocol"]]
        search = ".".join(map(str, place.values())).replace("/", ".")
        trial_id = f"{search}.{stage}.{train_on}.{c}.{seed}.{fold}"
        self.trials.append(
            {
                **place,
                "trial_id": trial_id,
                "search": search,
                "stage": stage,
                "index": c,
                "config_hash": f"c{c}",
                "is_default": c == 0,
                "is_winner": is_winner,
                "split_protocol": "refit" if train_on == "all" else judge.kind,
                "train_on": train_on,
                "fold": fold,
                "num_folds": num_folds,
                "seed": 1000 * place["repeat"] + 10 * (stage == "final") + seed,
                "seed_index": seed,
                "leaks": judge.leaks,
                "same_as": same_as,
                "split_hash": "+".join(split),
                "state": state,
                "test_readings": int(readings),
                "seconds": seconds,
                "test_seconds": 0.1 * seconds,
                "device": "cpu",
            }
        )
        if same_as is None:
            self.attempts.append(
                {
                    "trial_id": trial_id,
                    "number": 1,
                    "started_at": STARTED_AT,
                    "ended_at": STARTED_AT + timedelta(seconds=seconds + 5),
                }
            )
        return trial_id

    def _split(self, place, fold):
        repeat = place["repeat"] if self.truth.splits == "fresh" else 0
        return f"split-{list(self.truth.judges).index(place['protocol'])}-{repeat}-{fold}"

    def _score(self, where, trial_id, fold, epoch, role, points):
        where.append(
            {
                **self._named(trial_id),
                "fold": fold,
                "epoch": epoch,
                "role": role,
                "metric": METRIC,
                "k": K,
                "value": float(points) * POINT,
            }
        )

    def _named(self, trial_id):
        return {"trial_id": trial_id, "search": self.trials[-1]["search"]}

    def _normal(self, spread, size=None):
        return self.generator.normal(0, spread, size)
