"""Reads every committed trial, some at a time, and checks it against itself."""

from collections.abc import Iterator

import polars as pl
import polars.selectors as cs

from podium.orchestrator.results.records.metric_columns import known_columns, score_column
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import read_store
from podium.orchestrator.results.records.trial_schema import IDENTITY_COLUMNS
from podium.orchestrator.results.trial_files.flat_test_scores import flat_test_scores
from podium.orchestrator.results.trial_files.stored_rows import StoredRows
from podium.orchestrator.study.study import Study
from podium.orchestrator.trials.failure_causes import FAILURE_CAUSES
from podium.orchestrator.verify.findings import Findings

_IDENTITY = [name for name, _ in IDENTITY_COLUMNS]
_OF_COPIES = (*_IDENTITY, "attempts", "test_readings")  # what a copy has of its own
_KEPT = (*_IDENTITY, "^hp[.].*$", "file", "state", "objective", "attempts", "selection_rule")
_ORDER = ("search", "trial_id")
_TOLERANCE = 1e-9  # sums may be taken in another order
_HIT_KEY = ("file", "trial_id", "fold", "epoch", "role", "k")
c = pl.col  # c.state is the column of that name

_IS_SEARCH, _IS_COMPLETE = c.stage == "search", c.state == "COMPLETE"
_CAUSES = sorted(FAILURE_CAUSES)
_ROW_RULES = {
    "stage must be search, final or baseline; it is {stage!r}": ~c.stage.is_in(
        ("search", "final", "baseline"), nulls_equal=True
    ),
    "state must be COMPLETE, PRUNED or FAILED; it is {state!r}": ~c.state.is_in(
        ("COMPLETE", "PRUNED", "FAILED"), nulls_equal=True
    ),
    "selected_from must be set in the final stage, and only there": c.selected_from.is_null()
    == (c.stage == "final"),
    "FAILED trials, and no others, must have a cause; it is {cause!r}": c.cause.is_null()
    == (c.state == "FAILED"),
    f"a cause must be one of {', '.join(_CAUSES)}; it is {{cause!r}}": ~c.cause.is_in(_CAUSES),
    "PRUNED trials of a search, and no others, must have a rung; it is {rung}": c.rung.is_null()
    == (_IS_SEARCH & (c.state == "PRUNED")),
    "it has {epochs_run} epochs of {epochs_planned}, all of which a COMPLETE trial has": (
        (c.epochs_run > c.epochs_planned) | ((c.epochs_run < c.epochs_planned) & _IS_COMPLETE)
    ),
    "tests must be of its folds, of all if it is a COMPLETE {stage} trial": (
        c.tested.list.set_difference(c.folds).list.len() > 0
    )
    | ((c.tested != c.folds) & _IS_COMPLETE & ~_IS_SEARCH),
    "a trial of a search must have no test scores": _IS_SEARCH
    & (c.tested.list.len() > 0)
    & ~c.tests_searches,
}
_SCORE = "{role} {metric} at {k} of epoch {epoch}, fold {fold} must be"
# Hits and queries of it are stored.
_IS_COUNTED = (c.metric == "recall") & (c.queries > 0)
_SCORE_RULES = {
    f"{_SCORE} a finite number; it is {{value}}": ~c.value.is_finite(),
    f"{_SCORE} between 0 and 1; it is {{value}}": ~c.value.is_between(0, 1)
    & c.value.is_finite()
    & ~c.metric.is_in(("loss", "mean_label_distance")),
    f"{_SCORE} {{hits}} / {{queries}}; it is {{value}}": _IS_COUNTED
    & ((c.value - c.hits / c.queries).abs() > _TOLERANCE),
    f"{_SCORE} the sum of its classes; it is {{hits}} / {{queries}}": (c.metric == "recall")
    & (pl.concat_list("hits", "queries") != c.of_classes),
}


def read_rows(paths: StudyPaths, study: Study, findings: Findings) -> pl.DataFrame:
    """One row a trial: flat columns, the ``file``, and a hash ``results`` of what copies share.

    Args:
        paths: the results folder, whose trial files can be read.
        study: the study.
        findings: collects problems.

    Raises:
        CorruptFileError: a row holds a name that podium never writes.
    """
    schema = read_store(paths).schema
    stored = StoredRows(paths, read_store(paths), set())
    folder = str(paths.trials).replace("{", "{{").replace("}", "}}")
    frames = []
    for rows in stored.batches(lambda every: every, columns=schema.names, order=_ORDER):
        rows = rows.with_columns(file=pl.format(f"{folder}/search={{}}", c.search))
        findings.tell(f"checking trial {findings.checked['trials']}")
        findings.checked["trials"] += rows.height
        for column, hits in (("scores", "class_hits"), ("test_scores", "test_class_hits")):
            of_classes = pl.concat_list(pl.col("hits", "queries").sum())
            sums = _long(rows, hits).group_by(_HIT_KEY).agg(of_classes=of_classes)
            scores = _long(rows, column).join(sums, on=_HIT_KEY, how="left", nulls_equal=True)
            findings.check(scores, _SCORE_RULES)
        rows = _with_expected(rows, tests_searches=study.tests_searches)
        findings.check(rows, _ROW_RULES | dict(_column_rules(rows)))
        shared = pl.struct(name for name in schema.names if name not in _OF_COPIES).hash()
        frames.append(rows.select(*_KEPT, results=shared))
    return pl.concat(frames)


def _long(rows: pl.DataFrame, column: str) -> pl.DataFrame:
    """One row per nested row of a column, with file and trial."""
    some = rows.select("file", "trial_id", column).filter(c(column).list.len() > 0)
    return some.explode(column).unnest(column)


def _with_expected(rows: pl.DataFrame, *, tests_searches: bool) -> pl.DataFrame:
    """Rows with what follows from their details, as ``expected_NAME`` of columns, and folds."""
    metrics, ks = known_columns(rows.columns)
    is_valid, details = (c.role == "val") & c.value.is_finite(), pl.struct("fold", "epoch")
    is_objective = is_valid & (c.metric == metrics[0]) & (c.k == ks[0])
    best = c.epoch.filter(is_objective).first().over("trial_id", "fold")
    scores = _long(rows, "scores").sort("value", "epoch", descending=[True, False])
    by_trial = (
        scores.with_columns(is_best=is_valid & (c.epoch == best))
        .group_by("trial_id")
        .agg(
            seen=details.n_unique(),
            expected_epochs_run=details.filter(c.epoch > 0).n_unique(),
            num_best=c.fold.filter("is_best").n_unique(),
            best_epoch=c.epoch.filter("is_best").first(),
            **{
                f"expected_{score_column(metric, k)}": c.value.filter(
                    "is_best", c.metric == metric, c.k == k
                ).mean()
                for metric in metrics
                for k in ks
            },
        )
    )
    num_tested, is_copy = c.tested.list.len(), c.same_as.is_not_null()
    readings = num_tested + pl.when(c.split_protocol == "test_tuned").then(c.seen).fill_null(0)
    readings = pl.when(is_copy).then(0).otherwise(readings)
    # A test in quarantine whose embeddings collapsed was a reading without scores.
    may_lack = _IS_SEARCH & ~is_copy & c.tests_searches
    most = readings + pl.when(may_lack).then(c.folds.list.len()).otherwise(0)
    all_folds = pl.int_ranges(c.num_folds, dtype=pl.Int32)
    return (
        rows.join(by_trial, on="trial_id", how="left", maintain_order="left")
        .with_columns(
            tests_searches=pl.lit(tests_searches),
            folds=pl.when(c.fold.is_null()).then(all_folds).otherwise(pl.concat_list("fold")),
            tested=c.test_scores.list.eval(pl.element().struct["fold"]).list.unique().list.sort(),
        )
        .with_columns(
            pl.col("expected_epochs_run").fill_null(0),
            expected_objective=f"expected_{score_column(metrics[0], ks[0])}",
            expected_epoch_selected=pl.when(c.num_best == 1)
            .then("best_epoch")
            .otherwise("epoch_selected"),
            expected_test_readings=c.test_readings.clip(readings, most),
            **{f"expected_{name}": it for name, it in flat_test_scores(rows.columns).items()},
        )
    )


def _column_rules(rows: pl.DataFrame) -> Iterator[tuple[str, pl.Expr]]:
    """Rules of columns that follow from details, and of all numbers."""
    for name in (name.removeprefix("expected_") for name in rows.columns if "expected_" in name):
        found, expected = c(name), c(f"expected_{name}")
        differs = (found.is_null() != expected.is_null()) | ((found - expected).abs() > _TOLERANCE)
        yield f"{name} must be {{expected_{name}}}, by its details; it is {{{name}}}", differs
    for name in rows.select(cs.float()).columns:
        yield f"{name} must be a finite number; it is {{{name}}}", ~c(name).is_finite()
