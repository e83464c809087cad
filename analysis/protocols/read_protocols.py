"""From a results store to the statistics of its validation protocols."""

from podium.analysis.protocols.costs import study_costs
from podium.analysis.protocols.default_tuned_refit import study_finals
from podium.analysis.protocols.optimism_by_protocol import study_optimism
from podium.analysis.protocols.protocol_study import ProtocolStudy
from podium.analysis.protocols.scoring_runs import scoring_runs
from podium.analysis.protocols.selection_quality import loss_selection_regret
from podium.analysis.protocols.study_frames import StudyFrames, read_frames
from podium.analysis.scores.gpu_shares import has_gpus
from podium.analysis.scores.protocol_runs import protocols_of, test_readings
from podium.errors import PodiumError
from podium.orchestrator.results.records.metric_columns import metric_label
from podium.orchestrator.results.storage.locations import Place


def read_protocols(folder: Place, k: int | None = None) -> ProtocolStudy:
    """The statistics of a results folder, finished or not.

    Args:
        folder: results folder of the study.
        k: value of K of the objective; None means the study's first.

    Raises:
        PodiumError: the folder holds no results, there is no such K, or no trial of a search has
            ended yet.
    """
    return protocol_study(read_frames(folder, k))


def protocol_study(frames: StudyFrames) -> ProtocolStudy:
    """The statistics of a store's frames, in whatever order their rows come.

    Raises:
        PodiumError: no trial of a search has ended yet.
    """
    trials = frames.trials.sort("trial_id", "search")
    runs = frames.searches_of(trials)
    if runs.is_empty():
        raise PodiumError("this study has no ended trial of a search yet")
    protocols = protocols_of(frames.study)
    picks = scoring_runs(
        runs, protocols, shared_configs=bool(frames.study["search"]["shared_configs"])
    )
    parts, refits = (frames.finals_of(trials, train_on=on) for on in ("part", "all"))
    return ProtocolStudy(
        name=frames.study["name"],
        metric=metric_label(frames.metric, frames.k),
        k=frames.k,
        protocols=protocols,
        same_splits=frames.study["search"]["splits"] == "same",
        has_gpus=has_gpus(frames.study),
        runs=runs,
        finals=study_finals(frames, trials, order=[protocol.label for protocol in protocols]),
        picks=picks,
        losses=loss_selection_regret(runs, refits if parts.is_empty() else parts),
        optimism=study_optimism(frames, trials, runs, parts),
        costs=study_costs(frames, trials, picks.fairest, protocols),
        readings=test_readings(trials),
    )
