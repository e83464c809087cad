"""Checks how many searches and trials a study has, from its lists alone, before it is expanded."""

import math

from orchestrator.study.blocks import NUM_FINALISTS
from orchestrator.study.study import MAX_TRIALS, Study
from orchestrator.study_parser.problems import Problems

# Losses of 50, data sets, backbones, dimensions and protocols of 10 each are half of it.
_MAX_SEARCHES = 1_000_000


def check_size(study: Study, problems: Problems) -> None:
    """Refuse a study that is too large to be planned or checked.

    Raises:
        StudyError: all problems so far, and this one. What else is wrong would be found by going
            through every search.
    """
    counts = {
        "data sets": len(study.datasets),
        "backbones": len(study.backbones),
        "embedding dimensions": len(study.embedding_dims),
        "image sizes": max(1, len(study.image_sizes)),
        "losses": len(study.loss_names),
        "protocols": len(study.protocols),
        "repeats": study.search.repeats,
    }
    num_searches = math.prod(counts.values())
    factors = " x ".join(f"{count} {name}" for name, count in counts.items() if count > 1)
    if num_searches > _MAX_SEARCHES:
        has = f"{num_searches} searches ({factors})"
        problems.add((), f"a study must have at most {_MAX_SEARCHES} searches, and this has {has}")
        problems.raise_any()
    num_trials = num_searches * (study.search.trials + _num_finals(study))
    if num_trials > MAX_TRIALS:
        rule = f"a study must have at most {MAX_TRIALS} trials, and this has up to {num_trials}"
        problems.add((), f"{rule} in {num_searches} searches: lower search.trials or final.seeds")
        problems.raise_any()


def _num_finals(study: Study) -> int:
    """Upper bound of the final trials of one search, those of the untrained network included."""
    protocols = [*study.protocols, study.final.protocol]
    folds = max(protocol.num_folds for protocol in protocols if protocol is not None)
    return study.final.seeds * (NUM_FINALISTS + 1) * (folds + 1)
