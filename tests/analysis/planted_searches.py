"""Searches whose scores follow from planted hyperparameters, and a store of such."""

from dataclasses import replace

import numpy as np
import pytest

from podium.analysis.hyperparameters.search_configs import SearchConfigs
from podium.analysis.hyperparameters.searched_ranges import SearchedRange
from podium.search_spaces.parameters import Real, Space
from tests.orchestrator import simulated
from tests.orchestrator.small_study import STUDY, run_here, with_search

UNIT = {name: SearchedRange(low=0, high=1) for name in ("a", "b", "c")}


def planted_search(
    generator, gain, *, num=40, loss="loss", block="block", noise=1.0, ranges=UNIT, test=None
):
    """Configs drawn at random; ``gain`` maps positions by name to the true score."""
    positions = {
        name: (
            generator.integers(len(item.values), size=num).astype(float)
            if item.is_choice
            else generator.random(num)
        )
        for name, item in ranges.items()
    }
    scores = gain(positions) + noise * generator.normal(size=num)
    return SearchConfigs(
        loss=loss,
        block=block,
        repeat=0,
        ranges=ranges,
        positions=positions,
        scores_N=scores,
        test_N=np.full(num, np.nan) if test is None else test(positions),
        num_trials=num,
        num_pruned=0,
        num_failed=0,
        num_outside=0,
    )


def nothing(positions):
    """No hyperparameter matters."""
    return 0.0


def only_a(positions):
    """One does."""
    return 5 * positions["a"]


def write_tuned_store(folder, *, trials=20):
    """Two blocks; of contrastive a larger margin is better, of proxy_anchor all is noise."""

    noise = simulated._ceiling

    def ceiling(settings, fold):
        drawn = noise(settings, fold)
        margin = settings.hyperparameters.get("margin", 0.0)
        return 0.3 + 0.6 * margin + 0.01 * drawn if settings.loss == "contrastive" else drawn

    margins = Space({"margin": Real(0.0, 0.9, step=0.1)})
    study = replace(
        with_search(
            trials=trials,
            sampler="random",
            early_stopping=replace(STUDY.search.early_stopping, kind="none"),
        ),
        final=replace(STUDY.final, seeds=1),
        losses=tuple(
            replace(loss, space=margins) if loss.name == "contrastive" else loss
            for loss in STUDY.losses
        ),
        quarantine="record",
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulated, "_ceiling", ceiling)
        run_here(study, folder)
    return folder / study.name
