"""Makes docs/reference/results-schema.md: every column of the results store, and what it means."""

from collections.abc import Mapping

import polars as pl
import pyarrow as pa

from docs.make.markdown import TOLD, table
from podium.orchestrator.results.records.metric_columns import (
    METRICS_WITHOUT_K,
    flat_test_column,
    known_test_columns,
    metric_word,
)
from podium.orchestrator.results.records.trial_schema import (
    IDENTITY_COLUMNS,
    TEST_COLUMNS,
    trial_schema,
)
from podium.orchestrator.results.trial_files.reader import ATTEMPT_COLUMNS

# What every column means. A column without a meaning, or a meaning without a column, is an error.
_MEANINGS = {
    "study": "Name of the study.",
    "trial_id": "Hash of all that changes the trial's numbers.",
    "search": "Block, loss, protocol and repeat, joined by dots; also the folder's name.",
    "stage": "`search`, `final` or `baseline` (what no loss trained).",
    "index": "Number of the suggestion within its search, or of the trial within its stage.",
    "config_hash": "Hash of the hyperparameters.",
    "is_default": "Whether this is the published default.",
    "is_winner": "Final stage: the config its search selected. An extended or retried search may have"
    " selected another since; `Reader` corrects for that, this column does not.",
    "selected_from": "Out of how many search trials the winner was selected; null elsewhere.",
    "block": "Data set, backbone, embedding dimension and, of image files, image size, joined by"
    " slashes: `glyphs-latin/conv_small/32`, `cub200/resnet50/512/224px`; of `features` without the"
    " dimension.",
    "dataset": "Label of the data set, such as `glyphs-latin`.",
    "backbone": "Name of the network.",
    "weights": "What the network started from: `random`, published weights such as"
    " `resnet50/IMAGENET1K_V1`, or the hash of a file.",
    "embedding_dim": "Length of an embedding; null for `features`, as long as its backbone makes them.",
    "image_size": "Height and width of the network's input; null where images have a size of their"
    " own.",
    "loss": "Name of the loss; `untrained` or `features` for a [baseline](../explanation/statistics/tuning.md#baselines).",
    "protocol": "Name or kind of the [protocol](../explanation/protocols.md) of its search; of a baseline the"
    " first of the study.",
    "split_protocol": "Kind of the protocol that splits the classes of this trial: `fixed`,"
    " `kfold`, `random_splits`, `repeated_kfold`, `published`, `test_tuned`, `refit`.",
    "train_on": "Final stage: `part` of the training classes, with the others for validation, or"
    " `all` of them; null elsewhere.",
    "repeat": "Which of the search's independent repeats.",
    "fold": "Which fold; null if one trial holds several.",
    "num_folds": "How many splits a config is evaluated on: of repeated k-fold, folds x repeats.",
    "seed": "Seed of everything random in the trial.",
    "seed_index": "Number of the seed of its config; equal numbers share a seed across losses.",
    "leaks": "Whether test classes chose its epoch, or the search that chose its config or number"
    " of epochs was validated on them. Such scores are optimistic.",
    "same_as": "The trial whose results these are, if another search had asked for the same"
    " training. Sum costs over rows where this is null.",
    "split_hash": "Hash of this trial's own split.",
    "protocol_hash": "Hash of protocol and classes; competitors must share it.",
    "test_hash": "Hash of test classes and images; equal within a block, or analysis refuses.",
    "data_hash": "Hash of all classes, labels and images; of changed data no run is continued.",
    "settings": "JSON with everything that defines the trial: enough to run it again.",
    "state": "`COMPLETE`, `PRUNED` (stopped early) or `FAILED`.",
    "cause": "Of a failure: `diverged`, `collapsed`, `out_of_memory`, `input`, `error`, `timeout`,"
    " `lost`, `stuck`, `device` ([what they mean](../explanation/reliability.md)).",
    "message": "First line of the error.",
    "traceback": "Where it was raised.",
    "log": "The end of what the trial printed, warned and logged.",
    "rung": "Rung at which the trial was stopped early.",
    "epochs_planned": "Epochs of all its folds.",
    "epochs_run": "Epochs it trained.",
    "epoch_selected": "Epoch of the best validation score, or the last one where nothing is"
    " validated; null if several folds chose their own.",
    "selection_rule": "How the epoch was chosen: `best_val_epoch`, or `last_epoch` of `refit`.",
    "test_readings": "How often the trial scored test classes: once for each tested fold, and under"
    " `test_tuned` once for each epoch. 0 of a copy.",
    "objective": "What the search maximises: best validation recall (continuous labels: nDCG) at"
    " the primary K, the mean over folds. Null where nothing is validated.",
    "seconds": "Training, validation and test, summed over epochs and folds.",
    "test_seconds": "The part of them spent on scoring test classes after an epoch was chosen.",
    "peak_memory_mb": "Largest memory seen by the worker, also of attempts that ran out of it.",
    "attempts": "Number of the attempt that ended the trial; 0 of a copy.",
    "node": "Host name.",
    "device": "`cpu`, or the visible GPUs.",
    "executor": "`population` if it was trained together with others ([many heads at once]"
    "(../how-to/frozen-features.md#many-heads-at-once)), else `single`.",
    "started_at": "Start of the last attempt.",
    "ended_at": "Time of the commit.",
    "podium_version": "Version of podium that committed the row.",
    "torch_version": "Version of torch.",
    "python_version": "Version of Python.",
    "git_commit": "Of the folder podium ran in, if it is a git checkout.",
    "scores": "Every score of training (`train`: `loss`, `active_fraction`, `gradient_norm`) and"
    " validation (`val`), epoch by epoch. In the final and baseline stages, and with `record_all`"
    " in the search, also how [embeddings are spread](../explanation/statistics/metrics.md"
    "#how-embeddings-are-spread), with `k` null. Finals of `matryoshka:` losses also have"
    " `recall_of_first_64` and so on: Recall@K of embeddings cut to their first 64 numbers.",
    "class_hits": "Validation hits of every class: at every epoch for the primary K, at the"
    " selected epoch for all K. Empty for continuous labels.",
    "test_scores": "As `scores`, on the test classes, at the selected epoch; final and baseline"
    " stages, and with `quarantine: record` or `record_all` the search. In the final and baseline"
    " stages, and with `record_all` in the search, also `r_precision`, `map_at_r`, `nmi`, `f1` and"
    " the spread, with `k` null ([metrics](../explanation/statistics/metrics.md)).",
    "test_class_hits": "As `class_hits`, on the test classes.",
    "test_retrievals": "A few queries with their nearest test images, as PNG. `similarity` is a"
    " cosine, or minus a distance where lengths count; of continuous labels `is_correct` is null.",
}

_SCHEMA_OPENING = """\
# The results store

In the code: `orchestrator/results/records/`, `orchestrator/results/trial_files/`.

A results folder is `<storage>/<study>/`. **One trial = one row**, in files of two kinds:

| file | holds |
|---|---|
| `trials/search=<search>/<trial_id>.parquet` | the row of one committed trial; the first commit wins |
| `trials/search=<search>/<count>-<hash>.gathered.parquet` | the rows of a search that is over, in a file that never \
changes ([gathered rows](../how-to/storage.md#gathered-rows)) |

Single rows stay beside gathered ones until a run finishes the study, and leaves one file a search. At any moment this reads each
trial once:

```python
import polars as pl

files = "podium-results/quickstart/trials/**/*.parquet"
trials = pl.scan_parquet(files, missing_columns="insert").unique("trial_id").collect()
```

In [DuckDB](../how-to/export.md#duckdb) it is `SELECT DISTINCT ON (trial_id) * FROM
read_parquet('podium-results/quickstart/trials/**/*.parquet', union_by_name = true)`. A program that reads at the moment in which
single rows are deleted may get the error that a file is gone: read again. After a study gained hyperparameters Polars refuses
its files until a run finishes the study; DuckDB reads them.

`orchestrator.results.trial_files.reader.Reader(folder)` gives the same rows as lazy frames: `trials()`, the nested
columns as long tables (`scores()`, `class_hits()`, `test_scores()`, `test_class_hits()`,
`test_retrievals()`), `attempts()`, `runs()` and `spending()`. [A notebook](../notebooks/first-study.ipynb) uses it.

Besides the trials:

| file | holds |
|---|---|
| `study.json` | the resolved study |
| `provenance.json` | versions, hardware, what losses do not share, search spaces |
| `code/` | copies of [code that the study names](study-file.md#code-of-your-own) |
| `store.json` | the columns; the metrics and their directions |
| `journal/`, `runs/` | suggestions and attempts, and what each run spent: see below |
| `checkpoints/`, `logs/` | running trials; what [trials](../explanation/reliability.md#logs-of-trials) printed |
| `report.html` | the report |

Recalls, nDCG, R-precision, MAP@R, NMI and F1 are 0 to 1. A number is finite or null, never NaN. In
a study of [continuous labels](data-sets.md#continuous-labels) the columns `val_ndcg_at_1` and
`val_mean_label_distance_at_1` replace `val_recall_at_1`.

## Verification

`podium verify STUDY` reads every byte and checks every rule, changing nothing; it may run while
the study runs. Exit code 0: sound; 2: there are problems, a line each with file, rule and value
(`--json` for programs); 4: the folder cannot be read.

- Every file but those in `lock/` and `report.html` holds a SHA-256 of itself: JSON in its first key, of
  all that follows, Parquet in its footer under `podium_seal`, weights and embeddings in their headers.
  Podium's commands and `Reader` check every Parquet file before they read it, and refuse one without; plain polars does not.
- Every row must be that of the trial which the study makes of its suggestion and its place: ids, seeds,
  splits, data, code. This needs the data; notes name missing ones.
- Numbers must be finite, finals of a config that is the default or was selected, and copies must have an original.
  Verify does not select again: of several selected configs, readers take the last one, and on ties that with the best trial.
- Compared trials share test images, weights and classes. No search has more trials than its
  budget, a trial without its suggestion, or a test score (unless `quarantine` records it).

`podium run` refuses damaged files by name before anything starts. A damaged checkpoint is deleted and reported in the
log and the attempt of its trial, which starts from scratch.
"""

_ATTEMPTS_OPENING = """\
## The journal of a search

`journal/<search>/<number>.jsonl` holds the driver's notes on a search, a line each: `ask` (the trial that a
suggestion became, written before that starts), `attempt` (at its start and at its end), `retried`. A line is
sealed by a SHA-256 that depends on the line before. Each run writes files of its own. Lines after another run had taken over
do not count; nor does the torn last line of one that was killed.

## Attempts

`Reader.attempts()`:
"""
_ATTEMPT_MEANINGS = {
    "trial_id": "Which trial.",
    "search": "Id of its search.",
    "number": "Counts from 1.",
    "node": "Host name; `unknown` if its worker or the driver died before it said anything.",
    "pid": "Of the worker.",
    "device": "`cpu`, or the visible GPUs.",
    "started_at": "Informative; nothing is decided by it.",
    "ended_at": "Informative. Null while it runs, and for good if the driver was killed with it.",
    "cause": "How it ended: `complete`, `stopped` (pruned, or interrupted), a cause of a failure,"
    " or why it was retried: `lost_node`, `preempted`, `lost_worker`, `stuck`, `device`,"
    " `out_of_memory`, `out_of_host_memory`, `killed_for_memory`, `data`"
    " ([what they mean](../explanation/reliability.md)).",
    "message": "What is known of that, and of a checkpoint that could not be used.",
    "reports": "Epochs and tests the trial had by then, those of earlier attempts too.",
    "seconds": "How long it lasted, by a monotonic clock.",
    "cpus": "What it occupied.",
    "gpus": "What it occupied.",
    "peak_memory_mb": "Of its process, as far as it was measured.",
    "device_memory_mb": "What its device has, if the memory of that ran out.",
    "members": "Number of trials that began with it as one population; 1 of a trial alone.",
}

_RETRIED = """\
## Retried failures

`podium run STUDY --retry-failed` withdraws the rows of failed trials and runs these again, under the same
ids. A line of the journal is written before a row is withdrawn. It keeps `search`, `stage`, `cause`, `message`, `traceback`,
`log` and `ended_at` of the row, the number of the last attempt by then (`attempts`, from which limits on attempts and time
count), and how many suggestions the search had made (`asks`), which saw a failure. Copies of a failed final go and come with it.
"""

_RUNS = """\
## Runs

`runs/<number>.json` is written when a run starts, every 5 seconds while it lasts (30 on an object
store, and less often in a study of very many searches) and when it ends, with its SHA-256 as checksum.
It holds the budget of the run, how it ended, and what attempts at trials took by search, stage and what became of them;
`podium status` shows the sums.
"""


_SECTIONS = ("Identity", "Hyperparameters", "Outcome and cost", "Details", "Test results")


def results_schema_page() -> str:
    """The text of the page."""
    schema = trial_schema((1,), {"margin": "float"})
    identity = {name for name, _ in IDENTITY_COLUMNS}
    tests = {name for name, _ in TEST_COLUMNS} | known_test_columns(schema.names).keys()
    meanings = {
        **_MEANINGS,
        "hp.margin": "One such column for each hyperparameter of any loss of the study, typed as"
        " float, int, bool or string; null where the loss does not have it.",
        "val_recall_at_1": "Validation Recall@1 at the selected epoch; one such column for each K"
        " of the study. Of several folds, the mean.",
        "test_recall_at_1": "Test Recall@1, the mean over the folds of the trial; one such column"
        " for each K of the study, and of continuous labels for each metric. Null of every trial of"
        " a search: what a quarantine records of those is in `test_scores` alone.",
        **{
            flat_test_column(metric, None): f"Test {metric_word(metric)}, likewise."
            for metric in METRICS_WITHOUT_K
        },
    }
    if unexplained := set(schema.names) ^ meanings.keys():
        raise ValueError(f"columns and their meanings must match; not so: {sorted(unexplained)}")
    sections: dict[str, list[pa.Field]] = {}
    for column in schema:
        flat = "Identity" if column.name in identity else "Outcome and cost"
        title = "Hyperparameters" if column.name.startswith("hp.") else flat
        if pa.types.is_list(column.type):
            title = "Details"
        sections.setdefault("Test results" if column.name in tests else title, []).append(column)
    parts = [TOLD, _SCHEMA_OPENING]
    for title in _SECTIONS:
        columns = sections[title]
        rows = [(f"`{c.name}`", f"{_type(c.type)}", meanings[c.name]) for c in columns]
        parts.append(f"## {title}\n\n{table(('column', 'type', 'meaning'), rows)}\n")
        if title == "Test results":
            parts.append(
                "Searches are rebuilt without these columns: they are not read from the disk. The"
                " flat ones follow from `test_scores`.\n"
            )
    parts += [_ATTEMPTS_OPENING, _frame(ATTEMPT_COLUMNS, _ATTEMPT_MEANINGS), _RETRIED]
    parts += [_RUNS]
    return "\n".join(parts)


def _frame(columns: pl.Schema, meanings: Mapping[str, str]) -> str:
    if unexplained := set(columns) ^ meanings.keys():
        raise ValueError(f"columns and their meanings must match; not so: {sorted(unexplained)}")
    rows = [(f"`{name}`", str(kind), meanings[name]) for name, kind in columns.items()]
    return f"{table(('column', 'type', 'meaning'), rows)}\n"


def _type(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        inner = ", ".join(f"`{f.name}` {_type(f.type)}" for f in kind.value_type)
        return f"list of ({inner})"
    return str(kind)
