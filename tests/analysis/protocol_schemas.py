"""The columns of a reader's frames that protocol statistics read."""

import polars as pl

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
