"""From a results store to the statistics of its validation protocols."""

import polars as pl

from podium.analysis.protocols.costs import study_costs
from podium.analysis.protocols.default_tuned_refit import study_finals
from podium.analysis.protocols.optimism_by_protocol import study_optimism
from podium.analysis.protocols.protocol_study import ProtocolStudy
from podium.analysis.protocols.scoring_runs import scoring_runs
from podium.analysis.protocols.selection_quality import loss_selection_regret
from podium.analysis.scores.cached_reader import CachedReader
from podium.analysis.scores.gpu_shares import has_gpus
from podium.analysis.scores.protocol_runs import protocols_of, test_readings
from podium.errors import PodiumError
from podium.orchestrator.results.records.metric_columns import metric_label
from podium.orchestrator.results.storage.locations import Place

_HEAVY = ("traceback", "log", "settings", "message")


def read_protocols(folder: Place, k: int | None = None) -> ProtocolStudy:
    """The statistics of a results folder, finished or not.

    Args:
        folder: results folder of the study.
        k: value of K of the objective; None means the study's first.

    Raises:
        PodiumError: the folder holds no results, there is no such K, or no trial of a search has
            ended yet.
    """
    reader = CachedReader(folder, k=k)
    return protocol_study(reader, reader.trials().drop(_HEAVY, strict=False).collect())


def protocol_study(reader: CachedReader, trials: pl.DataFrame) -> ProtocolStudy:
    """The statistics of a store's trials, in whatever order they come.

    Raises:
        PodiumError: no trial of a search has ended yet.
    """
    study, trials = reader.study(), trials.sort("trial_id", "search")
    runs = reader.search_runs(trials)
    if runs.is_empty():
        raise PodiumError("this study has no ended trial of a search yet")
    protocols = protocols_of(study)
    picks = scoring_runs(runs, protocols, shared_configs=study["search"]["shared_configs"])
    parts, refits = (reader.final_runs(trials, train_on=on) for on in ("part", "all"))
    return ProtocolStudy(
        name=study["name"],
        metric=metric_label(reader.objective, reader.k),
        k=reader.k,
        protocols=protocols,
        same_splits=study["search"]["splits"] == "same",
        has_gpus=has_gpus(study),
        runs=runs,
        finals=study_finals(reader, trials, order=[protocol.label for protocol in protocols]),
        picks=picks,
        losses=loss_selection_regret(runs, refits if parts.is_empty() else parts),
        optimism=study_optimism(reader, trials, runs, parts),
        costs=study_costs(reader, trials, picks.fairest, protocols),
        readings=test_readings(trials),
    )
