"""What a report needs of one study: each file read once, each view computed on first use."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl
from PIL import Image

from podium.analysis.protocols.protocol_study import ProtocolStudy
from podium.analysis.protocols.tuning_gains import overall_selection, selection_table
from podium.analysis.scores.cached_reader import CachedReader
from podium.analysis.scores.class_intervals import class_intervals
from podium.analysis.scores.compared_runs import compared_protocol, trials_of
from podium.analysis.scores.final_scores import cells, final_scores, final_trials
from podium.analysis.scores.protocol_runs import Protocol, protocols_of
from podium.analysis.scores.ranked_score import chosen_score, declared_score, stored_without_k
from podium.analysis.scores.study_table import study_table
from podium.analysis.study_results.recorded_fairness import (
    FairnessCheck,
    fairness_checks,
    planned_fairness,
)
from podium.analysis.tournament.loss_groups import (
    LossGroups,
    check_groups,
    compare_groups,
    groups_by_kind,
)
from podium.analysis.tournament.table_tournament import hold_by_rules
from podium.analysis.tournament.tournament import Tournament
from podium.analysis.wording import renamed
from podium.errors import PodiumError
from podium.orchestrator.results.records.fairness_record import Fairness
from podium.orchestrator.results.records.journal import read_asks
from podium.orchestrator.results.records.journal_records import Ask
from podium.orchestrator.results.records.metric_columns import (
    DIAGNOSTICS,
    RECALL,
    RankedScore,
    metric_label,
    metric_word,
    score_column,
)
from podium.orchestrator.results.records.runs import (
    Run,
    ended_searches,
    read_runs,
)
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.tournament_rules import rules_of
from podium.orchestrator.results.storage.locations import Place

PERCENT = 100
"""The store holds scores from 0 to 1; reports show them as percentages."""

TestImages = Callable[[str, str], Callable[[int], Image.Image | None] | None]
"""Label of a data set and hash of its test -> reader of an image by its index; None where that
test is not on this machine. The reader gives None for an image that cannot be read."""

_HEAVY = ("traceback", "log", "settings")
_EPOCH = ("block", "loss", "repeat", "seed_index", "fold", "epoch")


@dataclass(frozen=True, kw_only=True)
class StudyResults:
    """A study's results; what is derived from its trials is computed on first use, and kept.

    Rows are sorted, so that equal stores give equal values. A view raises a PodiumError where a
    file that it reads is corrupt.

    Attributes:
        folder: results folder of the study.
        reader: reader of the folder, for what a single section needs.
        study: the resolved study file.
        protocol: protocol that losses are compared under.
        trials: one row a trial of all protocols, flat columns, sorted by trial id; ``training`` is
            the part of its settings that its config takes precedence over, as JSON.
        score: test score to rank losses by; None means the declared one.
        groups: name -> losses of the groups to compare; None means the declared ones.
        images: reader of the data sets on this machine; None where only the results are shown.
    """

    folder: Place
    reader: CachedReader
    study: Mapping[str, Any]
    protocol: Protocol
    trials: pl.DataFrame
    score: RankedScore | None = None
    groups: Mapping[str, Sequence[str]] | None = None
    images: TestImages | None = None

    @property
    def name(self) -> str:
        """Name of the study."""
        return str(self.study["name"])

    @property
    def ks(self) -> tuple[int, ...]:
        """All values of K; the first is the primary one."""
        return tuple(self.study["ks"])

    @property
    def k(self) -> int:
        """Primary value of K, by which configs and epochs are selected."""
        return self.ks[0]

    @property
    def losses(self) -> tuple[str, ...]:
        """Losses by name, without baselines."""
        return tuple(sorted(self.study["losses"]))

    @cached_property
    def objective(self) -> str:
        """The metric by which configs and epochs are selected: ``recall``, or ``ndcg``."""
        return self.reader.objective

    @property
    def own_score(self) -> RankedScore:
        """The objective at the primary K."""
        return RankedScore(self.objective, self.k)

    @property
    def declared_score(self) -> RankedScore:
        """The test score that the study declared to rank by: its own unless it says otherwise."""
        return declared_score(self.reader)

    @property
    def ranked_by(self) -> RankedScore:
        """The test score that losses are ranked by."""
        return self.score or self.declared_score

    @property
    def score_shown(self) -> str:
        """``Recall@1, %``: what the scores of the tournament are, with their unit."""
        return f"{self.ranked_by.label}, %"

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

    @cached_property
    def compared_trials(self) -> pl.DataFrame:
        """Trials of the protocol, from `analysis.scores.compared_runs.trials_of`."""
        return trials_of(self.trials, self.protocol.label)

    @cached_property
    def attempts(self) -> pl.DataFrame:
        """All attempts at searches and finals, those without a result too; a copy had none."""
        return self.reader.attempts_at(self.trials.filter(pl.col("same_as").is_null()))

    @property
    def search_trials(self) -> pl.DataFrame:
        """Trials of the protocol's searches."""
        return self.compared_trials.filter(pl.col("stage") == "search")

    @cached_property
    def finals(self) -> pl.DataFrame:
        """Trials of finalists, from `analysis.scores.final_scores.final_trials`.

        Raises:
            PodiumError: competitors were judged on different data.
        """
        return final_trials(self.compared_trials.lazy())

    @property
    def winners(self) -> pl.DataFrame:
        """The finals of tuned losses."""
        return self.finals.filter(pl.col("finalist") == "winner")

    @cached_property
    def search_runs(self) -> pl.DataFrame:
        """Runs of the protocol's searches, from `analysis.scores.protocol_runs.search_runs`."""
        return self.reader.search_runs(self.compared_trials)

    @cached_property
    def final_runs(self) -> pl.DataFrame:
        """Final runs that trained on part of the classes.

        From `analysis.scores.protocol_runs.final_runs`.
        """
        return self.reader.final_runs(self.compared_trials)

    @cached_property
    def class_hits(self) -> Iterable[pl.DataFrame]:
        """Class hits of the protocol's searches."""
        return self.reader.search_hits(self.compared_trials)

    @cached_property
    def protocols(self) -> tuple[Protocol, ...]:
        """Protocols of the study, in its order."""
        return protocols_of(self.study)

    @cached_property
    def cells(self) -> pl.DataFrame:
        """Means of the finals' test scores, from `analysis.scores.final_scores.cells`."""
        return cells(self.finals, self._final_scores)

    @property
    def ranked_cells(self) -> pl.DataFrame:
        """``cells`` of the metric that losses are ranked by, at all its K."""
        metric = self.ranked_by.metric
        return self.cells if metric == self.objective else self._cells_of(metric)

    @cached_property
    def cells_without_k(self) -> Mapping[str, pl.DataFrame]:
        """Metric -> its cells, of the metrics without K that finals were tested by."""
        stored = stored_without_k(self.reader.test_scores())
        return {metric: self._cells_of(metric) for metric in stored}

    @cached_property
    def further_cells(self) -> Mapping[str, pl.DataFrame]:
        """Metric -> its cells at every K, of the metrics with K other than the objective."""
        return {metric: self._cells_of(metric) for metric in self.reader.metrics[1:]}

    @cached_property
    def selection(self) -> pl.DataFrame:
        """Validation and test of default and winner at the primary K.

        From `analysis.protocols.tuning_gains.selection_table`.
        """
        trials = self.compared_trials.lazy()
        return selection_table(trials, self.finals, self._final_scores, self.k, self.objective)

    @cached_property
    def overall(self) -> pl.DataFrame:
        """Mean gains by loss, from `analysis.protocols.tuning_gains.overall_selection`."""
        return overall_selection(self.selection)

    @property
    def tournament(self) -> Tournament | None:
        """Tournament of the tuned losses by the study's own rules, in percent.

        None if it cannot be held.
        """
        return self._ranked[0]

    @property
    def declared_tournament(self) -> Tournament | None:
        """``tournament`` by the declared score, whichever was asked for."""
        if self.ranked_by == self.declared_score:
            return self.tournament
        return self._ranked_by(self.declared_score)[0]

    @property
    def no_tournament_reason(self) -> str:
        """Why there is no tournament; else empty."""
        return self._ranked[1]

    @cached_property
    def loss_groups(self) -> LossGroups | None:
        """Groups of the ranked losses beside each other; None unless two have a ranked loss.

        By those asked for, else the declared ones, else the recorded kinds of losses.
        """
        if self.tournament is None:
            return None
        groups = self.groups or rules_of(self.study).groups
        if groups is None:
            groups = groups_by_kind(self.reader.provenance().get("loss_kinds", {}))
        return compare_groups(self.tournament, groups)

    @cached_property
    def fairness(self) -> Fairness | None:
        """What was planned to be equal between losses and what not; None if not recorded."""
        return planned_fairness(self.reader.provenance())

    @cached_property
    def fairness_checks(self) -> tuple[FairnessCheck, ...]:
        """Whether the stored trials were equal between losses."""
        return fairness_checks(self.trials)

    @cached_property
    def recorded_runs(self) -> tuple[Run, ...]:
        """What each run of the study spent; empty if that was not recorded."""
        return tuple(read_runs(StudyPaths(self.folder)))

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
    def cancelled(self) -> Mapping[str, int]:
        """Search -> trials it had when the user cancelled it, as the latest runs have it."""
        return self.recorded_runs[-1].cancelled_searches if self.recorded_runs else {}

    @cached_property
    def asks(self) -> Mapping[str, Sequence[Ask]]:
        """Search -> suggestions that were requested for it."""
        return read_asks(StudyPaths(self.folder))

    @cached_property
    def protocol_study(self) -> ProtocolStudy | None:
        """The statistics of all protocols; None before a search trial."""
        if self.trials.filter(pl.col("stage") == "search").is_empty():
            return None
        return ProtocolStudy(self.reader, self.trials)

    @cached_property
    def curves(self) -> pl.DataFrame:
        """Scores of winners by epoch, before the test.

        The objective at the primary K on validation, in percent, and `DIAGNOSTICS` as stored.
        Columns: ``block``, ``loss``, ``metric``, ``repeat``, ``seed_index``, ``fold``, ``epoch``,
        ``value``.
        """
        entry = pl.element().struct
        is_objective = (entry.field("metric") == self.objective) & (entry.field("k") == self.k)
        found = self.reader.entries_of(
            "scores",
            self.is_winner & (pl.col("state") == "COMPLETE"),
            carried=("block", "loss", "repeat", "seed_index"),
            entries=is_objective | entry.field("metric").is_in([*DIAGNOSTICS]),
        )
        unit = pl.when(pl.col("metric") == self.objective).then(PERCENT).otherwise(1)
        return found.select(
            *(pl.col(name).cast(pl.String) for name in ("block", "loss", "metric")),
            *("repeat", "seed_index", "fold", "epoch"),
            pl.col("value").fill_nan(None) * unit,
        ).sort(_EPOCH)

    @cached_property
    def test_classes(self) -> pl.DataFrame:
        """Intervals of cells over test classes.

        From `analysis.scores.class_intervals.class_intervals`.
        """
        return class_intervals(self.finals, self.reader.test_hits(), self.k)

    @property
    def is_winner(self) -> pl.Expr:
        """Whether a row is of the final trial of a tuned loss."""
        return pl.col("trial_id").is_in(self.winners["trial_id"].unique().implode())

    @cached_property
    def _final_scores(self) -> pl.DataFrame:
        return final_scores(self.finals, self.reader.test_scores(), self.objective)

    def _cells_of(self, metric: str) -> pl.DataFrame:
        return cells(self.finals, final_scores(self.finals, self.reader.test_scores(), metric))

    @cached_property
    def _ranked(self) -> tuple[Tournament | None, str]:
        """The tournament, or why there is none."""
        return self._ranked_by(self.ranked_by)

    def _ranked_by(self, score: RankedScore) -> tuple[Tournament | None, str]:
        rules = rules_of(self.study)
        tested = self.reader.test_scores()
        try:
            table = study_table(self.compared_trials.lazy(), tested, score)
            if rules.against not in set(table.cells[table.competitor]):  # it has no tested winner
                rules = replace(rules, against=None)
            return hold_by_rules(table, rules, scale=PERCENT), ""
        except PodiumError as error:
            return None, str(error)


def read_results(
    folder: Place,
    protocol: str | None = None,
    *,
    score: str | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    images: TestImages | None = None,
) -> StudyResults:
    """Read the trials of a results folder, finished or not.

    Args:
        folder: results folder of the study.
        protocol: label of the protocol that losses are compared under; None means the study's
            first that does not leak.
        score: name of the stored test score to rank losses by, such as ``nmi`` or ``recall@4``;
            None means the one that the study declares.
        groups: name -> losses of the groups to compare; None means those that the study declares.
        images: reader of the data sets on this machine; None where only the results are shown.

    Raises:
        PodiumError: the folder holds no results, its trials are corrupt, competitors were judged
            on different data, or there is no such protocol, score or loss.
    """
    reader = CachedReader(folder)
    study = reader.study()
    # Settings are a kilobyte of each trial, and their training is the same text in most.
    training = pl.col("settings").str.json_path_match("$.training").cast(pl.Categorical)
    flat = [name for name in reader.trials().collect_schema() if name not in _HEAVY]
    trials = reader.summarise(
        lambda rows: rows.select(*flat, training.alias("training")), with_present_winner=True
    ).sort("trial_id", "search")
    compared = compared_protocol(protocols_of(study), protocol)
    groups = renamed({"groups": groups}, reader.shown)["groups"]
    if groups is not None:
        check_groups(groups, study["losses"])
    results = StudyResults(
        folder=folder,
        reader=reader,
        study=study,
        protocol=compared,
        trials=trials,
        score=None if score is None else chosen_score(reader, score),
        groups=groups,
        images=images,
    )
    results.finals  # noqa: B018 - refuses at once what cannot be compared
    return results
