"""Everything that a report needs of one study, read from its store once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from analysis.protocols.study_frames import drawn_trials
from analysis.scores.cached_reader import CachedReader
from analysis.scores.class_intervals import class_intervals
from analysis.scores.compared_runs import ComparedRuns, compared_protocol, trials_of
from analysis.scores.final_scores import cells, final_scores, final_trials
from analysis.scores.protocol_runs import Protocol, protocols_of
from analysis.scores.study_table import study_table
from analysis.selection.tuning_gains import overall_selection, selection_table
from analysis.study_results.recorded_fairness import (
    FairnessCheck,
    fairness_checks,
    planned_fairness,
)
from analysis.tournament.block_runs import BlockRuns, block_runs
from analysis.tournament.rank_stability import RankStability, rank_stability
from analysis.tournament.sensitivity_to_test import SensitivityToTest, sensitivity_to_test
from analysis.tournament.tournament import Tournament, hold_tournament
from orchestrator.results.records.asks import read_asks
from orchestrator.results.records.fairness_record import Fairness
from orchestrator.results.records.metric_columns import (
    RECALL,
    metric_label,
    metric_word,
    score_column,
)
from orchestrator.results.records.runs import Run, ended_searches, read_runs
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.tournament_rules import TournamentRules, rules_of
from orchestrator.results.storage.files import read_bytes
from orchestrator.results.storage.locations import Place
from orchestrator.results.trial_files.reader import Reader
from podium.errors import PodiumError

__all__ = ["PERCENT", "StudyResults", "read_results"]

PERCENT = 100
"""The store holds scores from 0 to 1; reports show them as percentages."""

_HEAVY = ("traceback", "log", "settings")


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyResults:
    """A study's results, sorted so that equal stores give equal values.

    Attributes:
        name: name of the study.
        folder: results folder of the study.
        reader: reader of the folder, for what a single section needs.
        runs: runs of the protocol that losses are compared under, read on first use.
        study: the resolved study file.
        study_text: YAML text of the resolved study file.
        provenance: provenance of the results folder.
        fairness: what was planned to be equal between losses and what not; None in folders from
            before that was recorded.
        fairness_checks: whether the stored trials were equal between losses.
        objective: the metric by which losses are ranked: ``recall``, or ``ndcg``.
        k: primary value of K, by which losses are ranked.
        ks: all values of K; the first is the primary one.
        losses: alphabetical, without the untrained baseline.
        trials: one row a trial, flat columns, sorted by trial id; ``training`` is the part of its
            settings that its config takes precedence over, as JSON.
        finals: trials of finalists, from `analysis.scores.final_scores.final_trials`.
        cells: means of the finals' test scores, from `analysis.scores.final_scores.cells`.
        further_cells: metric -> cells of it, of the metrics other than the objective.
        selection: validation and test of default and winner for the primary k, from
            `analysis.selection.tuning_gains.selection_table`.
        overall: mean gains by loss, from `analysis.selection.tuning_gains.overall_selection`.
        tournament: tournament of the tuned losses, in percent; None if it cannot be held.
        no_tournament_reason: why there is no tournament; else empty.
        sensitivity_to_test: the tournament under other tests than the study's own; None likewise.
        stability: stability of the tournament's ranks; None without a tournament or with a single
            block.
        recorded_runs: what each run of the study spent; empty in folders from before that was
            recorded.
        duplicates: search -> number of suggestions whose trial was known already.
        drawn: trials that samplers drew, from `analysis.protocols.study_frames.drawn_trials`.
        curves: validation score at the primary k of winners by epoch, in percent: ``block``,
            ``loss``, ``repeat``, ``seed_index``, ``fold``, ``epoch``, ``value``.
        retrievals: test queries of winners with their neighbours.
        test_classes: intervals of cells over test classes, from
            `analysis.scores.class_intervals.class_intervals`.
        validation_classes: intervals over validation classes, of cells whose runs have one fold.
    """

    name: str
    folder: Place
    reader: CachedReader
    runs: ComparedRuns
    study: Mapping[str, Any]
    study_text: str
    provenance: Mapping[str, Any]
    fairness: Fairness | None
    fairness_checks: tuple[FairnessCheck, ...]
    objective: str
    k: int
    ks: tuple[int, ...]
    losses: tuple[str, ...]
    protocols: tuple[Protocol, ...]
    protocol: Protocol
    trials: pl.DataFrame
    finals: pl.DataFrame
    cells: pl.DataFrame
    further_cells: Mapping[str, pl.DataFrame]
    selection: pl.DataFrame
    overall: pl.DataFrame
    tournament: Tournament | None
    no_tournament_reason: str
    sensitivity_to_test: SensitivityToTest | None
    stability: RankStability | None
    recorded_runs: tuple[Run, ...]
    duplicates: Mapping[str, int]
    drawn: pl.DataFrame
    curves: pl.DataFrame
    retrievals: pl.DataFrame
    test_classes: pl.DataFrame
    validation_classes: pl.DataFrame

    @property
    def metric(self) -> str:
        """``Recall@1``, ``nDCG@1``."""
        return metric_label(self.objective, self.k)

    @property
    def metric_word(self) -> str:
        """``Recall``, ``nDCG``."""
        return metric_word(self.objective)

    @property
    def score_word(self) -> str:
        """``recall``, ``nDCG``: the metric's name within a sentence."""
        return "recall" if self.is_by_class else self.metric_word

    @property
    def is_by_class(self) -> bool:
        """Whether images are retrieved by class, so that each neighbour is right or wrong."""
        return self.objective == RECALL.name

    @property
    def validation_column(self) -> str:
        """Name of the trials' column of the primary validation score."""
        return score_column(self.objective, self.k)

    @property
    def planned_trials(self) -> int:
        """Trials of each search by the study file, or by its share of a budget of trials."""
        wanted = int(self.study["search"]["trials"])
        limit = self.study.get("budget", {}).get("trials")
        has_share = limit is not None and self.recorded_runs
        return self.recorded_runs[-1].trials_per_search if has_share else wanted

    @property
    def cut_short(self) -> dict[str, int]:
        """Search -> number of trials, of searches that ended as their budget was used up."""
        ended = ended_searches(self.recorded_runs, self.study.get("budget", {}))
        searched = self.trials.filter(pl.col("stage") == "search").group_by("search").len()
        counts = dict(searched.iter_rows())
        planned = self.planned_trials
        return {name: had for name, had in ended.items() if had == counts.get(name) != planned}

    @property
    def search_trials(self) -> pl.DataFrame:
        """Trials of the searches of the protocol that losses are compared under."""
        of_protocol = pl.col("protocol") == self.protocol.label
        return self.trials.filter(pl.col("stage") == "search", of_protocol)


def read_results(folder: Place, protocol: str | None = None) -> StudyResults:
    """Read a results folder, finished or not.

    Args:
        folder: results folder of the study.
        protocol: label of the protocol that losses are compared under; None means the study's
            first that does not leak.

    Raises:
        PodiumError: the folder holds no results, a file of it is corrupt, competitors were judged
            on different data, or there is no such protocol.
    """
    paths = StudyPaths(folder)
    study = Reader(folder).study()
    ks = tuple(study["ks"])
    reader = CachedReader(folder, k=ks[0])
    trials = (
        reader.trials()
        .with_columns(pl.col("settings").str.json_path_match("$.training").alias("training"))
        .drop(_HEAVY, strict=False)
        .collect()
        .sort("trial_id")
    )
    protocols = protocols_of(study)
    compared = compared_protocol(protocols, protocol)
    of_protocol = trials_of(trials, compared.label)
    finals = final_trials(of_protocol.lazy())
    metric = reader.objective
    scores = final_scores(finals, reader.test_scores(), metric)
    all_cells = cells(finals, scores)
    selection = selection_table(of_protocol.lazy(), finals, scores, ks[0], metric)
    tournament, runs, reason = _tournament_or_reason(
        of_protocol, reader.test_scores(), ks[0], metric, rules_of(study)
    )
    asks = read_asks(paths)
    return StudyResults(
        name=study["name"],
        folder=folder,
        reader=reader,
        runs=ComparedRuns(of_protocol, reader, k=ks[0]),
        study=study,
        study_text=(read_bytes(paths.study) or b"").decode(),
        provenance=reader.provenance(),
        fairness=planned_fairness(reader.provenance()),
        fairness_checks=fairness_checks(trials),
        objective=metric,
        k=ks[0],
        ks=ks,
        losses=tuple(sorted(study["losses"])),
        protocols=protocols,
        protocol=compared,
        trials=trials,
        finals=finals,
        cells=all_cells,
        further_cells={
            further: cells(finals, final_scores(finals, reader.test_scores(), further))
            for further in reader.metrics[1:]
        },
        selection=selection,
        overall=overall_selection(selection),
        tournament=tournament,
        no_tournament_reason=reason,
        sensitivity_to_test=sensitivity_to_test(
            tournament, runs, rope=rules_of(study).rope_points, scale=PERCENT
        )
        if tournament
        else None,
        stability=rank_stability(tournament, runs) if tournament else None,
        recorded_runs=tuple(read_runs(StudyPaths(folder))),
        duplicates={
            search: len(of_search) - len({ask.trial_id for ask in of_search})
            for search, of_search in sorted(asks.items())
        },
        drawn=drawn_trials(asks),
        curves=_curves(reader, finals),
        retrievals=_retrievals(reader, finals),
        test_classes=class_intervals(finals, reader.test_class_hits(), ks[0]),
        validation_classes=class_intervals(finals, _validation_hits(reader), ks[0]),
    )


def _tournament_or_reason(
    trials: pl.DataFrame,
    test_scores: pl.LazyFrame,
    k: int,
    metric: str,
    rules: TournamentRules,
) -> tuple[Tournament | None, tuple[BlockRuns, ...] | None, str]:
    """The tournament by the study's own rules and the runs behind it, or why there is none."""
    try:
        table = study_table(trials.lazy(), test_scores, primary_k=k, metric=metric)
        percent = table.cells.with_columns(pl.col(table.score) * PERCENT)
        held = hold_tournament(
            percent,
            by=table.by,
            competitor=table.competitor,
            score=table.score,
            alpha=rules.alpha,
            test=rules.test,
        )
    except PodiumError as error:
        return None, None, str(error)
    return held, block_runs(table, held), ""


def _is_winner(finals: pl.DataFrame) -> pl.Expr:
    """Whether a row belongs to a winner's final trial; details of others are not read."""
    winners = finals.filter(pl.col("finalist") == "winner")["trial_id"].unique()
    return pl.col("trial_id").is_in(winners.implode())


def _curves(reader: CachedReader, finals: pl.DataFrame) -> pl.DataFrame:
    return (
        reader.validation_scores()
        .filter(_is_winner(finals), pl.col("state") == "COMPLETE")
        .select(
            *("block", "loss", "repeat", "seed_index", "fold", "epoch"),
            (pl.col("value").fill_nan(None) * PERCENT).alias("value"),
        )
        .collect()
        .sort("block", "loss", "repeat", "seed_index", "fold", "epoch")
    )


def _validation_hits(reader: CachedReader) -> pl.LazyFrame:
    """Class hits of finals at the epoch each selected."""
    is_selected = pl.col("epoch") == pl.col("epoch_selected")
    return reader.validation_hits().filter(pl.col("stage") == "final", is_selected)


def _retrievals(reader: Reader, finals: pl.DataFrame) -> pl.DataFrame:
    return (
        reader.test_retrievals()
        .filter(_is_winner(finals))
        .select("block", "loss", "seed_index", "fold", "class_name", "png", "neighbours")
        .collect()
        .sort("block", "loss", "seed_index", "fold", maintain_order=True)
    )
