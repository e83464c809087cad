"""``podium tournament``: rank the losses of a study, or any table of scores."""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from analysis.scores.protocol_runs import protocols_of
from analysis.scores.study_table import BLOCK_COLUMNS, study_table
from analysis.study_results.recorded_fairness import planned_fairness
from analysis.tournament.block_runs import block_runs
from analysis.tournament.medals import shared_places
from analysis.tournament.rank_stability import rank_stability
from analysis.tournament.sensitivity_to_test import sensitivity_to_test
from analysis.tournament.sensitivity_to_test_text import sensitivity_record
from analysis.tournament.standings_record import standing_records, tournament_record
from analysis.tournament.tournament import Tournament, hold_tournament
from analysis.typed_tables.score_table import ScoreTable, read_table
from analysis.typed_tables.table_file import is_table
from orchestrator.results.records.tournament_rules import TEST_LABELS, TournamentRules, rules_of
from orchestrator.results.storage.locations import Place
from podium.arguments.study_argument import GivenPlace, StorageFolder, given_place, results_folder
from podium.errors import PodiumError
from podium.terminal.printing import AsCsv, AsJson, print_json, print_table, say
from podium.terminal.tournament_answer import (
    print_subgroups,
    study_table_by_factor,
    tournament_answer,
)

if TYPE_CHECKING:
    from orchestrator.results.trial_files.reader import Reader

__all__ = ["command"]

_PERCENT = 100
_BY, _COMPETITOR, _SCORE = ",".join(BLOCK_COLUMNS), "loss", "recall"


def command(
    source: Annotated[
        GivenPlace,
        typer.Argument(
            parser=given_place,
            metavar="FILE_OR_STUDY",
            help="A table (CSV or Parquet), a study file (YAML) or a results folder.",
        ),
    ],
    by: Annotated[str, typer.Option(help="Columns of a table that together name a block.")] = _BY,
    competitor: Annotated[
        str, typer.Option(help="Column of a table with the losses.")
    ] = _COMPETITOR,
    score: Annotated[
        str, typer.Option(help="Column of a table with the scores; higher is better.")
    ] = _SCORE,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=VALUE", help="Keep such rows only, as in k=1. Repeatable."),
    ] = None,
    average: Annotated[
        str | None,
        typer.Option(metavar="COLUMNS", help="Average over these columns, such as seed,fold."),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Primary test of a table: wilcoxon_holm (default), nemenyi, permutation_holm.",
        ),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(help="Level of all tests of a table; 0.05.", min=0.0001, max=0.4999),
    ] = None,
    rope: Annotated[
        float | None,
        typer.Option(
            help="Differences of a table that count as none, in units of its score.", min=0
        ),
    ] = None,
    each: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMNS",
            help="Rank within each value of these instead, such as backbone,k; no test is made.",
        ),
    ] = None,
    storage: StorageFolder = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Rank losses within blocks (data set x backbone x dimension) and test the differences.

    Of a study, the winners of its searches are ranked by test recall (continuous labels: nDCG).
    Published defaults: --where finalist=default. Another K: --where k=4. Of several protocols the
    first that does not leak: --where protocol=LABEL. Trained on all classes: --where train_on=all.
    A study has declared its primary test and level; tables take --test and --alpha.

    Example: podium tournament scores.csv --by dataset,backbone --score recall --where k=1
    """
    _refuse_unused(source, by, competitor, score, average, storage)
    given = {"test": test, "alpha": alpha, "rope_points": rope}
    if each is not None:
        if ignored := [name for name, value in given.items() if value is not None]:
            raise PodiumError(f"--each makes no test, so {_option(ignored[0])} would be ignored")
        factors = _names(each, "--each")
        table_of = _tables_by_factor(source, by, competitor, score, where, average, storage)
        print_subgroups(factors, table_of, as_json=as_json, as_csv=as_csv)
        return
    fairness = None
    if is_table(source):
        table = read_table(
            source,
            by=_names(by, "--by"),
            competitor=competitor,
            score=score,
            where=where or (),
            average=_names(average, "--average") if average is not None else (),
        )
        rules = _rules_of_table(given)
        region = rules.rope_points
    else:
        from orchestrator.results.trial_files.reader import Reader

        reader = Reader(results_folder(source, storage))
        rules = _rules_of_study(rules_of(reader.study()), given)
        region = None if rules.rope_points is None else rules.rope_points / _PERCENT
        table = _of_study(reader, where or [])
        fairness = planned_fairness(reader.provenance())
    tournament = _held(table, table.by, rules)
    runs = block_runs(table, tournament)
    stability = rank_stability(tournament, runs)
    under = None if as_csv else sensitivity_to_test(tournament, runs, rope=region)
    pseudo = _pseudo_blocks(table, tournament, rules)
    if as_json:
        pseudo_record = (
            {"by": pseudo.by, "competitors": standing_records(pseudo)} if pseudo else None
        )
        print_json(
            {
                **tournament_record(tournament, stability),
                "sensitivity_to_test": sensitivity_record(tournament, under) if under else None,
                "warnings": table.warnings,
                "pseudo_blocks": pseudo_record,
                "fairness": fairness.to_dict() if fairness else None,
            }
        )
    elif as_csv:
        shared = shared_places(tournament, stability)
        rows = standing_records(tournament)
        rows = [
            {**row, "shared_with": ", ".join(shared.get(row["competitor"], ()))} for row in rows
        ]
        print_table(rows, as_csv=True)
    else:
        say(tournament_answer(table, tournament, stability, under, pseudo, fairness))


def _refuse_unused(
    source: Place,
    by: str,
    competitor: str,
    score: str,
    average: str | None,
    storage: Place | None,
) -> None:
    """Refuse an option that would be ignored."""
    if is_table(source):
        if storage is not None:
            raise PodiumError(f"--storage goes with a study; {source} is a table")
        return
    is_given = {
        "--by": by != _BY,
        "--competitor": competitor != _COMPETITOR,
        "--score": score != _SCORE,
        "--average": average is not None,
    }
    for option in (name for name, given in is_given.items() if given):
        raise PodiumError(
            f"{option} goes with a table (.csv or .parquet); {source} is taken for a study"
        )


def _tables_by_factor(
    source: Place,
    by: str,
    competitor: str,
    score: str,
    where: list[str] | None,
    average: str | None,
    storage: Place | None,
) -> Callable[[str], ScoreTable]:
    """Function that gives the table for subgroups by a factor."""
    if is_table(source):
        blocks = _names(by, "--by")

        def of_table(factor: str) -> ScoreTable:
            return read_table(
                source,
                by=blocks if factor in blocks else (*blocks, factor),
                competitor=competitor,
                score=score,
                where=where or (),
                average=_names(average, "--average") if average is not None else (),
            )

        return of_table
    from orchestrator.results.trial_files.reader import Reader

    reader = Reader(results_folder(source, storage))
    return lambda factor: study_table_by_factor(reader, where or (), factor)


def _of_study(reader: "Reader", where: list[str]) -> ScoreTable:
    return study_table(
        reader.trials(),
        reader.test_scores(),
        primary_k=reader.study()["ks"][0],
        metric=reader.objective,
        where=where,
        protocols=protocols_of(reader.study()),
    )


def _rules_of_table(given: Mapping[str, Any]) -> TournamentRules:
    if given["test"] not in (None, *TEST_LABELS):
        raise PodiumError(f"--test must be one of {', '.join(TEST_LABELS)}; got {given['test']!r}")
    if given["rope_points"] == math.inf:
        raise PodiumError("--rope must be finite; got inf")
    return TournamentRules(**{name: value for name, value in given.items() if value is not None})


def _rules_of_study(declared: TournamentRules, given: Mapping[str, Any]) -> TournamentRules:
    """The study's own: a test chosen after the run would be chosen by its outcome."""
    for name, stated in asdict(declared).items():
        if given[name] not in (None, stated):
            raise PodiumError(
                f"{_option(name)} is for tables; this study declared tournament.{name}: "
                f"{'null' if stated is None else stated} before it ran, and the other tests "
                f"are shown beside it; got {given[name]}"
            )
    return declared


def _option(rule: str) -> str:
    return "--rope" if rule == "rope_points" else f"--{rule}"


def _held(table: ScoreTable, by: tuple[str, ...], rules: TournamentRules) -> Tournament:
    frame = table.cells if by == table.by else table.runs
    return hold_tournament(
        frame,
        by=by,
        competitor=table.competitor,
        score=table.score,
        alpha=rules.alpha,
        test=rules.test,
    )


def _pseudo_blocks(
    table: ScoreTable, tournament: Tournament, rules: TournamentRules
) -> Tournament | None:
    """With one block, its runs ranked one by one, for description only."""
    if not (tournament.is_descriptive and table.run_columns):
        return None
    try:
        return _held(table, (*table.by, *table.run_columns), rules)
    except PodiumError:
        return None  # no run holds every competitor


def _names(text: str, option: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise PodiumError(f"{option} must be column names divided by commas; got {text!r}")
    return names
