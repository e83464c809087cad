"""Rules of trials: of each by itself, against its study, the others, and the records beside them.

Each is made again from its place and its suggestion, as far as its data are here. No code of
others is imported: hashes are recomputed from copies.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl
import polars.selectors as cs
import pyarrow as pa
from pydantic_core import from_json

from podium.orchestrator.results.records.journal import SearchJournal
from podium.orchestrator.results.records.journal_records import Ask
from podium.orchestrator.results.records.metric_columns import (
    known_columns,
    known_test_columns,
    score_column,
)
from podium.orchestrator.results.records.runs import Run
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import read_store
from podium.orchestrator.results.records.trial_schema import IDENTITY_COLUMNS
from podium.orchestrator.results.trial_files.inventory import StoredRows
from podium.orchestrator.run.resume_study import changed_weights, check_ask, check_suggestions
from podium.orchestrator.run.snapshot_study import changed_data
from podium.orchestrator.study.blocks import blocks, searches
from podium.orchestrator.study.study import Search, Study
from podium.orchestrator.trials.failure_causes import FAILURE_CAUSES
from podium.orchestrator.trials.recorder import hyperparameter_columns, selection_rule
from podium.orchestrator.trials.specification import Finalist, TrialSpec
from podium.orchestrator.trials.specification_maker import TrialSpecMaker
from podium.orchestrator.verify.findings import Findings
from podium.trainables.dataset_interface.dataset import Dataset
from podium.trainables.errors import TrialInputError

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
    is_valid = (c.role == "val") & c.value.is_finite()
    is_objective = is_valid & (c.metric == metrics[0]) & (c.k == ks[0])
    best = c.epoch.filter(is_objective).first().over("trial_id", "fold")
    scores = _long(rows, "scores").sort("value", "epoch", descending=[True, False])
    by_trial = (
        scores.with_columns(is_best=is_valid & (c.epoch == best))
        .group_by("trial_id")
        .agg(
            num_best=c.fold.filter("is_best").n_unique(),
            best_epoch=c.epoch.filter("is_best").first(),
            **{
                f"expected_{score_column(metric, k)}": _mean_score(metric, k, "is_best")
                for metric in metrics
                for k in ks
            },
        )
    )
    by_test = _long(rows.filter(~_IS_SEARCH), "test_scores").group_by("trial_id")
    of_tests = by_test.agg(
        **{
            f"expected_{name}": _mean_score(metric, k)
            for name, (metric, k) in known_test_columns(rows.columns).items()
        }
    )
    all_folds = pl.int_ranges(c.num_folds, dtype=pl.Int32)
    return (
        rows.join(by_trial, on="trial_id", how="left", maintain_order="left")
        .join(of_tests, on="trial_id", how="left", maintain_order="left")
        .with_columns(
            tests_searches=pl.lit(tests_searches),
            folds=pl.when(c.fold.is_null()).then(all_folds).otherwise(pl.concat_list("fold")),
            tested=c.test_scores.list.eval(pl.element().struct["fold"]).list.unique().list.sort(),
            expected_objective=f"expected_{score_column(metrics[0], ks[0])}",
            expected_epoch_selected=pl.when(c.num_best == 1)
            .then("best_epoch")
            .otherwise("epoch_selected"),
        )
    )


def _mean_score(metric: str, k: int | None, *among: str) -> pl.Expr:
    is_wanted = (c.metric == metric) & c.k.eq_missing(pl.lit(k, pl.Int32))
    return c.value.filter(*among, is_wanted).mean()


def _column_rules(rows: pl.DataFrame) -> Iterator[tuple[str, pl.Expr]]:
    """Rules of columns that follow from details, and of all numbers."""
    for name in (name.removeprefix("expected_") for name in rows.columns if "expected_" in name):
        found, expected = c(name), c(f"expected_{name}")
        differs = (found.is_null() != expected.is_null()) | ((found - expected).abs() > _TOLERANCE)
        yield f"{name} must be {{expected_{name}}}, by its details; it is {{{name}}}", differs
    for name in rows.select(cs.float()).columns:
        yield f"{name} must be a finite number; it is {{{name}}}", ~c(name).is_finite()


_OF_WINNER = ["search", "selected_from", "config_hash"]
# Settings that say where a trial ran, and where its files were; hashes of these are compared.
_PLACES = ("num_threads", "cache_folder", "dataset", "backbone", "protocol")
# Columns of finals that depend on how large the study was when they were planned.
_OF_SIZE = ("index", "selected_from")


class Results(NamedTuple):
    """What a results folder holds: journals by search, rows as of `read_rows`."""

    paths: StudyPaths
    study: Study
    runs: Sequence[Run]
    rows: pl.DataFrame
    journals: Mapping[str, SearchJournal]


def _is_another(name: str, *within: str) -> pl.Expr:
    return c(name).ne_missing(c(name).first().over(within))


_NUM_RECORDED = c.number.list.len().fill_null(0)
_LAST = c.withdrawn.list.last()
_IS_PENDING = (c.attempts == _LAST) & (c.state == "FAILED")
_IS_FINAL = c.stage == "final"
_RULES = {
    "the trials of {block} must have one set of test images": _is_another("test_hash", "block"),
    "the trials of {backbone} must start from the same weights": _is_another(
        "weights", "backbone"
    ),
    "what is compared must be trained and validated on the same classes, in {block} too": (
        _is_another("protocol_hash", "block", "stage", "protocol", "repeat", "train_on")
    ),
    "it is a copy of trial {same_as}, which has no row": (
        c.same_as.is_not_null() & c.original.is_null()
    ),
    "it must have the results of trial {same_as}, of which it is a copy": c.results != c.original,
    "its journal must hold its {attempts} attempts, numbered from 1": (
        (c.number != pl.int_ranges(1, _NUM_RECORDED + 1))
        | ((c.attempts > _NUM_RECORDED) & c.same_as.is_null())
    ),
    "each failure must be of a later attempt than the one before": (
        c.withdrawn.list.eval(pl.element().diff() <= 0).list.any()
    ),
    "it was retried, its row is of attempt {attempts}, not of a later one": (
        (c.attempts <= _LAST) & ~_IS_PENDING
    ),
    "a final must be of the default or of the winner": _IS_FINAL & ~c.is_default & ~c.is_winner,
    "the winner of its search is config {best}; it is of {config_hash}": (
        _IS_FINAL & c.is_winner & c.config_hash.ne_missing(c.best)
    ),
}


def check_trials(results: Results, findings: Findings) -> None:
    """Trials fit each other, the plan of their study, and what runs and journals tell of them."""
    paths, study, runs, rows, journals = results
    asks = [(ask.search, ask.trial_id) for it in journals.values() for ask in it.asks]
    attempts = [key for journal in journals.values() for key in journal.attempts]
    retried = [(it.trial_id, it.attempts) for of in journals.values() for it in of.retried]
    asked = pl.DataFrame(asks, {"search": pl.String, "trial_id": pl.String}, orient="row")
    num_searches = asked["search"].n_unique()
    findings.checked.update(copies=rows["same_as"].count(), runs=len(runs), asks=len(asks))
    findings.checked.update(searches=num_searches, attempts=len(attempts))
    if rows.height and not runs:
        findings.problem(paths.runs, "holds no account of a run, while there are trials")
    # Runs count a trial once its row is committed. Failures may be withdrawn since.
    spent = [spent for run in runs for spent in run.spent if spent.use in ("complete", "pruned")]
    if rows.height < (counted := sum(it.tries for it in spent)):
        text = f"must hold the {counted} trials that runs completed; it holds {rows.height}"
        findings.problem(paths.trials, f"{text}. Restore the rows from a copy")
    known = {*asked["search"], *rows.filter(c.stage != "baseline")["search"]}
    for search in sorted(known - {search.id for search in searches(study)}):
        findings.problem(paths.study, f"must plan every search; there are trials of {search}")
    asked = asked.unique(maintain_order=True)
    asked = asked.with_columns(place=pl.int_range(pl.len()).over("search"))
    most = max([study.search.trials, *(run.trials_per_search for run in runs)])
    for search in asked.filter(c.place == most)["search"]:
        text = f"search {search} must have no more trials than its {most}"
        findings.problem(paths.journals, text)
    for key, frame in (
        (["search", "trial_id"], asked),
        (["trial_id"], _numbers("withdrawn", retried)),
        (["trial_id"], _numbers("number", sorted(attempts))),
        (["same_as"], rows.select(same_as="trial_id", original="results")),
    ):
        rows = rows.join(frame, on=key, how="left", maintain_order="left")
    rows = rows.join(_winners(rows), on=_OF_WINNER, how="left", maintain_order="left")
    findings.check(rows, _RULES)


def _numbers(name: str, pairs: Sequence[tuple[str, int]]) -> pl.DataFrame:
    """Trial ids, and the numbers that go with each of them, in order, as column ``name``."""
    frame = pl.DataFrame(pairs, {"trial_id": pl.String, name: pl.Int64}, orient="row")
    return frame.group_by("trial_id").agg(name)


def _winners(rows: pl.DataFrame) -> pl.DataFrame:
    """The ``best`` config of the trials that each final was selected from.

    A trial that was retried may have been a failure when they were selected.
    """
    trials = rows.filter(c.state == "COMPLETE", c.place.is_not_null())
    trials = trials.select("search", "place", "objective", "withdrawn", best="config_hash")
    finals = rows.filter(c.stage == "final").select(_OF_WINNER).unique()
    is_own = c.best == c.config_hash
    return (
        finals.join(trials, on="search")
        .filter(c.place < c.selected_from, c.withdrawn.is_null() | is_own)
        .sort("objective", "place", descending=[True, False])
        .unique(_OF_WINNER, keep="first", maintain_order=True)
        .select(*_OF_WINNER, "best")
    )


def check_identities(
    results: Results, datasets: Mapping[str, Dataset], findings: Findings
) -> None:
    """Every suggestion and every row is of a trial of the study, as far as its data are here.

    Args:
        results: the results.
        datasets: data sets of the study that are here, by label.
        findings: collects problems and notes.

    Raises:
        CorruptFileError: an ask is missing, was changed, or is of another study.
    """
    paths, study, _, rows, journals = results
    asks = {search: journal.asks for search, journal in journals.items()}
    check_suggestions(paths, asks, rows)
    try:
        changed = [*changed_data(paths, datasets), *changed_weights(rows, study)]
        maker = TrialSpecMaker(study, datasets)
    except TrialInputError as error:
        findings.note(f"weights are not on this machine, so no id was recomputed: {error}")
        return
    for what in changed:
        findings.problem(paths.study, f"{what} must be what its trials began with")
    if changed:
        return
    own_blocks = [block for block in blocks(study) if block.dataset in datasets]
    baselines = [spec for block in own_blocks for spec in maker.baseline_trials(block)]
    planned = {it.id: it for it in searches(study) if it.block in own_blocks}
    parts = rows.drop("results").partition_by("search", as_dict=True)
    schema = read_store(paths).schema
    for search_id in sorted({*planned, *(spec.search.id for spec in baselines)}):
        own, specs = asks.get(search_id, ()), list(baselines)
        of_search = parts[search_id,].to_dicts() if (search_id,) in parts else []
        if search := planned.get(search_id):
            specs += (check_ask(paths, search, ask, maker) for ask in own)
            specs += _finals(maker, search, own, of_search)
        findings.checked["ids recomputed"] += len(own) + len(of_search)
        made: dict[str, list[TrialSpec]] = {}
        for spec in specs:
            made.setdefault(spec.trial_id, []).append(spec)
        for row in of_search:
            # A config may be both the default and the winner.
            of_trial = [[*_differences(row, it, schema)] for it in made.get(row["trial_id"], ())]
            for broken in min(
                of_trial, key=len, default=["must be of a trial that the study has"]
            ):
                findings.problem(row["file"], f"trial {row['trial_id']}: {broken}")


def _finals(
    maker: TrialSpecMaker, search: Search, asks: Sequence[Ask], rows: Sequence[Mapping[str, Any]]
) -> Iterator[TrialSpec]:
    """The finals that the study makes of configs of a search, where rows have some."""
    first = {ask.config_hash: ask for ask in reversed(asks)}
    finals = [row for row in rows if row["stage"] == "final" and row["config_hash"] in first]
    stops = [_settings(row).get("stop_epoch") for row in finals]
    chosen = {
        (row["config_hash"], bool(row["is_winner"]), stop if type(stop) is int else None)
        for row, stop in zip(finals, stops, strict=True)
    }
    for of, is_winner, stop in chosen:
        finalist = Finalist(
            config=first[of].hyperparameters,
            is_default=first[of].index == 0,
            is_winner=is_winner,
            selected_epoch=stop,
        )
        for spec in maker.final_trials(search, (finalist,), selected_from=0):
            yield from (spec, spec.copy())


def _settings(row: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a row; none if they are no JSON of a trial."""
    try:
        found = from_json(row["settings"] or "")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _differences(row: Mapping[str, Any], spec: TrialSpec, schema: pa.Schema) -> Iterator[str]:
    """What a row has otherwise than the trial that the study makes in its place."""
    columns, settings = spec.identity_columns(row["study"]), _settings(row)
    expected = from_json(str(columns.pop("settings")))
    if settings != expected | {name: settings.get(name) for name in _PLACES}:
        yield "settings must be those that the study gives to this trial"
    columns |= hyperparameter_columns(schema, spec.settings.hyperparameters)
    columns["selection_rule"] = selection_rule(spec.settings.protocol)
    for name, value in columns.items():
        if row[name] != value and not (spec.stage == "final" and name in _OF_SIZE):
            yield f"{name} must be {value!r}, by the study; it is {row[name]!r}"
