"""How many trials the final stage of a study has; nothing of it depends on results."""

from orchestrator.study.blocks import final_protocol_of
from orchestrator.study.study import Search, Study

__all__ = ["NUM_FINALISTS", "num_baseline_runs", "num_final_runs"]

# The winner of a search and the published default.
NUM_FINALISTS = 2


def num_final_runs(study: Study, search: Search) -> int:
    """Trials of one finalist of a search: seeds x folds on a part, seeds on all classes."""
    folds = {"part": final_protocol_of(study, search).num_folds, "all": 1}
    return study.final.seeds * sum(folds[train_on] for train_on in study.final.train_on)


def num_baseline_runs(study: Study, search: Search) -> int:
    """Trials of the untrained network of a block: seeds x folds of its first search's finals."""
    return study.final.seeds * final_protocol_of(study, search).num_folds
