"""``podium tournament``: rank the losses of a study, or any table of scores."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from analysis.scores.protocol_runs import protocols_of
from analysis.scores.study_table import study_table
from analysis.study_results.recorded_fairness import planned_fairness
from analysis.tournament.block_runs import block_runs
from analysis.tournament.medals import shared_places
from analysis.tournament.rank_stability import RankStability, rank_stability
from analysis.tournament.sensitivity_to_test import sensitivity_to_test
from analysis.tournament.sensitivity_to_test_text import sensitivity_record
from analysis.tournament.standings_record import standing_records, tournament_record
from analysis.tournament.tournament import Tournament, hold_tournament
from analysis.typed_tables.score_table import ScoreTable
from analysis.typed_tables.table_file import is_table
from orchestrator.results.records.fairness_record import Fairness
from orchestrator.results.records.tournament_rules import TEST_LABELS, TournamentRules, rules_of
from orchestrator.results.storage.locations import Place
from podium.arguments.study_argument import GivenPlace, StorageFolder, given_place, results_folder
from podium.arguments.table_argument import (
    Average,
    By,
    Competitor,
    LowerIsBetter,
    Score,
    TableOptions,
    Where,
    Without,
    column_names,
)
from podium.errors import PodiumError
from podium.terminal.printing import AsCsv, AsJson, print_json, print_table, say
from podium.terminal.table_reading import say_reading
from podium.terminal.tournament_answer import (
    print_subgroups,
    study_table_by_factor,
    tournament_answer,
)

if TYPE_CHECKING:
    from orchestrator.results.trial_files.reader import Reader


def command(
    source: Annotated[
        GivenPlace,
        typer.Argument(
            parser=given_place,
            metavar="FILE_OR_STUDY",
            help="A table (CSV, LaTeX, Markdown, Parquet), a study file (YAML) or a results"
            " folder.",
        ),
    ],
    by: By = None,
    competitor: Competitor = None,
    score: Score = None,
    where: Where = None,
    average: Average = None,
    without: Without = None,
    lower_is_better: LowerIsBetter = False,
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
    options = TableOptions(
        by=by,
        competitor=competitor,
        score=score,
        where=where or (),
        average=average,
        without=without or (),
        lower_is_better=lower_is_better,
    )
    ranked = _ranked(source, options, storage)
    rules = {"test": test, "alpha": alpha, "rope_points": rope}
    given = {name: value for name, value in rules.items() if value is not None}
    if each is None:
        _rank(ranked, given, as_json=as_json, as_csv=as_csv)
        return
    if given:
        raise PodiumError(
            f"--each makes no test, so {_option(next(iter(given)))} would be ignored"
        )
    factors = column_names(each, "--each")
    print_subgroups(factors, ranked.scores_by, as_json=as_json, as_csv=as_csv)


@dataclass(frozen=True, slots=True)
class _Table:
    """A typed table, which is ranked by the rules that are given with it."""

    path: Path
    options: TableOptions

    rope_unit = 1

    def scores(self) -> ScoreTable:
        table = self.options.read(self.path)
        say_reading(table)
        return table

    def scores_by(self, factor: str) -> ScoreTable:
        return self.options.read(self.path, factor)

    def rules(self, given: Mapping[str, Any]) -> TournamentRules:
        if "test" in given and given["test"] not in TEST_LABELS:
            known = ", ".join(TEST_LABELS)
            raise PodiumError(f"--test must be one of {known}; got {given['test']!r}")
        if given.get("rope_points") == math.inf:
            raise PodiumError("--rope must be finite; got inf")
        return TournamentRules(**given)

    def fairness(self) -> Fairness | None:
        return None


@dataclass(frozen=True, slots=True)
class _Study:
    """The results of a study, which declared its rules before it ran."""

    reader: "Reader"
    where: Sequence[str]

    rope_unit = 100  # points of a recall from 0 to 1

    def scores(self, k: int | None = None) -> ScoreTable:
        study = self.reader.study()
        return study_table(
            self.reader.trials(),
            self.reader.test_scores(),
            primary_k=study["ks"][0] if k is None else k,
            metric=self.reader.objective,
            where=self.where,
            protocols=protocols_of(study),
        )

    def scores_by(self, factor: str) -> ScoreTable:
        return study_table_by_factor(self.scores, self.reader.study()["ks"], self.where, factor)

    def rules(self, given: Mapping[str, Any]) -> TournamentRules:
        """Those declared: a test chosen after the run would be chosen by its outcome."""
        declared = rules_of(self.reader.study())
        for name, value in given.items():
            stated = getattr(declared, name)
            if value != stated:
                raise PodiumError(
                    f"{_option(name)} is for tables; this study declared tournament.{name}: "
                    f"{'null' if stated is None else stated} before it ran, and the other tests "
                    f"are shown beside it; got {value}"
                )
        return declared

    def fairness(self) -> Fairness | None:
        return planned_fairness(self.reader.provenance())


def _ranked(source: Place, options: TableOptions, storage: Place | None) -> _Table | _Study:
    """What is at ``source``. An option that would be ignored is refused."""
    if is_table(source):
        if storage is not None:
            raise PodiumError(f"--storage goes with a study; {source} is a table")
        return _Table(source, options)
    options.refuse_with_study(source, takes_where=True)
    from orchestrator.results.trial_files.reader import Reader

    return _Study(Reader(results_folder(source, storage)), options.where)


def _option(rule: str) -> str:
    return "--rope" if rule == "rope_points" else f"--{rule}"


def _rank(
    ranked: _Table | _Study, given: Mapping[str, Any], *, as_json: bool, as_csv: bool
) -> None:
    """Hold the tournament and print it."""
    scores, rules = ranked.scores(), ranked.rules(given)
    tournament = _held(scores, scores.by, rules)
    runs = block_runs(scores, tournament)
    stability = rank_stability(tournament, runs)
    if as_csv and not as_json:
        print_table(_rows(tournament, stability), as_csv=True)
        return
    rope = None if rules.rope_points is None else rules.rope_points / ranked.rope_unit
    sensitivity = sensitivity_to_test(tournament, runs, rope=rope)
    pseudo = _pseudo_blocks(scores, tournament, rules)
    fairness = ranked.fairness()
    if not as_json:
        say(tournament_answer(scores, tournament, stability, sensitivity, pseudo, fairness))
        return
    pseudo_record = {"by": pseudo.by, "competitors": standing_records(pseudo)} if pseudo else None
    print_json(
        {
            **tournament_record(tournament, stability),
            "sensitivity_to_test": sensitivity and sensitivity_record(tournament, sensitivity),
            "warnings": scores.warnings,
            "pseudo_blocks": pseudo_record,
            "fairness": fairness and fairness.to_dict(),
            "read_as": scores.reading and scores.reading.record(),
        }
    )


def _rows(tournament: Tournament, stability: RankStability | None) -> list[dict[str, Any]]:
    """The standings, one row a competitor, with whom it shares its place."""
    shared = shared_places(tournament, stability)
    return [
        {**row, "shared_with": ", ".join(shared.get(row["competitor"], ()))}
        for row in standing_records(tournament)
    ]


def _held(table: ScoreTable, by: tuple[str, ...], rules: TournamentRules) -> Tournament:
    return hold_tournament(
        table.cells if by == table.by else table.runs,
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
    if len(tournament.blocks) > 1 or not table.run_columns:
        return None
    try:
        return _held(table, (*table.by, *table.run_columns), rules)
    except PodiumError:
        return None  # no run holds every competitor
