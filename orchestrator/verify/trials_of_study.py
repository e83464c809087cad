"""Checks trials against each other, their searches, and the records beside them."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from orchestrator.results.records.asks import Ask
from orchestrator.results.records.journal import SearchJournal, retried_failures
from orchestrator.results.records.retried import RetriedFailure
from orchestrator.results.records.runs import Run
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.study.blocks import searches
from orchestrator.study.study import Search, Study
from orchestrator.verify.findings import Findings

_ASKS = {"search": pl.String, "ask": pl.Int64, "trial_id": pl.String, "ask_hash": pl.String}
_NUMBERS = {"trial_id": pl.String, "number": pl.Int64}
# What must be equal within a group of trials, the columns that make the group, and why.
# What must be equal within a group of trials, and the columns that make the group.
_SAME_WITHIN = {
    "the trials of {block} must have one set of test images": ("test_hash", ["block"]),
    "the trials of {backbone} must start from the same weights": ("weights", ["backbone"]),
    "what is compared must be trained and validated on the same classes, in {block} too": (
        "protocol_hash",
        ["block", "stage", "protocol", "repeat", "train_on"],
    ),
}
c = pl.col  # c.state is the column of that name


class Results(NamedTuple):
    """All that a results folder holds, in the order in which it is read.

    Attributes:
        paths: the folder.
        study: the study with the trials of its searches.
        runs: its runs.
        rows: one row a trial, as `read_rows` has them.
        journals: search id -> its journal.
    """

    paths: StudyPaths
    study: Study
    runs: Sequence[Run]
    rows: pl.DataFrame
    journals: Mapping[str, SearchJournal]

    @property
    def planned(self) -> dict[str, Search]:
        """Its searches by id."""
        return {search.id: search for search in searches(self.study)}

    @property
    def asks(self) -> dict[str, list[Ask]]:
        """Search id -> its suggestions by index; a block's baselines have none."""
        return {search: journal.asks for search, journal in self.journals.items() if journal.asks}

    @property
    def retried(self) -> dict[str, list[RetriedFailure]]:
        """Trial id -> its withdrawn failures, in order."""
        return retried_failures(self.journals)


def check_groups(rows: pl.DataFrame, findings: Findings) -> None:
    """What trials that are compared must have in common, and copies with their originals."""
    originals = rows.select(same_as="trial_id", original="results", has_row=True)
    rows = rows.join(originals, on="same_as", how="left", maintain_order="left")
    is_copy, has_row = c.same_as.is_not_null(), c.has_row.is_not_null()
    same = {
        text: c(name).ne_missing(c(name).first().over(within))
        for text, (name, within) in _SAME_WITHIN.items()
    }
    of_copies = {
        "it is a copy of trial {same_as}, which has no row": is_copy & ~has_row,
        "it must have the results of trial {same_as}, of which it is a copy": (
            is_copy & has_row & c.results.ne_missing(c.original)
        ),
    }
    findings.check(rows, same | of_copies)
    findings.checked["copies"] += rows["same_as"].count()


def check_records(results: Results, findings: Findings) -> None:
    """Rows are those that runs and attempts tell of, and of no failure that was withdrawn."""
    paths, rows, runs, retried = results.paths, results.rows, results.runs, results.retried
    findings.checked["runs"] += len(runs)
    tried = [key for journal in results.journals.values() for key in journal.attempts]
    findings.checked["attempts"] += len(tried)
    if rows.height and not runs:
        findings.problem(paths.runs, "holds no account of a run, while there are trials")
    # Runs count a trial once its row is committed. Failures may be withdrawn since.
    spent = [spent for run in runs for spent in run.spent if spent.use in ("complete", "pruned")]
    if rows.height < (counted := sum(it.tries for it in spent)):
        text = f"must hold the {counted} trials that runs completed; it holds {rows.height}"
        findings.problem(paths.trials, f"{text}. Restore the rows from a copy")
    for trial_id, failures in retried.items():
        of = [failure.attempts for failure in failures]
        if of != sorted(set(of)):
            text = f"trial {trial_id}: each failure must be of a later attempt than the one before"
            findings.problem(paths.journals, f"{text}; they are of {of}")
    last = [(trial_id, failures[-1].attempts) for trial_id, failures in retried.items()]
    numbers = pl.DataFrame(tried, _NUMBERS, orient="row").group_by("trial_id").agg(c.number.sort())
    withdrawn = pl.DataFrame(last, _NUMBERS, orient="row").rename({"number": "withdrawn"})
    recorded = c.number.list.len().fill_null(0)
    is_pending = (c.attempts == c.withdrawn) & (c.state == "FAILED")
    findings.check(
        rows.join(numbers, on="trial_id", how="left").join(withdrawn, on="trial_id", how="left"),
        {
            "its journal must hold its {attempts} attempts, numbered from 1": (
                (c.number != pl.int_ranges(1, recorded + 1))
                | ((recorded < c.attempts) & c.same_as.is_null())
            ),
            "it was retried after attempt {withdrawn}, its row is of attempt {attempts}": (
                (c.attempts <= c.withdrawn) & ~is_pending
            ),
        },
    )


def check_searches(results: Results, findings: Findings) -> None:
    """Every search is planned, and fits its asks, its budget and its finals."""
    paths, rows, asks = results.paths, results.rows, results.asks
    searched = rows.filter(c.stage == "search")
    findings.checked["searches"] += len(asks)
    findings.checked["asks"] += sum(map(len, asks.values()))
    known = {*asks, *rows.filter(c.stage != "baseline")["search"]}
    for search in sorted(known - results.planned.keys()):
        findings.problem(paths.study, f"must plan every search; there are trials of {search}")
    suggested = [
        (it.search, it.index, it.trial_id, it.config_hash) for them in asks.values() for it in them
    ]
    asked = (
        pl.DataFrame(suggested, _ASKS, orient="row")
        .unique(["search", "trial_id"], keep="first", maintain_order=True)
        .with_columns(place=pl.int_range(pl.len()).over("search"))
    )
    most = max([results.study.search.trials, *(run.trials_per_search for run in results.runs)])
    for search in asked.filter(c.place == most)["search"]:
        findings.problem(
            paths.journals, f"search {search} must have no more trials than its {most}"
        )
    findings.check(
        searched.join(asked, on=["search", "trial_id"], how="left"),
        {
            "index must be {ask}, by its ask; it is {index}": c.index != c.ask,
            "config_hash must be {ask_hash}, by its ask": c.config_hash != c.ask_hash,
            "is_default must be of ask 0 alone; this is {ask}": c.is_default != (c.ask == 0),
        },
    )
    _check_finals(rows.filter(c.stage == "final"), searched, asked, results.retried, findings)


def _check_finals(
    finals: pl.DataFrame,
    searched: pl.DataFrame,
    asked: pl.DataFrame,
    retried: Collection[str],
    findings: Findings,
) -> None:
    """Finals are of the default, or of the best of the trials that they were selected from.

    A trial that was retried may have been a failure when they were selected.
    """
    key, config = ["search", "selected_from", "config_hash"], c.config_hash
    outcomes = searched.select("search", "trial_id", "state", "objective")
    best = (
        finals.select(key)
        .unique()
        .join(asked.join(outcomes, on=["search", "trial_id"]), on="search")
        .filter(c.place < c.selected_from, c.state == "COMPLETE")
        .filter(~c.trial_id.is_in(list(retried)) | (c.ask_hash == config))
        .sort("objective", "place", descending=[True, False])
        .unique(key, keep="first", maintain_order=True)
        .select(*key, best="ask_hash")
    )
    default = asked.filter(c.ask == 0).select("search", default="ask_hash")
    findings.check(
        finals.join(best, on=key, how="left").join(default, on="search", how="left"),
        {
            "a final must be of the default or of the winner": ~c.is_default & ~c.is_winner,
            "its config must be {default}, that of ask 0; it is {config_hash}": (
                config.ne_missing(c.default) & c.is_default
            ),
            "the winner of its search is config {best}; it is of {config_hash}": (
                config.ne_missing(c.best) & c.is_winner
            ),
        },
    )
