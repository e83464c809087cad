"""``podium tournament``: rank the losses of a study, or any table of scores."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from analysis.scores.protocol_runs import protocols_of
from analysis.scores.ranked_score import chosen_late, chosen_score, declared_score
from analysis.scores.study_table import study_table
from analysis.study_results.recorded_fairness import planned_fairness
from analysis.tournament.medals import shared_places
from analysis.tournament.rank_stability import RankStability, rank_stability
from analysis.tournament.sensitivity_to_test import sensitivity_to_test
from analysis.tournament.sensitivity_to_test_text import sensitivity_record
from analysis.tournament.standings_record import standing_records, tournament_record
from analysis.tournament.table_tournament import hold_by_rules
from analysis.tournament.tournament import Tournament, hold_tournament
from analysis.typed_tables.row_filters import parse_condition
from analysis.typed_tables.score_table import ScoreTable
from analysis.typed_tables.table_file import is_table
from orchestrator.results.records.fairness_record import Fairness
from orchestrator.results.records.metric_columns import RankedScore
from orchestrator.results.records.tournament_rules import TournamentRules, rules_of
from orchestrator.results.storage.locations import Place
from podium.arguments.rules_argument import Alpha, AskedQuestion, GivenRules, Rope, Test
from podium.arguments.shipped_files import or_shipped
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

_K = "k"

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
    question: AskedQuestion = None,
    test: Test = None,
    alpha: Alpha = None,
    rope: Rope = None,
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
    Published defaults: --where finalist=default. Another score: --score nmi, f1, recall@4. Of
    several protocols the first that does not leak: --where protocol=LABEL. Trained on all
    classes: --where train_on=all. A study has declared its question, primary test and level;
    tables take --question, --test and --alpha.

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
    ranked = _ranked(or_shipped(source), options, storage)
    given = GivenRules(question=question, test=test, alpha=alpha, rope_points=rope)
    if each is None:
        _rank(ranked, given, as_json=as_json, as_csv=as_csv)
        return
    given.refuse("--each makes no test")
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

    def rules(self, given: GivenRules) -> TournamentRules:
        return given.of_table()

    def fairness(self) -> Fairness | None:
        return None


@dataclass(frozen=True, slots=True)
class _Study:
    """The results of a study, which declared its rules before it ran."""

    reader: "Reader"
    where: Sequence[str]
    score: str | None

    rope_unit = 100  # points of a recall from 0 to 1

    def scores(self, k: int | None = None) -> ScoreTable:
        study = self.reader.study()
        declared, score = declared_score(self.reader), chosen_score(self.reader, self.score)
        self._refuse_k(score)
        is_other_k = score.k not in (0, study["ks"][0])
        table = study_table(
            self.reader.trials(),
            self.reader.test_scores(),
            primary_k=score.k if k is None else k,
            metric=score.metric,
            # So that the answer says which K.
            named=score.name if is_other_k and k is None and not self._states_k else None,
            where=self.where,
            protocols=protocols_of(study),
        )
        late = chosen_late(score, declared)
        return replace(table, warnings=(late, *table.warnings)) if late else table

    def scores_by(self, factor: str) -> ScoreTable:
        score = chosen_score(self.reader, self.score)
        if factor == _K and not score.k:
            raise PodiumError(f"--each k ranks under every K; {score.label} has none")
        return study_table_by_factor(self.scores, self.reader.study()["ks"], self.where, factor)

    def _refuse_k(self, score: RankedScore) -> None:
        """Refuse a second K beside that of the score, and any where the score has none."""
        if not self._states_k:
            return
        if not score.k:
            raise PodiumError(f"{score.label} has no K; leave --where k=... out")
        if self.score is not None:
            raise PodiumError(f"--score {score.name} states the K; leave --where k=... out")

    @property
    def _states_k(self) -> bool:
        return _K in dict(map(parse_condition, self.where))

    def rules(self, given: GivenRules) -> TournamentRules:
        return given.of_study(rules_of(self.reader.study()))

    def fairness(self) -> Fairness | None:
        return planned_fairness(self.reader.provenance())


def _ranked(source: Place, options: TableOptions, storage: Place | None) -> _Table | _Study:
    """What is at ``source``. An option that would be ignored is refused."""
    if is_table(source):
        if storage is not None:
            raise PodiumError(f"--storage goes with a study; {source} is a table")
        return _Table(source, options)
    options.refuse_with_study(source, taken=("where", "score"))
    from orchestrator.results.trial_files.reader import Reader

    return _Study(Reader(results_folder(source, storage)), options.where, options.score)


def _rank(ranked: _Table | _Study, given: GivenRules, *, as_json: bool, as_csv: bool) -> None:
    """Hold the tournament and print it."""
    scores, rules = ranked.scores(), ranked.rules(given)
    tournament, runs = hold_by_rules(scores, rules)
    stability = rank_stability(tournament, runs)
    if as_csv and not as_json:
        print_table(_rows(tournament, stability), as_csv=True)
        return
    rope = None if rules.rope_points is None else rules.rope_points / ranked.rope_unit
    sensitivity = sensitivity_to_test(tournament, runs, rope=rope)
    pseudo = _pseudo_blocks(scores, tournament)
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


def _pseudo_blocks(table: ScoreTable, tournament: Tournament) -> Tournament | None:
    """With one block, its runs ranked one by one, for description only."""
    if len(tournament.blocks) > 1 or not table.run_columns:
        return None
    try:
        return hold_tournament(
            table.runs,
            by=(*table.by, *table.run_columns),
            competitor=table.competitor,
            score=table.score,
        )
    except PodiumError:
        return None  # no run holds every competitor
