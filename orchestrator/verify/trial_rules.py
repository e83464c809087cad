"""Rules of trials: of each by itself, against its study, the others, and the records beside them.

Each is made again from its place and its suggestion, as far as its data are here. No code of
others is imported: hashes are recomputed from copies.
"""

from collections.abc import Iterator, Mapping, Sequence

import polars as pl
import polars.selectors as cs

from podium.orchestrator.results.records.journal import SearchJournal
from podium.orchestrator.results.records.journal_records import Ask
from podium.orchestrator.results.records.runs import Run
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.run.resume_study import changed_weights, check_ask, check_suggestions
from podium.orchestrator.run.snapshot_study import changed_data
from podium.orchestrator.study.blocks import blocks, searches
from podium.orchestrator.study.study import Search, Study
from podium.orchestrator.trials.failure_causes import FAILURE_CAUSES
from podium.orchestrator.trials.specification import Finalist, TrialSpec
from podium.orchestrator.trials.specification_maker import TrialSpecMaker
from podium.orchestrator.verify.findings import Findings
from podium.trainables.dataset_interface.dataset import Dataset
from podium.trainables.errors import TrialInputError

c = pl.col  # c.state is the column of that name

# Columns that depend on where a trial ran, and finals on how large the study was by then.
_OF_PLACE = {"settings", "index", "selected_from"}


def _is_another(name: str, *within: str) -> pl.Expr:
    return c(name).ne_missing(c(name).first().over(within))


_IS_FINAL, _IS_SEARCH = c.stage == "final", c.stage == "search"
_STAGES, _STATES = ("search", "final", "baseline"), ("COMPLETE", "PRUNED", "FAILED")
_CAUSES = sorted(FAILURE_CAUSES)
_RULES = {
    "stage must be search, final or baseline; it is {stage!r}": ~c.stage.is_in(
        _STAGES, nulls_equal=True
    ),
    "state must be COMPLETE, PRUNED or FAILED; it is {state!r}": ~c.state.is_in(
        _STATES, nulls_equal=True
    ),
    "selected_from must be set in the final stage, and only there": c.selected_from.is_null()
    == _IS_FINAL,
    "FAILED trials, and no others, must have a cause; it is {cause!r}": c.cause.is_null()
    == (c.state == "FAILED"),
    f"a cause must be one of {', '.join(_CAUSES)}; it is {{cause!r}}": ~c.cause.is_in(_CAUSES),
    "PRUNED trials of a search, and no others, must have a rung; it is {rung}": c.rung.is_null()
    == (_IS_SEARCH & (c.state == "PRUNED")),
    "it has {epochs_run} epochs of {epochs_planned}, all of which a COMPLETE trial has": (
        (c.epochs_run > c.epochs_planned)
        | ((c.epochs_run < c.epochs_planned) & (c.state == "COMPLETE"))
    ),
    "a trial of a search must have no test scores": _IS_SEARCH & c.is_tested & ~c.tests_searches,
    "the trials of {block} must have one set of test images": _is_another("test_hash", "block"),
    "the trials of {backbone} must start from the same weights": _is_another(
        "weights", "backbone"
    ),
    "what is compared must be trained and validated on the same classes, in {block} too": (
        _is_another("protocol_hash", "block", "stage", "protocol", "repeat", "train_on")
    ),
    "it is a copy of trial {same_as}, which has no row": (
        c.same_as.is_not_null() & ~c.same_as.is_in(c.trial_id.implode())
    ),
    "a final must be of the default or of the winner": _IS_FINAL & ~c.is_default & ~c.is_winner,
}


def read_rows(paths: StudyPaths, study: Study) -> pl.DataFrame:
    """One row a trial: flat columns, the folder of its ``file``, whether it is tested.

    Raises:
        CorruptFileError: a file is damaged or foreign.
    """
    folder = str(paths.trials).replace("{", "{{").replace("}", "}}")
    rows = Reader(paths.folder).summarise(
        lambda rows: rows.select(
            ~cs.nested(),
            file=pl.format(f"{folder}/search={{}}", c.search),
            is_tested=c.test_scores.list.len() > 0,
            tests_searches=study.tests_searches,
        )
    )
    return rows.sort("search", "trial_id")


def check_trials(
    paths: StudyPaths,
    study: Study,
    runs: Sequence[Run],
    rows: pl.DataFrame,
    journals: Mapping[str, SearchJournal],
    findings: Findings,
) -> None:
    """Trials fit each other, the plan of their study, and what runs and journals tell of them."""
    asked = {name: {ask.trial_id for ask in it.asks} for name, it in journals.items() if it.asks}
    findings.checked.update(
        copies=rows["same_as"].count(),
        runs=len(runs),
        searches=len(asked),
        asks=sum(len(journal.asks) for journal in journals.values()),
        attempts=sum(len(journal.attempts) for journal in journals.values()),
    )
    if rows.height and not runs:
        findings.problem(paths.runs, "holds no account of a run, while there are trials")
    # Runs count a trial once its row is committed. Failures may be withdrawn since.
    spent = [spent for run in runs for spent in run.spent if spent.use in ("complete", "pruned")]
    if rows.height < (counted := sum(it.tries for it in spent)):
        text = f"must hold the {counted} trials that runs completed; it holds {rows.height}"
        findings.problem(paths.trials, f"{text}. Restore the rows from a copy")
    known = {*asked, *rows.filter(c.stage != "baseline")["search"]}
    for search in sorted(known - {search.id for search in searches(study)}):
        findings.problem(paths.study, f"must plan every search; there are trials of {search}")
    most = max([study.search.trials, *(run.trials_per_search for run in runs)])
    for search in (name for name, trials in asked.items() if len(trials) > most):
        text = f"search {search} must have no more trials than its {most}"
        findings.problem(paths.journals, text)
    findings.check(rows, _RULES)
    numbers = rows.select(cs.float()).columns
    findings.check(rows, {f"{it} must be a finite number": ~c(it).is_finite() for it in numbers})


def check_identities(
    paths: StudyPaths,
    study: Study,
    rows: pl.DataFrame,
    asks: Mapping[str, Sequence[Ask]],
    datasets: Mapping[str, Dataset],
    findings: Findings,
) -> None:
    """Every suggestion and every row is of a trial of the study, as far as its data are here.

    Raises:
        CorruptFileError: an ask is missing, was changed, or is of another study.
    """
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
    parts = rows.partition_by("search", as_dict=True)
    for search_id in sorted({*planned, *(spec.search.id for spec in baselines)}):
        own, specs = asks.get(search_id, ()), list(baselines)
        of_search = parts.get((search_id,), rows.clear())
        if search := planned.get(search_id):
            specs += (check_ask(paths, search, ask, maker) for ask in own)
            specs += _finals(maker, search, own, of_search)
        findings.checked["ids recomputed"] += len(own) + of_search.height
        made: dict[str, list[TrialSpec]] = {}  # a config may be both the default and the winner
        for spec in specs:
            made.setdefault(spec.trial_id, []).append(spec)
        for row in of_search.iter_rows(named=True):
            if not any(_is_of(row, spec) for spec in made.get(row["trial_id"], ())):
                text = "must be of a trial that the study has, in all that says which it is"
                findings.problem(row["file"], f"trial {row['trial_id']}: {text}")


def _is_of(row: Mapping[str, object], spec: TrialSpec) -> bool:
    columns = spec.identity_columns(str(row["study"]))
    return all(row[name] == columns[name] for name in columns.keys() - _OF_PLACE)


def _finals(
    maker: TrialSpecMaker, search: Search, asks: Sequence[Ask], rows: pl.DataFrame
) -> Iterator[TrialSpec]:
    """The finals that the study makes of configs of a search, where rows have some."""
    first = {ask.config_hash: ask for ask in reversed(asks)}
    stop = c.settings.str.json_path_match("$.stop_epoch").cast(pl.Int64, strict=False)
    finals = rows.filter(c.stage == "final", c.config_hash.is_in(first.keys()))
    for of, is_winner, epoch in finals.select("config_hash", "is_winner", stop).unique().rows():
        finalist = Finalist(
            config=first[of].hyperparameters,
            is_default=first[of].index == 0,
            is_winner=bool(is_winner),
            selected_epoch=epoch,
        )
        for spec in maker.final_trials(search, (finalist,), selected_from=0):
            yield from (spec, spec.copy())
