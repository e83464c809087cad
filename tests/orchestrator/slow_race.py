"""Early stopping as its rules say it, from every score ever heard: slow, and without a memory."""

import math


def slow_verdict(stopping, epochs, folds, heard, index, step):
    """From every (index, step, score) heard so far, the present one being the last."""
    score = heard[-1][2]
    latest = {key: value for key, at, value in heard if at == step}
    if step == epochs * folds or index == 0:
        return True
    factor = stopping.reduction_factor
    in_first = [stopping.grace_epochs * factor**power for power in range(10)]
    rungs = [] if stopping.kind == "folds" else [at for at in in_first if at < epochs]
    rungs += [epochs * factor**power for power in range(10) if factor**power < folds]
    if stopping.kind == "none" or step not in rungs:
        return True
    ranked = sorted(latest.values(), reverse=True)
    return ranked.index(score) < math.ceil(len(ranked) / factor)
