"""Checks trials against their study, each other, and the records beside them.

Each is made again from its place and its suggestion, as far as its data are here. No code of
others is imported: hashes are recomputed from copies.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import polars as pl
import pyarrow as pa
from pydantic_core import from_json

from podium.orchestrator.results.records.journal import SearchJournal
from podium.orchestrator.results.records.journal_records import Ask
from podium.orchestrator.results.records.runs import Run
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import read_store
from podium.orchestrator.run.resume_study import changed_weights, check_ask, check_suggestions
from podium.orchestrator.run.snapshot_study import changed_data
from podium.orchestrator.study.blocks import blocks, searches
from podium.orchestrator.study.study import Search, Study
from podium.orchestrator.trials.recorder import hyperparameter_columns, selection_rule
from podium.orchestrator.trials.specification import Finalist, TrialSpec
from podium.orchestrator.trials.specification_maker import TrialSpecMaker
from podium.orchestrator.verify.findings import Findings
from podium.trainables.dataset_interface.dataset import Dataset
from podium.trainables.errors import TrialInputError

_OF_WINNER = ["search", "selected_from", "config_hash"]
_OF_SEARCH = ["search", "trial_id"]
# Settings that say where a trial ran, and where its files were; hashes of these are compared.
_PLACES = ("num_threads", "cache_folder", "dataset", "backbone", "protocol")
# Columns of finals that depend on how large the study was when they were planned.
_OF_SIZE = ("index", "selected_from")
_Values: TypeAlias = Mapping[str, Any]
c = pl.col  # c.state is the column of that name


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
    asks = [ask for journal in journals.values() for ask in journal.asks]
    attempts = [key for journal in journals.values() for key in journal.attempts]
    retried = [failure for journal in journals.values() for failure in journal.retried]
    num_copies, num_searches = rows["same_as"].count(), len({ask.search for ask in asks})
    findings.checked.update(copies=num_copies, runs=len(runs), attempts=len(attempts))
    findings.checked.update(searches=num_searches, asks=len(asks))
    if rows.height and not runs:
        findings.problem(paths.runs, "holds no account of a run, while there are trials")
    # Runs count a trial once its row is committed. Failures may be withdrawn since.
    spent = [spent for run in runs for spent in run.spent if spent.use in ("complete", "pruned")]
    if rows.height < (counted := sum(it.tries for it in spent)):
        text = f"must hold the {counted} trials that runs completed; it holds {rows.height}"
        findings.problem(paths.trials, f"{text}. Restore the rows from a copy")
    known = {*(ask.search for ask in asks), *rows.filter(c.stage != "baseline")["search"]}
    for search in sorted(known - {search.id for search in searches(study)}):
        findings.problem(paths.study, f"must plan every search; there are trials of {search}")
    suggested = dict.fromkeys((ask.search, ask.trial_id) for ask in asks)
    asked = pl.DataFrame([*suggested], dict.fromkeys(_OF_SEARCH, pl.String), orient="row")
    asked = asked.with_columns(place=pl.int_range(pl.len()).over("search"))
    most = max([study.search.trials, *(run.trials_per_search for run in runs)])
    for search in asked.filter(c.place == most)["search"]:
        text = f"search {search} must have no more trials than its {most}"
        findings.problem(paths.journals, text)
    withdrawn = _numbers("withdrawn", [(it.trial_id, it.attempts) for it in retried])
    rows = rows.join(asked, on=_OF_SEARCH, how="left", maintain_order="left")
    rows = rows.join(withdrawn, on="trial_id", how="left", maintain_order="left")
    for key, frame in (
        (["trial_id"], _numbers("number", sorted(attempts))),
        (["same_as"], rows.select(same_as="trial_id", original="results")),
        (_OF_WINNER, _winners(rows)),
    ):
        rows = rows.join(frame, on=key, how="left", maintain_order="left")
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
        made = {
            (it.trial_id, bool(it.is_winner), it.settings.stop_epoch): it for it in reversed(specs)
        }
        findings.checked["ids recomputed"] += len(own) + len(of_search)
        for row in of_search:
            spec = made.get((row["trial_id"], bool(row["is_winner"]), _stop(row)))
            for broken in _differences(row, spec, schema):
                findings.problem(row["file"], f"trial {row['trial_id']}: {broken}")


def _finals(
    maker: TrialSpecMaker, search: Search, asks: Sequence[Ask], rows: Sequence[_Values]
) -> Iterator[TrialSpec]:
    """The finals that the study makes of configs of a search, where rows have some."""
    first = {ask.config_hash: ask for ask in reversed(asks)}
    finals = [row for row in rows if row["stage"] == "final" and row["config_hash"] in first]
    chosen = {(it["config_hash"], bool(it["is_winner"]), _stop(it)) for it in finals}
    for of, is_winner, stop in chosen:
        finalist = Finalist(
            config=first[of].hyperparameters,
            is_default=first[of].index == 0,
            is_winner=is_winner,
            selected_epoch=stop,
        )
        for spec in maker.final_trials(search, (finalist,), selected_from=0):
            yield from (spec, spec.copy(trained_for=""))


def _settings(row: _Values) -> dict[str, Any]:
    """The settings of a row; none if they are no JSON of a trial."""
    try:
        found = from_json(row["settings"] or "")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _stop(row: _Values) -> int | None:
    """The epoch at which the training of a row was to stop, where that was set."""
    stop = _settings(row).get("stop_epoch")
    return stop if type(stop) is int else None


def _differences(row: _Values, spec: TrialSpec | None, schema: pa.Schema) -> Iterator[str]:
    """What a row has otherwise than the trial that the study makes in its place."""
    if spec is None:
        yield "must be of a trial that the study has"
        return
    columns, settings = spec.identity_columns(row["study"]), _settings(row)
    expected = from_json(str(columns.pop("settings")))
    if settings != expected | {name: settings.get(name) for name in _PLACES}:
        yield "settings must be those that the study gives to this trial"
    columns |= hyperparameter_columns(schema, spec.settings.hyperparameters)
    columns["selection_rule"] = selection_rule(spec.settings.protocol)
    for name, value in columns.items():
        if row[name] != value and not (spec.stage == "final" and name in _OF_SIZE):
            yield f"{name} must be {value!r}, by the study; it is {row[name]!r}"
