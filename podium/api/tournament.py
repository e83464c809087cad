"""Tournaments from Python: of a study, and of any table of scores."""

import sys
from dataclasses import asdict, replace
from pathlib import Path

import polars as pl

from podium.analysis.report.leaderboard import rank_tables
from podium.analysis.scores.protocol_runs import protocols_of
from podium.analysis.scores.ranked_score import chosen_late, chosen_score, declared_score
from podium.analysis.scores.shown_reader import ShownReader
from podium.analysis.scores.study_table import study_table
from podium.analysis.study_results.recorded_fairness import planned_fairness
from podium.analysis.study_results.study_results import PERCENT
from podium.analysis.tournament.standings_record import standing_records, tournament_record
from podium.analysis.tournament.table_tournament import hold_by_rules
from podium.analysis.tournament.verdict_text import headline, verdict_sentences
from podium.analysis.typed_tables.row_filters import parse_condition
from podium.analysis.typed_tables.score_table import ScoreTable, read_table
from podium.analysis.typed_tables.table_file import TableFile, is_table, table_of_frame
from podium.analysis.typed_tables.table_options import (
    Conditions,
    Names,
    TableOptions,
    conditions,
)
from podium.analysis.wording import counted, renamed
from podium.api.answer import Answer
from podium.arguments.rules_argument import GivenRules
from podium.arguments.shipped_files import or_shipped
from podium.errors import PodiumError
from podium.orchestrator.results.records.fairness_record import Fairness
from podium.orchestrator.results.records.metric_columns import known_test_columns, metric_label
from podium.orchestrator.results.records.tournament_rules import TournamentRules, rules_of
from podium.orchestrator.results.storage.locations import parse_place
from podium.terminal.fairness_text import difference_notes
from podium.terminal.printing import paragraphs, say
from podium.terminal.shown_table import captioned
from podium.trainables.tasks import METRICS

_K = "k"
_OF_A_STUDY = "podium.results(FOLDER).tournament() ranks the losses of a study"
_DISTANCES = [it.name for its in METRICS.values() for it in its if it.direction == "minimise"]


def rank(
    table: object,
    *,
    by: Names | None = None,
    competitor: str | None = None,
    score: str | None = None,
    where: Conditions = (),
    average: Names = (),
    without: Names = (),
    lower_is_better: bool = False,
    question: str | None = None,
    against: str | None = None,
    test: str | None = None,
    alpha: float | None = None,
) -> Answer:
    """Rank the competitors of a table of scores within blocks, and test their differences.

    As ``podium tournament`` does; its options have the names of these arguments. Messages write
    ``--where k=1`` for ``where="k=1"``.

    Example:
        ```python
        import podium
        import polars as pl

        scores = pl.DataFrame(
            {
                "dataset": ["cub", "cub", "cars", "cars"],
                "loss": ["margin", "triplet", "margin", "triplet"],
                "recall": [63.1, 60.2, 79.6, 75.0],
            }
        )
        podium.rank(scores, by="dataset", competitor="loss", score="recall")
        ```

    Args:
        table: scores, one per row, or with a column for each K, metric or data set: a polars or
            pandas frame, whatever else has Arrow's stream interface, or the path of a table (CSV,
            TSV, Parquet). Of a pandas frame, named levels of the index are columns.
        by: names of the columns that together name a block; None means those of ``dataset``,
            ``backbone``, ``embedding_dim`` and ``image_size`` that there are, or what the names
            of a wide table's columns say. Several names are a sequence, or divided by commas.
        competitor: name of the column of competitors; None means ``loss``, or the method.
        score: name of the column of scores, or a metric of several, such as ``NMI``; None means
            the recall.
        where: conditions that rows are to meet, as ``{"k": 1}`` or ``"k=1"``.
        average: names of the columns, such as ``seed``, over which scores are averaged within a
            block and competitor.
        without: names of competitors to leave out.
        lower_is_better: whether small scores are good.
        question: ``other_blocks`` (None means this): would the order hold on other data sets or
            backbones; or ``these_blocks``: would it hold were the runs named by ``average``
            repeated.
        against: name of the competitor that every other one is compared with; None: all pairs.
        test: name of a classic test over blocks that is reported too: ``wilcoxon_holm``,
            ``friedman`` or ``nemenyi``; None means none.
        alpha: level of all tests, above 0 and below 0.5; None means 0.05.

    Returns:
        The ranking. Its frame has one row per competitor, best first: ``competitor``, ``place``,
        ``total_rank``, ``average_rank``, ``rank_std`` (sample standard deviation over blocks),
        ``wins``, ``mean_score`` (in units of the score) and more.

    Raises:
        PodiumError: the table lacks a column, holds two scores of a competitor in one block, or
            cannot be ranked; the message names the columns that there are.
        CorruptFileError: a file is not what its name says.
    """
    options = TableOptions(
        by=by,
        competitor=competitor,
        score=score,
        where=list(conditions(where)),
        average=average,
        without=[without] if isinstance(without, str) else list(without),
        lower_is_better=lower_is_better,
    )
    rules = GivenRules(question=question, against=against, test=test, alpha=alpha)
    scores = read_table(_table_of(table), options)
    return ranked_table(scores, rules.of_table())


def told_table(table: Path | TableFile, options: TableOptions) -> ScoreTable:
    """Read a typed table, and print to standard error what it was taken for.

    Where it can hold no tournament, why is printed too.

    Raises:
        PodiumError: as of `rank`.
        CorruptFileError: the file is not what its name says.
    """
    scores = read_table(table, options)
    assert scores.reading is not None, "a typed table has one"
    say(scores.reading.line(), err=True)
    if not scores.has_complete_block():
        for warning in scores.warnings:
            say(warning, err=True)
    return scores


def rank_study(
    reader: ShownReader, score: str | None, where: Conditions, *, with_baselines: bool = False
) -> Answer:
    """Rank the losses of a study.

    Raises:
        PodiumError: nothing was tested yet, or an argument does not fit the study.
    """
    study = reader.study()
    stated: list[str] = renamed(conditions(where), reader.shown)
    declared, chosen = declared_score(reader), chosen_score(reader, score)
    if _K in dict(map(parse_condition, stated)):
        if not chosen.k:
            raise PodiumError(f"{chosen.label} has no K; leave where k=... out")
        if score is not None:
            raise PodiumError(f"score {chosen.name} states the K; leave where k=... out")
        named = None
    else:
        # So that the answer says which K.
        named = None if chosen.k in (0, study["ks"][0]) else chosen.name
    table = study_table(
        reader.trials(),
        reader.test_scores(),
        chosen,
        named=named,
        where=stated,
        protocols=protocols_of(study),
        with_baselines=with_baselines,
    )
    if late := chosen_late(chosen, declared):
        table = replace(table, warnings=(late, *table.warnings))
    return held(
        table,
        rules_of(study),
        metric=chosen.label,
        scale=PERCENT,
        fairness=planned_fairness(reader.provenance()),
    )


def ranked_table(scores: ScoreTable, rules: TournamentRules) -> Answer:
    """Hold the tournament of a table; test scores as podium stores them are shown in percent."""
    metric, k = known_test_columns([scores.score]).get(scores.score, (None, None))
    if metric is None or metric in _DISTANCES:
        return held(scores, rules, metric=scores.score)
    return held(scores, rules, metric=metric_label(metric, k or 0), scale=PERCENT)


def held(
    scores: ScoreTable,
    rules: TournamentRules,
    *,
    metric: str,
    scale: int = 1,
    fairness: Fairness | None = None,
) -> Answer:
    """Hold the tournament of a table of scores, and say what came of it.

    Args:
        scores: scores to rank.
        rules: question, level, and what is compared.
        metric: name of the score within sentences.
        scale: factor from the unit of the scores to points.
        fairness: what was planned to be equal between the losses; None of a table.
    """
    tournament = hold_by_rules(scores, rules)
    said = headline(tournament, metric=metric, scale=scale)
    shown = scores.score if scale == 1 else f"{metric}, %"
    parts = [
        f"{len(tournament.names)} competitors ranked by {scores.score} within "
        f"{counted(len(tournament.blocks), 'setting')} ({' x '.join(scores.by)})",
        *captioned(rank_tables(tournament, {}, shown, scale)),
        said,
        *verdict_sentences(tournament),
        *(f"Warning: {line}" for line in scores.warnings),
        *(difference_notes(fairness) if fairness else ()),
    ]
    return Answer(
        headline=said,
        text=paragraphs(parts),
        record={
            **tournament_record(tournament),
            "warnings": scores.warnings,
            "fairness": fairness and asdict(fairness),
            "read_as": scores.reading and asdict(scores.reading),
        },
        rows=standing_records(tournament),
    )


def _table_of(given: object) -> Path | TableFile:
    """A file, or the rows of a frame, whatever library made it.

    Raises:
        PodiumError: it is neither.
    """
    if isinstance(given, str | Path):
        place = or_shipped(parse_place(given))
        if not is_table(place):
            raise PodiumError(
                f"a table must be a file such as scores.csv; got {given} ({_OF_A_STUDY})"
            )
        return place
    if isinstance(given, pl.LazyFrame):
        return table_of_frame(given.collect())
    pandas = sys.modules.get("pandas")  # whoever has a frame of it has imported it
    if pandas is not None and isinstance(given, pandas.DataFrame):
        has_names = any(name is not None for name in given.index.names)
        return table_of_frame(pl.from_pandas(given, include_index=has_names))
    if hasattr(given, "__arrow_c_stream__"):
        return table_of_frame(pl.DataFrame(given))
    raise PodiumError(
        "a table must be a polars or pandas frame, or the path of a file; got a value of the type"
        f" {type(given).__name__} ({_OF_A_STUDY})"
    )
