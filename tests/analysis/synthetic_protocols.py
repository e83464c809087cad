"""A study that crosses protocols, with planted truth: the frames that a reader of its store gives.

Every config of a block and loss has a true score. A trial's validation score is that, less what
its protocol's smaller training part costs, plus luck of the run, of the split and of validation;
its test score shares the luck of the run only. Scores are shares of 1; noise is in points.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl

from analysis.protocol_runs import Protocol

STARTED_AT = datetime(2026, 1, 5, 8, tzinfo=UTC)
K = 1
METRIC = "recall"
POINT = 0.01


@dataclass(frozen=True, kw_only=True)
class Judge:
    """A protocol: how well it sees a config, and what its trials cost."""

    kind: str = "fixed"
    folds: int = 1
    val_noise: float = 1.0  # of one fold
    level: float = 0.0  # of test scores, for fewer training classes
    seconds: float = 100.0  # of a fold


@dataclass(frozen=True, kw_only=True)
class ProtocolTruth:
    """What the study is made of; spreads and noise in points."""

    judges: Mapping[str, Judge] = field(
        default_factory=lambda: {
            "fixed": Judge(val_noise=1.5, level=-2),
            "kfold": Judge(kind="kfold", folds=3, val_noise=1.5, level=-1),
            "test_tuned": Judge(kind="test_tuned", val_noise=0.3),
        }
    )
    blocks: tuple[str, ...] = ("glyphs-latin/conv_small/32",)
    losses: tuple[str, ...] = ("contrastive",)
    repeats: int = 6
    configs: int = 8
    seeds: int = 3
    spread: float = 1.0
    run_noise: float = 0.5
    test_noise: float = 0.3
    final_noise: float = 0.6
    refit_gain: float = 2.0
    pruned: tuple[int, ...] = ()  # indices
    failed: tuple[int, ...] = ()
    quarantine: bool = True
    shared_configs: bool = True
    train_on: tuple[str, ...] = ("part", "all")
    config_seed: int = 0

    @property
    def protocols(self) -> tuple[Protocol, ...]:
        return tuple(
            Protocol(label=label, kind=judge.kind, leaks=judge.kind == "test_tuned")
            for label, judge in self.judges.items()
        )

    def true_C(self, block: str, loss: str, protocol: str = "", repeat: int = 0) -> np.ndarray:
        """True test score of each config trained on all classes, in points; 0 is the default."""
        own = () if self.shared_configs else (*protocol.encode(), 1 + repeat)
        seed = [self.config_seed, *block.encode(), *loss.encode(), *own]
        return 60 + np.random.default_rng(seed).normal(0, self.spread, self.configs)


@dataclass(frozen=True, kw_only=True)
class Frames:
    """What a reader gives, collected."""

    trials: pl.DataFrame
    scores: pl.DataFrame
    test_scores: pl.DataFrame
    attempts: pl.DataFrame

    def shuffled(self, seed: int) -> "Frames":
        frames = {
            name: frame.sample(fraction=1, shuffle=True, seed=seed)
            for name, frame in vars_of(self)
        }
        return Frames(**frames)


def vars_of(frames):
    return [
        (name, getattr(frames, name)) for name in ("trials", "scores", "test_scores", "attempts")
    ]


@dataclass
class _Rows:
    trials: list[dict] = field(default_factory=list)
    scores: list[dict] = field(default_factory=list)
    test_scores: list[dict] = field(default_factory=list)
    attempts: list[dict] = field(default_factory=list)


def study_frames(truth: ProtocolTruth, seed: int) -> Frames:
    """The study, with noise drawn by ``seed``."""
    generator, rows = np.random.default_rng(seed), _Rows()
    for block in truth.blocks:
        for loss in truth.losses:
            for repeat in range(truth.repeats):
                _repeat_rows(truth, generator, rows, block, loss, repeat)
    return Frames(
        trials=pl.DataFrame(rows.trials, schema=TRIAL_SCHEMA),
        scores=pl.DataFrame(rows.scores, schema=SCORE_SCHEMA),
        test_scores=pl.DataFrame(rows.test_scores, schema=SCORE_SCHEMA),
        attempts=pl.DataFrame(rows.attempts, schema=ATTEMPT_SCHEMA),
    )


def _repeat_rows(truth, generator, rows, block, loss, repeat):
    """One search of each protocol with its finals. All share seeds, and so the luck of seeds."""
    seed_luck = generator.normal(0, truth.run_noise)
    final_luck_S = generator.normal(0, truth.final_noise, truth.seeds)
    trained = {}  # final trainings that were done: key -> trial id
    for protocol, judge in truth.judges.items():
        true_C = truth.true_C(block, loss, protocol, repeat)
        run_CF = seed_luck + generator.normal(0, truth.run_noise, (truth.configs, judge.folds))
        val_CF = true_C[:, None] + run_CF + generator.normal(0, judge.val_noise, run_CF.shape)
        test_CF = (
            true_C[:, None]
            + judge.level
            + run_CF
            + generator.normal(0, truth.test_noise, run_CF.shape)
        )
        place = (block, loss, protocol, repeat)
        for c in range(truth.configs):
            state = (
                "FAILED" if c in truth.failed else "PRUNED" if c in truth.pruned else "COMPLETE"
            )
            _search_row(truth, rows, place, judge, c, state, val_CF[c], test_CF[c])
        is_whole = [c not in (*truth.failed, *truth.pruned) for c in range(truth.configs)]
        winner = int(np.where(is_whole, val_CF.mean(axis=1), -np.inf).argmax())
        _final_rows(truth, rows, place, judge, winner, true_C, final_luck_S, generator, trained)


def _search_row(truth, rows, place, judge, c, state, val_F, test_F):
    block, loss, protocol, repeat = place
    trial_id = f"{block}.{loss}.{protocol}.{repeat}.search.{c}"
    folds = 1 if state == "PRUNED" else judge.folds
    _trial(
        rows,
        place,
        judge,
        trial_id,
        stage="search",
        c=c,
        state=state,
        seconds=judge.seconds * folds,
        test_readings=folds * (1 if judge.kind != "test_tuned" else 3) * truth.quarantine,
        leaks=judge.kind == "test_tuned",
        fold=0 if judge.folds == 1 else None,
    )
    if state == "FAILED":
        return
    for f in range(folds):
        for epoch, part in ((1, -5.0), (2, 0.0)):
            _score(rows.scores, place, trial_id, f, epoch, "val", val_F[f] + part)
        if state == "COMPLETE" and truth.quarantine:
            _score(rows.test_scores, place, trial_id, f, 2, "test", test_F[f])


def _final_rows(truth, rows, place, judge, winner, true_C, luck_S, generator, trained):
    for train_on in truth.train_on:
        folds = judge.folds if train_on == "part" else 1
        level = judge.level if train_on == "part" else judge.level + truth.refit_gain
        for c in sorted({0, winner}):
            for s in range(truth.seeds):
                for f in range(folds):
                    _final_row(
                        truth,
                        rows,
                        place,
                        judge,
                        winner,
                        c,
                        s,
                        f,
                        folds,
                        train_on,
                        true_C[c] + level + luck_S[s] + generator.normal(0, truth.test_noise),
                        trained,
                    )


def _final_row(truth, rows, place, judge, winner, c, s, f, folds, train_on, test, trained):
    block, loss, protocol, repeat = place
    trial_id = f"{block}.{loss}.{protocol}.{repeat}.final.{c}.{s}.{f}.{train_on}"
    _trial(
        rows,
        place,
        judge,
        trial_id,
        stage="final",
        c=c,
        state="COMPLETE",
        seconds=judge.seconds,
        test_readings=1,
        leaks=judge.kind == "test_tuned",
        fold=f,
        seed_index=s,
        is_winner=c == winner,
        train_on=train_on,
        num_folds=folds,
    )
    if train_on == "part":
        _score(rows.scores, place, trial_id, f, 2, "val", test + 5)
    _score(rows.test_scores, place, trial_id, f, 2, "test", test)


def _trial(
    rows,
    place,
    judge,
    trial_id,
    *,
    stage,
    c,
    state,
    seconds,
    test_readings,
    leaks,
    fold,
    seed_index=0,
    is_winner=False,
    train_on=None,
    num_folds=None,
):
    block, loss, protocol, repeat = place
    rows.trials.append(
        {
            "trial_id": trial_id,
            "search": f"{block}.{loss}.{protocol}.{repeat}",
            "stage": stage,
            "index": c,
            "config_hash": f"c{c}",
            "is_default": c == 0,
            "is_winner": is_winner,
            "block": block,
            "loss": loss,
            "protocol": protocol,
            "split_protocol": "refit" if train_on == "all" else judge.kind,
            "train_on": train_on,
            "repeat": repeat,
            "fold": fold,
            "num_folds": num_folds or judge.folds,
            "seed": 1000 * repeat + seed_index + 500 * (stage == "final"),
            "seed_index": seed_index,
            "leaks": leaks,
            "same_as": None,
            "split_hash": "+".join(f"{protocol}{f}" for f in range(judge.folds))
            if fold is None
            else f"{protocol}{fold}",
            "state": state,
            "seconds": seconds,
            "test_readings": test_readings,
            "device": "cpu",
        }
    )
    rows.attempts.append(
        {
            "trial_id": trial_id,
            "number": 1,
            "node": "a",
            "pid": 1,
            "device": "cpu",
            "started_at": STARTED_AT,
            "ended_at": STARTED_AT + timedelta(seconds=seconds + 1),
            "cause": None,
        }
    )


def _score(where, place, trial_id, fold, epoch, role, points):
    block, loss, protocol, repeat = place
    where.append(
        {
            "trial_id": trial_id,
            "search": f"{block}.{loss}.{protocol}.{repeat}",
            "fold": fold,
            "epoch": epoch,
            "role": role,
            "metric": METRIC,
            "k": K,
            "value": float(points) * POINT,
        }
    )


TRIAL_SCHEMA = {
    **dict.fromkeys(
        ("trial_id", "search", "stage", "config_hash", "block", "loss", "protocol"), pl.String
    ),
    **dict.fromkeys(("split_protocol", "train_on", "same_as", "split_hash"), pl.String),
    **dict.fromkeys(("state", "device"), pl.String),
    **dict.fromkeys(("is_default", "is_winner", "leaks"), pl.Boolean),
    **dict.fromkeys(("index", "repeat", "fold", "num_folds", "seed_index"), pl.Int32),
    "test_readings": pl.Int32,
    "seed": pl.Int64,
    "seconds": pl.Float64,
}
SCORE_SCHEMA = {
    **dict.fromkeys(("trial_id", "search", "role", "metric"), pl.String),
    **dict.fromkeys(("fold", "epoch", "k"), pl.Int32),
    "value": pl.Float64,
}
ATTEMPT_SCHEMA = {
    **dict.fromkeys(("trial_id", "node", "device", "cause"), pl.String),
    "number": pl.Int32,
    "pid": pl.Int64,
    **dict.fromkeys(("started_at", "ended_at"), pl.Datetime("us", "UTC")),
}
