"""Checks trials against each other, their searches, and the records beside them.

The records are asks (stored suggestions), attempts, and failures that were retried.
"""

from collections.abc import Callable, Collection, Mapping, Sequence

import polars as pl

from orchestrator.ids_and_seeds import config_hash
from orchestrator.results.records.asks import Ask
from orchestrator.results.records.journal import SearchJournal, read_journals
from orchestrator.results.records.retried import RetriedFailure
from orchestrator.results.records.runs import Run
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import list_folders
from orchestrator.trials.failure_causes import FAILURE_CAUSES
from orchestrator.verify.findings import Findings, Rule, some_of

c = pl.col  # c.state is the column of that name
_ASKS = {"search": pl.String, "ask": pl.Int64, "trial_id": pl.String, "ask_hash": pl.String}
_ATTEMPTS = {"trial_id": pl.String, "of": pl.String, "number": pl.Int64, "cause": pl.String}
_TEXTS, _NUMBERS = ("file", "trial_id", "search", "cause"), ("number", "after", "suggested")
_FAILURES = {**dict.fromkeys(_TEXTS, pl.String), **dict.fromkeys(_NUMBERS, pl.Int64)}
# (column, columns within whose groups it must be equal, message)
_SAME_WITHIN: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("test_hash", ("block",), "the trials of a block must have one set of test images"),
    ("weights", ("backbone",), "the trials of a backbone must start from the same weights"),
    (
        "protocol_hash",
        ("block", "stage", "protocol", "repeat", "train_on"),
        "what is compared must be trained and validated on the same classes",
    ),
)


def read_sound_journals(
    paths: StudyPaths, runs: Sequence[Run], findings: Findings
) -> dict[str, SearchJournal]:
    """Search id -> its journal; one that cannot be read is left out and reported."""
    found: dict[str, SearchJournal] = {}
    for folder in list_folders(paths.journals):
        with findings.reading(folder):
            found |= read_journals(paths, [folder.name], runs=runs)
    return found


def check_asks(
    paths: StudyPaths,
    journals: Mapping[str, SearchJournal],
    expected_id: Callable[[Ask], str | None],
    findings: Findings,
) -> pl.DataFrame:
    """One row an ask, by search and index.

    Args:
        paths: the results folder.
        journals: search id -> its journal.
        expected_id: gives the trial that the config of an ask is; None where that is not known.
        findings: collects problems.
    """
    asks = [ask for journal in journals.values() for ask in journal.asks]
    for ask in asks:
        expected, broken = expected_id(ask), list[tuple[str, str]]()
        if ask.config_hash != config_hash(ask.hyperparameters):
            broken.append(("config_hash must be that of its config", ask.config_hash))
        if (ask.index == 0) != (ask.source == "default"):
            broken.append(("ask 0, and no other, is the published default", ask.source))
        if expected not in (None, ask.trial_id):
            rule = f"its config is trial {expected} of this study: the file is of another"
            broken.append((rule, ask.trial_id))
        for rule, value in broken:
            folder = paths.journal_folder(ask.search)
            findings.problem(folder, rule, f"{value} of ask {ask.index}")
    findings.checked["asks"] += len(asks)
    rows = [(ask.search, ask.index, ask.trial_id, ask.config_hash) for ask in asks]
    return pl.DataFrame(rows, schema=_ASKS, orient="row")


def check_attempts(
    paths: StudyPaths,
    journals: Mapping[str, SearchJournal],
    rows: pl.DataFrame,
    open_trials: Collection[str],
    findings: Findings,
) -> None:
    """Attempts are numbered without a gap, and belong to trials that were suggested.

    Args:
        paths: the results folder.
        journals: search id -> its journal.
        rows: every trial with a row.
        open_trials: ids of trials that were suggested and have no row.
        findings: collects problems and notes.
    """
    found = [it.attempts[key] for it in journals.values() for key in sorted(it.attempts)]
    records = [(it.trial_id, it.search, it.number, it.cause) for it in found]
    findings.checked["attempts"] += len(records)
    place = pl.concat_str(pl.lit(f"{paths.journals}/"), pl.coalesce("search", "of"))
    attempts = (
        pl.DataFrame(records, schema=_ATTEMPTS, orient="row")
        .group_by("trial_id", maintain_order=True)
        .agg(c.of.first(), "number", c.cause.last())
        .join(rows.drop("file"), on="trial_id", how="full", coalesce=True)
        .with_columns(c.number.fill_null([]), file=place)
    )
    count, is_trained = c.number.list.len(), c.same_as.is_null() & (c.attempts > 0)
    folders = {folder.name for folder in list_folders(paths.journals)}
    is_lost = pl.coalesce("search", "of").is_in(list(folders - journals.keys()))
    too_few = "there must be {attempts} attempts, as its row says"
    findings.check(
        attempts.filter(~is_lost),
        Rule(
            "attempts must be numbered from 1 without a gap",
            c.number != pl.int_ranges(1, count + 1),
        ),
        Rule(too_few, count.is_between(1, c.attempts - 1)),
        Rule("had {attempts} attempts: there must be records", (count == 0) & is_trained),
    )
    rowless = attempts.filter(c.search.is_null())
    ended = rowless.filter(c.cause == "complete")["trial_id"].to_list()
    unknown = rowless.filter(~c.trial_id.is_in(list(open_trials)))
    if unknown.height:
        findings.note(
            paths.journals,
            f"{unknown.height} trials with attempts have no row: finals or baselines that were"
            " not finished, or trials of the study as it was before",
        )
    if ended:
        findings.note(
            paths.journals,
            f"{len(ended)} trials ended and have no row: {some_of(ended)}; the run"
            " was killed at that moment, or their rows were lost",
            "podium run trains them again",
        )


def check_retried(
    paths: StudyPaths,
    retried: Mapping[str, Sequence[RetriedFailure]],
    rows: pl.DataFrame,
    asks: pl.DataFrame,
    findings: Findings,
) -> None:
    """Failures are numbered without a gap, and attempts after them made the rows there are."""
    every = [failure for failures in retried.values() for failure in failures]
    records = [
        (
            *(str(paths.journal_folder(it.search)), it.trial_id, it.search),
            *(it.cause, it.number, it.attempts, it.asks),
        )
        for it in every
    ]
    of_search = asks.group_by("search").agg(asked=pl.len())
    failures = (
        pl.DataFrame(records, schema=_FAILURES, orient="row")
        .join(of_search, on="search", how="left", maintain_order="left")
        .with_columns(c.asked.fill_null(0))
    )
    place, before = pl.int_range(1, pl.len() + 1), c.after.shift()
    causes = list(FAILURE_CAUSES)
    findings.check(
        failures.with_columns(place=place.over("trial_id"), before=before.over("trial_id")),
        Rule("failures must be numbered from 1 without a gap", c.number != c.place),
        Rule("each failure must be of a later attempt than the one before", c.after <= c.before),
        Rule(f"a cause must be one of {', '.join(causes)}", ~c.cause.is_in(causes)),
        Rule(
            "its search has {asked} suggestions, so no more can have been made by then",
            c.suggested > c.asked,
        ),
    )
    last = failures.group_by("trial_id").agg(c.after.last())
    stale = rows.join(last, on="trial_id", maintain_order="left").filter(c.attempts <= c.after)
    is_open = (c.attempts == c.after) & (c.state == "FAILED")
    rule = "was retried after attempt {after}, its row must be of a later one"
    findings.check(stale, Rule(rule, ~is_open))
    interrupted = stale.filter(is_open)["trial_id"].to_list()
    if interrupted:
        findings.note(
            paths.journals,
            f"{len(interrupted)} failed trials are to be retried and still have their rows:"
            f" {some_of(interrupted)}; the run was killed at that moment",
            "podium run continues with them",
        )


def check_lost_rows(
    paths: StudyPaths, runs: Sequence[Run], num_rows: int, findings: Findings
) -> None:
    """Runs count a trial once its row is committed, so there are at least as many rows.

    Failures may be withdrawn, so they are left out. Rows of a file
    that cannot be read were reported with it.
    """
    if findings.problems:
        return
    if num_rows and not runs:
        rule = "holds no account of a run, while there are trials"
        findings.problem(paths.runs, rule, None, "Restore the folder from a copy")
    ends = ("complete", "pruned")
    counted = sum(spent.tries for run in runs for spent in run.spent if spent.use in ends)
    if counted > num_rows:
        findings.problem(
            paths.trials,
            f"must hold the {counted} trials that runs completed: the folder was copied in part,"
            " or rows were lost",
            num_rows,
            "Copy the folder again, or restore the rows from a copy",
        )


def check_groups(rows: pl.DataFrame, findings: Findings) -> None:
    """What trials that are compared must have in common, and copies with their originals."""
    for column, within, rule in _SAME_WITHIN:
        first = rows.unique([*within, column], keep="first", maintain_order=True)
        for group, own in first.group_by(within, maintain_order=True):
            if own.height > 1:
                found = own.select(column, "trial_id").iter_rows()
                values = ", ".join(f"{value} in trial {trial_id}" for value, trial_id in found)
                where = " ".join(str(part) for part in group if part is not None)
                findings.problem(own["file"][-1], f"{where}: {rule} ({column})", values)
    originals = rows.select(same_as="trial_id", original="results", has_row=True)
    copies = rows.drop_nulls("same_as").join(originals, on="same_as", how="left")
    findings.checked["copies"] += copies.height
    findings.check(
        copies,
        Rule("is a copy of a trial that has no row", c.has_row.is_null(), "same_as"),
        Rule(
            "must have the results of the one it is a copy of",
            c.results.ne_missing(c.original) & c.has_row,
            "same_as",
        ),
    )


def check_searches(
    paths: StudyPaths,
    planned: Collection[str] | None,
    most_trials: int,
    rows: pl.DataFrame,
    asks: pl.DataFrame,
    retried: Collection[str],
    findings: Findings,
) -> None:
    """Check every search against its asks, its budget and its finals.

    Args:
        paths: the results folder.
        planned: ids of the searches of the study; None if they are not known.
        most_trials: most trials that each search may have had, under any run's budget.
        rows: every trial with a row.
        asks: every ask that can be read.
        retried: ids of trials with withdrawn failures.
        findings: collects problems.
    """
    suggested = {*asks["search"], *rows.filter(c.stage.ne_missing("baseline"))["search"]}
    planned = {*suggested, *rows["search"]} if planned is None else planned
    for search in sorted(suggested - {*planned}):
        findings.problem(paths.folder, "study.yaml must plan every search", search)
    findings.checked["searches"] += len({*planned} & {*suggested, *rows["search"]})
    is_planned = c.search.is_in(list(planned))
    rows, asks = rows.filter(is_planned), asks.filter(is_planned)
    distinct = asks.unique(["search", "trial_id"], keep="first", maintain_order=True)
    distinct = distinct.with_columns(place=pl.int_range(pl.len()).over("search"))
    counts = distinct.group_by("search", maintain_order=True).agg(asked=pl.len())
    for search, asked in counts.filter(c.asked > most_trials).iter_rows():
        rule = f"no search may have more trials than its {most_trials}"
        findings.problem(paths.journals / search, rule, asked)
    is_search = c.stage == "search"
    searched = rows.filter(is_search).join(distinct, on=["search", "trial_id"], how="left")
    unasked = searched.filter(c.ask.is_null())
    for search, index, trial_id in unasked.select("search", "index", "trial_id").iter_rows():
        findings.problem(
            paths.journals / search,
            f"trial {trial_id} has a row and must have its ask, {index}",
            "missing, or another's",
            "Restore the file from a copy",
        )
    ask = c.ask
    columns = {"index": ask, "config_hash": c.ask_hash, "is_default": ask == 0}
    findings.check(
        searched.drop_nulls("ask"),
        *(
            Rule(f"{name} must be {{expected!r}}, by its ask", c(name).ne_missing(it), name, it)
            for name, it in columns.items()
        ),
    )
    finals = rows.filter(c.stage == "final").join(counts, on="search", how="left")
    _check_finals(finals, rows, distinct, retried, findings)


def _check_finals(
    finals: pl.DataFrame,
    rows: pl.DataFrame,
    asks: pl.DataFrame,
    retried: Collection[str],
    findings: Findings,
) -> None:
    """Finals are of the default, or of the best of the trials that they were selected from.

    A trial that was retried may have been a failure when they were selected.
    """
    key = ["search", "selected_from", "config_hash"]
    is_retried, config = c.trial_id.is_in(list(retried)), c.config_hash
    outcomes = rows.select("search", "trial_id", "state", "objective", has_row=True)
    rivals = (
        finals.select(key)
        .unique()
        .join(asks, on="search")
        .filter(c.place < c.selected_from)
        .join(outcomes, on=["search", "trial_id"], how="left")
        .sort("objective", "place", descending=[True, False], nulls_last=True)
    )
    was_there = ~is_retried | (c.ask_hash == config)
    sound = rivals.filter(c.state == "COMPLETE", was_there).drop_nulls("objective")
    lost = rivals.filter(c.has_row.is_null(), ~is_retried)
    for name, column, found in (("best", "ask_hash", sound), ("lost", "trial_id", lost)):
        first = found.unique(key, keep="first", maintain_order=True)
        finals = finals.join(first.select(*key, c(column).alias(name)), on=key, how="left")
    defaults = asks.filter(c.ask == 0).select("search", default="ask_hash")
    findings.check(
        finals.join(defaults, on="search", how="left"),
        Rule(
            "a final must be of the default or of the winner",
            ~c.is_default & ~c.is_winner,
            pl.lit("neither"),
        ),
        Rule("its config must be that of ask 0", config.ne_missing(c.default) & c.is_default),
        Rule(
            "its search must have the {selected_from} trials it was selected from",
            c.asked.fill_null(0) < c.selected_from,
        ),
        Rule(
            "the trials that it was selected from must have rows, {lost} too", c.lost.is_not_null()
        ),
        Rule(
            "the winner of its search is config {best}",
            config.ne_missing(c.best) & c.is_winner & c.lost.is_null(),
        ),
    )
