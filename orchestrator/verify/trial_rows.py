"""Reads every committed trial once, and checks each against itself, also while rows are gathered.

Rows are checked some hundreds at a time; of those that were checked the flat columns are kept.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import polars as pl
import polars.selectors as cs
import pyarrow as pa

from orchestrator.ids_and_seeds import config_hash, copy_id
from orchestrator.results.records.metric_columns import known_columns, score_column
from orchestrator.results.records.store_paths import StudyPaths, is_file_name
from orchestrator.results.records.study_snapshot import read_schema
from orchestrator.results.records.trial_schema import IDENTITY_COLUMNS
from orchestrator.results.storage.local_copies import fetch
from orchestrator.results.storage.locations import Place
from orchestrator.results.storage.printable_text import has_control_characters
from orchestrator.results.trial_files.flat_test_scores import flat_test_scores
from orchestrator.results.trial_files.integrity import open_trials
from orchestrator.results.trial_files.inventory import take_inventory
from orchestrator.trials.failure_causes import FAILURE_CAUSES
from orchestrator.trials.recorder import LAST_EPOCH, SELECTION_RULE, hyperparameter_columns
from orchestrator.verify.findings import WRONG_VALUES, Findings, Rule
from podium.errors import CorruptFileError
from trainables.settings.trial_settings import TrialSettings

RowCheck = Callable[[Mapping[str, Any], TrialSettings], Iterator[tuple[str, object]]]
"""Gives every rule that the flat columns of a row and its settings violate, with the value."""

_IDENTITY = [name for name, _ in IDENTITY_COLUMNS if name != "settings"]
_OF_COPIES = ("settings", *_IDENTITY, "attempts", "test_readings")  # what a copy has of its own
_KEPT = (*_IDENTITY, "state", "objective", "attempts")
_AT_ONCE, _BYTES_AT_ONCE = 500, 2**26  # files or parts of files, and their bytes
_STATES = ("COMPLETE", "PRUNED", "FAILED")
_STAGES = ("search", "final", "baseline")
# Metrics in [0, 1], and those of which hits and queries are stored.
_SHARES = (
    *("recall", "ndcg", "r_precision", "map_at_r", "nmi", "f1"),
    *("verification_accuracy", "verification_accuracy_se", "eer", "verification_auc"),
    "tar_at_far",
)
_COUNTED = ("recall", "tar_at_far")
_TOLERANCE = 1e-9  # sums may be taken in another order
c = pl.col  # c.state is the column of that name
_HIT_KEY = ("file", "trial_id", "fold", "epoch", "role", "k")
_FLAGS = ("is_validated", "chooses_by_tests", "evaluate_test")
_OF_SETTINGS = pl.Schema([("folds", pl.List(pl.Int32)), *((it, pl.Boolean()) for it in _FLAGS)])


def read_rows(
    paths: StudyPaths,
    study: str,
    findings: Findings,
    *,
    tests_searches: bool = True,
    by_study: RowCheck | None = None,
) -> pl.DataFrame:
    """One row a trial: flat columns, its ``file``, and a hash ``results`` of what copies share.

    Args:
        paths: the results folder.
        study: name of the study that all rows must belong to.
        findings: collects problems and notes.
        tests_searches: whether search trials are tested, and the scores recorded.
        by_study: further rules of a row.

    Raises:
        CorruptFileError: names of files, or a gathered file, do not say which files count.
    """
    schema = read_schema(paths)
    rules = [*_RULES, *_column_rules(schema), *([] if tests_searches else [_NO_TEST_IN_SEARCH])]
    frames = []
    for table in _tables(paths, study, schema, findings):
        rows = pl.DataFrame(pl.from_arrow(table)).drop_nulls("trial_id")
        rows = rows.with_columns(_by_settings(rows, schema, by_study, findings))
        for scores, hits in (("scores", "class_hits"), ("test_scores", "test_class_hits")):
            _check_scores(_long(rows, scores), _long(rows, hits), hits, findings)
        derived = _by_scores(_long(rows, "scores"), schema)
        findings.check(rows.join(derived, on="trial_id", how="left"), *rules)
        shared = pl.struct(name for name in schema.names if name not in _OF_COPIES)
        results = rows.filter(c.stage != "search").select("trial_id", results=shared.hash())
        kept = rows.select(*_KEPT, c.file.cast(pl.Categorical))
        frames.append(kept.join(results.unique("trial_id"), on="trial_id", how="left"))
    found = pl.concat(frames).unique("trial_id", keep="first", maintain_order=True)
    findings.checked["trials"] += found.height
    for name in (name for name in _KEPT if found.schema[name] == pl.String):
        for value in found[name].unique().drop_nulls():  # file names, and parts of sentences
            is_file = name not in ("trial_id", "search") or is_file_name(value)
            if has_control_characters(value) or not is_file:
                file = found.filter(c(name) == value)["file"][0]
                findings.problem(file, f"{name} must be a valid name", repr(value))
    return found


def _tables(
    paths: StudyPaths, study: str, schema: pa.Schema, findings: Findings
) -> Iterator[pa.Table]:
    """All rows with every column and their ``file``, some at a time; the last may be none."""
    inventory, bad, done = take_inventory(paths), dict[Place, CorruptFileError](), set[Place]()
    columns = schema.append(pa.field("file", pa.string()))
    part, num_bytes = [columns.empty_table()], 0
    while files := [path for path in inventory.files if path not in done]:
        fetch(files)
        for number, path in enumerate(files, start=1):
            findings.tell(f"reading trial file {number} of {len(files)}")
            done.add(path)
            try:
                for group in open_trials(path, schema, study).groups():
                    names = pa.array([str(path)] * group.num_rows, pa.string())
                    part.append(group.append_column("file", names))
                    num_bytes += group.nbytes
                    if len(part) > _AT_ONCE or num_bytes > _BYTES_AT_ONCE:
                        yield pa.concat_tables(part, promote_options="default")
                        part, num_bytes = part[:1], 0
            except CorruptFileError as error:
                bad[path] = error
        inventory = take_inventory(paths)  # rows may have been gathered meanwhile
    yield pa.concat_tables(part, promote_options="default")
    findings.checked["trial files"] += len(inventory.files)
    for path in (path for path in inventory.files if path in bad):
        with findings.reading(path):
            raise bad[path]
    for path in inventory.superseded:
        with findings.reading(path):
            open_trials(path, schema, study)
    if inventory.superseded:
        rule = f"{len(inventory.superseded)} files hold rows that were gathered in others"
        findings.note(paths.trials, rule, "podium run deletes them when it ends the study")


def _by_settings(
    rows: pl.DataFrame, schema: pa.Schema, by_study: RowCheck | None, findings: Findings
) -> pl.DataFrame:
    """What rules need of the settings of each row, once the columns of settings are compared."""
    found: list[tuple[object, ...]] = []
    for row in rows.select(~cs.nested()).iter_rows(named=True):
        broken: list[tuple[str, object]] = []
        facts: tuple[object, ...] = (None,) * len(_OF_SETTINGS)
        try:
            settings = TrialSettings.from_dict(json.loads(row["settings"]))
            for name, value in _columns_of(settings, row, schema).items():
                if row[name] != value:
                    rule = f"{name} must be {value!r}, by the settings of the trial"
                    broken.append((rule, repr(row[name])))
            broken += by_study(row, settings) if by_study else ()
            of, folds = settings.protocol, sorted(settings.folds)
            facts = (folds, of.is_validated, of.leaks, settings.evaluate_test)
        except WRONG_VALUES:
            broken.append(("settings must be JSON of a trial", repr(row["settings"])[:80]))
        found.append(facts)
        for rule, value in broken:
            findings.problem(row["file"], f"trial {row['trial_id']}: {rule}", value)
    return pl.DataFrame(found, schema=_OF_SETTINGS, orient="row")


def _columns_of(
    settings: TrialSettings, row: Mapping[str, Any], schema: pa.Schema
) -> dict[str, object]:
    """Columns that follow from the settings of a trial."""
    original = row["same_as"]
    return {
        "trial_id": row["trial_id"] if original is None else copy_id(original, row["search"]),
        "config_hash": config_hash(settings.hyperparameters),
        "loss": settings.loss,
        "backbone": settings.backbone.name,
        "dataset": settings.dataset.label,
        "embedding_dim": settings.embedding_dim,
        "image_size": settings.image_size,
        "seed": settings.seed,
        "split_protocol": settings.protocol.kind,
        "num_folds": settings.protocol.num_folds,
        "fold": settings.folds[0] if len(settings.folds) == 1 else None,
        **hyperparameter_columns(schema, settings.hyperparameters),
    }


def _long(rows: pl.DataFrame, column: str) -> pl.DataFrame:
    """One row per nested row of a column, with file and trial."""
    some = rows.select("file", "trial_id", column).filter(c(column).list.len() > 0)
    return some.explode(column).unnest(column)


def _check_scores(scores: pl.DataFrame, hits: pl.DataFrame, name: str, findings: Findings) -> None:
    """Shares are between 0 and 1 and fit their counts, and counts those of single classes."""
    is_share = c.value.is_between(0, 1)
    is_counted = c.metric.is_in(_COUNTED) & (c.queries > 0)
    must_be = "{role} {metric} at {k} of epoch {epoch} must be"
    findings.check(
        scores,
        Rule(f"{must_be} a finite number", ~c.value.is_finite()),
        Rule(
            f"{must_be} between 0 and 1",
            ~is_share & c.value.is_finite() & c.metric.is_in(_SHARES),
        ),
        Rule(
            f"{must_be} {{hits}} / {{queries}}",
            _differ(c.value, c.hits / c.queries) & is_share & is_counted,
        ),
    )
    sums = hits.group_by(_HIT_KEY).agg(of_classes=pl.concat_list(pl.col("hits", "queries").sum()))
    counts, where = pl.concat_list("hits", "queries"), "of epoch {epoch}, fold {fold}"
    findings.check(
        scores.filter(c.metric == "recall").join(sums, on=_HIT_KEY, nulls_equal=True),
        Rule(
            f"{name} of {{role}} at {{k}} {where} must add up to its score",
            (c.of_classes != counts) & c.hits.is_not_null(),
        ),
    )


def _by_scores(scores: pl.DataFrame, schema: pa.Schema) -> pl.DataFrame:
    """Trial -> what follows from its scores: mean of each metric, and epochs."""
    metrics, ks = known_columns(schema.names)
    fold, epoch, value = ["trial_id", "fold"], pl.struct("fold", "epoch"), c.value
    validated = scores.filter(c.role == "val", value.is_finite())
    selected = (
        validated.filter(c.metric == metrics[0], c.k == ks[0])
        .sort("value", "epoch", descending=[True, False])
        .unique(fold, keep="first", maintain_order=True)
        .select(*fold, "epoch")
    )
    means = {
        f"mean.{score_column(metric, k)}": value.filter(c.metric == metric, c.k == k).mean()
        for metric in metrics
        for k in ks
    }
    counts = scores.group_by("trial_id").agg(
        seen=epoch.n_unique(), trained=epoch.filter(c.epoch > 0).n_unique()
    )
    best = selected.group_by("trial_id").agg(
        best_epoch=pl.when(pl.len() == 1).then(c.epoch.first())
    )
    at_best = validated.join(selected, on=[*fold, "epoch"]).group_by("trial_id").agg(**means)
    return counts.join(best, on="trial_id", how="left").join(at_best, on="trial_id", how="left")


def _differ(found: pl.Expr, expected: pl.Expr) -> pl.Expr:
    return (found.is_null() != expected.is_null()) | ((found - expected).abs() > _TOLERANCE)


def _column_rules(schema: pa.Schema) -> Iterator[Rule]:
    """Rules of columns that only this study has: each follows from scores, and is finite."""
    metrics, ks = known_columns(schema.names)
    names = [score_column(metric, k) for metric in metrics for k in ks]
    means = {"objective": c(f"mean.{names[0]}"), **{name: c(f"mean.{name}") for name in names}}
    by_source = {"scores": means, "test_scores": flat_test_scores(schema.names)}
    for source, columns in by_source.items():
        for name, mean in columns.items():
            rule = f"{name} must be {{expected}}, recomputed from {source}"
            yield Rule(rule, _differ(c(name), mean), name, mean)
    for name in (field.name for field in schema if pa.types.is_floating(field.type)):
        yield Rule(f"{name} must be a finite number", ~c(name).is_finite())
    rule = "a COMPLETE trial that was validated must have an objective"
    yield Rule(rule, means["objective"].is_null() & _IS_COMPLETE & c.is_validated)


_IS_COMPLETE, _IS_PRUNED, _IS_FAILED = (c.state == state for state in _STATES)
_IS_SEARCH, _IS_COPY = c.stage == "search", c.same_as.is_not_null()
_SELECTION = pl.when(c.is_validated).then(pl.lit(SELECTION_RULE)).otherwise(pl.lit(LAST_EPOCH))
_TRAINED = c.trained.fill_null(0)
_TESTED = c.test_scores.list.eval(pl.element().struct["fold"]).list.unique().list.sort()
_IS_TESTED_ON_ALL = c.folds == _TESTED
_READINGS = _TESTED.list.len() + pl.when(c.chooses_by_tests).then(c.seen).fill_null(0)
# A test in quarantine whose embeddings collapsed was a reading without scores.
_UNSCORED = pl.when(_IS_SEARCH & c.evaluate_test).then(c.folds.list.len()).otherwise(0)
_NO_TEST_IN_SEARCH = Rule(
    "a trial of a search must have no test scores", _IS_SEARCH & (_TESTED.list.len() > 0), _TESTED
)
_RULES = (
    Rule(
        "stage must be one of search, final, baseline", ~c.stage.is_in(_STAGES, nulls_equal=True)
    ),
    Rule(
        "state must be one of COMPLETE, PRUNED, FAILED", ~c.state.is_in(_STATES, nulls_equal=True)
    ),
    Rule(
        "selected_from must be set in the final stage, and only there",
        c.selected_from.is_null() == (c.stage == "final"),
    ),
    Rule(
        "split_hash must have a part for each of the folds {folds}",
        c.split_hash.str.split("+").list.len() != c.folds.list.len(),
    ),
    Rule("FAILED trials, and no others, must have a cause", c.cause.is_null() == _IS_FAILED),
    Rule(
        f"a cause must be one of {', '.join(sorted(FAILURE_CAUSES))}",
        ~c.cause.is_in(list(FAILURE_CAUSES)) & _IS_FAILED,
    ),
    Rule(
        "only a FAILED trial has a message and a traceback",
        (pl.concat_str(c.message, c.traceback, ignore_nulls=True) != "") & ~_IS_FAILED,
    ),
    Rule("PRUNED trials, and no others, must have a rung", c.rung.is_null() == _IS_PRUNED),
    Rule("only trials of a search are PRUNED", ~_IS_SEARCH & _IS_PRUNED),
    Rule(
        "selection_rule must be {expected!r}",
        c.selection_rule.ne_missing(_SELECTION) & c.is_validated.is_not_null(),
        expected=_SELECTION,
    ),
    Rule(
        "epoch_selected must be {best_epoch}, by its scores",
        c.epoch_selected.ne_missing(c.best_epoch) & c.best_epoch.is_not_null(),
    ),
    Rule(
        "epochs_run must be {expected}, counted from scores",
        c.epochs_run.ne_missing(_TRAINED),
        expected=_TRAINED,
    ),
    Rule("no more epochs than the {epochs_planned} planned", c.epochs_run > c.epochs_planned),
    Rule(
        "a COMPLETE trial must have its {epochs_planned} epochs",
        c.epochs_run.ne_missing(c.epochs_planned) & _IS_COMPLETE,
    ),
    Rule(
        "tests must be of the folds {folds}",
        _TESTED.list.set_difference(c.folds).list.len() > 0,
        _TESTED,
    ),
    Rule(
        "a COMPLETE {stage} trial must be tested on all its folds",
        ~_IS_TESTED_ON_ALL & c.evaluate_test & _IS_COMPLETE & ~_IS_SEARCH & ~_IS_COPY,
        _TESTED,
    ),
    Rule(
        "a copy reads no test classes: test_readings must be 0",
        c.test_readings.ne_missing(0) & _IS_COPY,
    ),
    Rule(
        "test_readings must be {expected}, counted from its scores",
        ~c.test_readings.is_between(_READINGS, _READINGS + _UNSCORED) & ~_IS_COPY,
        expected=_READINGS,
    ),
)
