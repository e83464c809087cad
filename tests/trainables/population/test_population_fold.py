"""Members of a population against the same trials alone: every loss, optimiser and option."""

from dataclasses import replace

import pytest
import torch

from tests.trainables.trial.test_frozen_features import frozen_trial
from trainables.population.agreement import agreement, real_names, why_alone
from trainables.population.population_fold import PopulationFold
from trainables.errors import TrialInputError
from trainables.registry import literals, names
from trainables.settings.legal_ranges import DECLARATIONS
from trainables.trial.run_trial import run_trial
from trainables.trial.setup import set_up

CPU = torch.device("cpu")


def members(cache, loss, values, **training):
    base = frozen_trial(cache, loss=loss, folds=(0,), evaluate_test=False, training=training)
    return [replace(base, hyperparameters=dict(value)) for value in values]


def reports_of(trials):
    setups = [set_up(trial) for trial in trials]
    fold = PopulationFold(setups, 0, CPU)
    return list(zip(*(fold.run_epoch(e) for e in range(1, setups[0].last_epoch + 1)), strict=True))


def test_a_member_of_every_loss_reports_what_it_reports_alone(tmp_path):
    worst = {}
    for loss in names("losses"):
        base = members(tmp_path, loss, [{}])[0]
        if why_alone(base):
            print("alone", loss, why_alone(base))
            continue
        try:
            set_up(base); reports_of([base])
        except TrialInputError as error:
            print("refused", loss, error)
            continue
        trials = members(tmp_path, loss, [{"learning_rate": r} for r in (1e-3, 3e-3, 1e-2)], epochs=3)
        for trial, reports in zip(trials, reports_of(trials), strict=True):
            alone = list(run_trial(trial))
            for a, b in zip(alone, reports, strict=True):
                for x, y in zip(a.scores, b.scores, strict=True):
                    d = abs(x.value - y.value) / (1 if x.role == "val" else max(1e-3, abs(x.value)))
                    worst[loss, x.role, x.metric] = max(worst.get((loss, x.role, x.metric), 0), d)
    for key, d in sorted(worst.items(), key=lambda p: -p[1])[:40]:
        print(key, d)
    assert 0
