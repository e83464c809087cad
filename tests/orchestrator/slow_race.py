"""Early stopping as its rules say it, from every score ever heard: slow, and without a memory."""

import math

from podium.orchestrator.scheduling.early_stopping import bracket_of


def slow_verdict(stopping, epochs, folds, heard, index, step):
    """From every (index, step, score) heard so far, the present one being the last."""
    score = heard[-1][2]
    latest = {key: value for key, at, value in heard if at == step}
    fold, inside = divmod(step, epochs)
    if step == epochs * folds or index == 0:
        return True
    if stopping.kind == "median":
        if (fold > 0 and inside) or (fold == 0 and inside < stopping.grace_epochs):
            return True
        others = sorted(value for key, value in latest.items() if key != index)
        if len(others) < stopping.min_trials:
            return True
        half = len(others) // 2
        middle = others[half] if len(others) % 2 else (others[half - 1] + others[half]) / 2
        return score >= middle
    factor = stopping.reduction_factor
    in_first = [stopping.grace_epochs * factor**power for power in range(10)]
    rungs = [] if stopping.kind == "folds" else [at for at in in_first if at < epochs]
    rungs += [epochs * factor**power for power in range(10) if factor**power < folds]
    if stopping.kind == "none" or step not in rungs:
        return True
    if stopping.kind == "hyperband":

        def bracket(key):
            return bracket_of(key, num_rungs=len(rungs), reduction_factor=factor)

        if rungs.index(step) < bracket(index):
            return True
        latest = {key: value for key, value in latest.items() if bracket(key) == bracket(index)}
    ranked = sorted(latest.values(), reverse=True)
    return ranked.index(score) < math.ceil(len(ranked) / factor)
