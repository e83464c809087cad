"""Do the intervals hold? A hundred studies with planted truth, from a store's frames to the means.

Planted values are what each estimator estimates, from draws of the true model that share no code
with it. Each 95 % interval has to hold its value in at least 88 of 100 studies.
"""

import numpy as np
import polars as pl
import pytest

from podium.analysis.hypothesis_tests.group_means import group_means, paired_differences
from podium.analysis.protocols.default_tuned_refit import study_finals
from podium.analysis.protocols.optimism_by_protocol import (
    fresh_runs,
    optimism_over_classes,
    optimism_over_runs,
)
from podium.analysis.protocols.selection_candidates import config_candidates
from podium.analysis.protocols.selection_measures import choice_cells
from podium.analysis.protocols.selection_quality import selection_quality
from tests.analysis.protocol_truth import POINT, QUERIES, Judge, ProtocolTruth
from tests.analysis.synthetic_protocols import FramesReader, study_frames

TRUTH = ProtocolTruth(
    judges={
        "fixed": Judge(level=-2),
        "kfold": Judge(kind="kfold", folds=3, level=-1),
        "test_tuned": Judge(kind="test_tuned", val_noise=0.7),
    },
    configs=7,
    repeats=6,
    seeds=2,
)
pytestmark = pytest.mark.soak

STUDIES, LEAST = 100, 88
DRAWS = 40_000
PAIRS = [("fixed", "kfold"), ("fixed", "test_tuned"), ("kfold", "test_tuned")]


def scale_runs(runs):
    """The test runs of the scale under the label of every protocol."""
    tested = runs.filter(pl.col("protocol") == "test_tuned")
    return pl.concat(
        tested.with_columns(pl.lit(label).alias("protocol")) for label in TRUTH.judges
    )


def one_study(seed):
    """(name, protocol or pair) -> low, high."""
    frames = study_frames(TRUTH, seed)
    reader = FramesReader(frames)
    runs = reader.search_runs(frames.trials)
    tested = scale_runs(runs)
    found = selection_quality(runs, order=list(TRUTH.judges), tested=tested)
    finals = study_finals(reader, frames.trials, order=list(TRUTH.judges)).cells
    parts = reader.final_runs(frames.trials)
    optimism = optimism_over_runs(
        runs, fresh_runs(frames.trials, parts), one_split=list(TRUTH.judges)
    )
    rungs = ("tuned_part", "tuned_all", "tuning", "classes")
    means = [found.means, optimism, group_means(finals, rungs)]
    intervals = {
        (row["measure"], row["protocol"]): (row["low"], row["high"])
        for frame in means
        for row in frame.to_dicts()
    }
    rates = found.pick_rates.to_dicts()
    intervals |= {("rate", row["protocol"]): (row["low"], row["high"]) for row in rates}
    pairs = pl.concat(
        [found.differences, paired_differences(finals, ["tuned_all"], order=list(TRUTH.judges))]
    )
    return intervals | {
        (row["measure"], (row["a"], row["b"])): (row["low"], row["high"])
        for row in pairs.to_dicts()
    }


@pytest.fixture(scope="module")
def intervals():
    return [one_study(seed) for seed in range(STUDIES)]


def num_covered(intervals, name, whose, planted):
    ends = [study[name, whose] for study in intervals]
    return sum(low is not None and low <= planted * POINT <= high for low, high in ends)


class Model:
    """Draws of choices by one protocol, in points; D draws, C configs, E other test runs."""

    def __init__(self, protocol):
        generator = np.random.default_rng(5)
        judge, true_C = TRUTH.judges[protocol], TRUTH.true_C()
        shape = (DRAWS, TRUTH.configs)
        folds = np.sqrt(judge.folds)
        self.true_C = true_C
        self.run_DC = true_C + generator.normal(0, TRUTH.run_noise / folds, shape)
        self.val_DC = self.run_DC + generator.normal(0, judge.val_noise / folds, shape)
        test = np.hypot(TRUTH.run_noise, TRUTH.test_noise)
        num = TRUTH.repeats - 1
        self.tests_DCE = true_C[:, None] + generator.normal(0, test, (*shape, num))
        self.pick_D = self.val_DC.argmax(axis=1)
        self.rows_D = np.arange(DRAWS)

    def picked(self):
        return self.true_C[self.pick_D].mean()

    def regret(self):
        return self._best_on_half(np.zeros_like(self.val_DC)) - self.picked()

    def overtuning(self):
        before_DC = np.maximum.accumulate(self.val_DC, axis=1)[:, :-1]
        is_incumbent_DC = np.ones(self.val_DC.shape, dtype=bool)
        is_incumbent_DC[:, 1:] = self.val_DC[:, 1:] > before_DC
        return self._best_on_half(np.where(is_incumbent_DC, 0, -np.inf)) - self.picked()

    def _best_on_half(self, allowed_DC):
        """True score of the best on one half of the test runs; an odd one is on either side."""
        num = self.tests_DCE.shape[2]
        found = []
        for size in (num // 2, num - num // 2):
            seen_DC = self.tests_DCE[:, :, :size].mean(axis=2) + allowed_DC
            found.append(self.true_C[seen_DC.argmax(axis=1)].mean())
        return np.mean(found)

    def tau(self, test_DC):
        upper = np.triu_indices(TRUTH.configs, 1)
        sides = [
            np.sign(scores_DC[:, :, None] - scores_DC[:, None, :])[:, *upper]
            for scores_DC in (self.val_DC, test_DC)
        ]
        return (sides[0] * sides[1]).mean() / POINT  # it is a share, not in points

    def rate(self):
        return (self.pick_D == self.tests_DCE.mean(axis=2).argmax(axis=1)).mean() / POINT

    def fresh(self):
        return self.val_DC[self.rows_D, self.pick_D].mean() - self.picked()


MODELS = {}


def model(protocol):
    return MODELS.setdefault(protocol, Model(protocol))


PLANTED = {
    "picked_test": lambda m: m.picked(),
    "regret": lambda m: m.regret(),
    "overtuning": lambda m: m.overtuning(),
    "tau": lambda m: m.tau(m.tests_DCE.mean(axis=2)),
    "rate": lambda m: m.rate(),
    "fresh": lambda m: m.fresh(),
    "tuned_all": lambda m: m.picked(),
    "tuning": lambda m: m.picked() - m.true_C[0],
}


@pytest.mark.parametrize("protocol", ["fixed", "kfold"])
@pytest.mark.parametrize("name", list(PLANTED))
def test_the_interval_holds_the_planted_value(intervals, name, protocol):
    planted = PLANTED[name](model(protocol))
    assert num_covered(intervals, name, protocol, planted) >= LEAST


@pytest.mark.parametrize("protocol", ["fixed", "kfold"])
def test_the_interval_covers_the_gain_of_training_classes(intervals, protocol):
    level = TRUTH.judges[protocol].level
    assert num_covered(intervals, "classes", protocol, -level) >= LEAST
    planted = model(protocol).picked() + level
    assert num_covered(intervals, "tuned_part", protocol, planted) >= LEAST


@pytest.mark.parametrize("name", ["picked_test", "tuned_all", "tau"])
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_the_interval_holds_the_planted_difference(intervals, name, pair):
    a, b = (PLANTED[name](model(protocol)) for protocol in pair)
    assert num_covered(intervals, name, pair, a - b) >= LEAST


def test_estimates_of_regret_are_not_biased():
    found = [
        group_means(choice_cells(config_candidates(runs, tested=tested)), ["regret"])["mean"]
        for seed in range(30)
        for frames in [study_frames(TRUTH, 1000 + seed)]
        for runs in [FramesReader(frames).search_runs(frames.trials)]
        for tested in [scale_runs(runs)]
    ]
    estimates_SP = np.array([list(column) for column in found]) / POINT
    error_P = estimates_SP.std(axis=0, ddof=1) / np.sqrt(len(found))
    planted_P = [model(protocol).regret() for protocol in sorted(TRUTH.judges)]
    # False alarm at 4 standard errors, three times: 1 in 5,000.
    assert (np.abs(estimates_SP.mean(axis=0) - planted_P) < 4 * error_P).all()


HITS = ProtocolTruth(
    judges={"fixed": Judge()}, repeats=6, configs=6, seeds=1, classes=10, train_on=("part",)
)


def planted_class_optimism():
    """(all, of choosing the epoch), from binomial hits on two halves of the classes."""
    generator = np.random.default_rng(6)
    shape = (DRAWS, HITS.configs)
    noise = np.hypot(HITS.run_noise, HITS.judges["fixed"].val_noise)
    level_D1 = generator.normal(0, HITS.run_noise, (DRAWS, 1))
    best_DC = (HITS.true_C() + level_D1 + generator.normal(0, noise, shape)) * POINT
    recall_DC2 = np.stack([best_DC - 5 * POINT, best_DC], axis=2)  # two epochs
    queries = QUERIES * HITS.classes // 2
    sides = [generator.binomial(queries, recall_DC2) / queries for _ in range(2)]
    epoch_DC1 = sides[0].argmax(axis=2, keepdims=True)
    chosen_DC, elsewhere_DC = (
        np.take_along_axis(side, epoch_DC1, axis=2)[..., 0] for side in sides
    )
    config_D1 = chosen_DC.argmax(axis=1, keepdims=True)
    gap_DC = chosen_DC - elsewhere_DC
    return np.take_along_axis(gap_DC, config_D1, axis=1).mean() / POINT, gap_DC.mean() / POINT


def test_the_interval_covers_the_planted_optimism_over_classes():
    whole, epoch = planted_class_optimism()
    found = []
    for seed in range(STUDIES):
        frames = study_frames(HITS, seed)
        rows = optimism_over_classes(frames.class_hits(frames.trials)).to_dicts()
        found.append({(row["measure"], "fixed"): (row["low"], row["high"]) for row in rows})
    assert num_covered(found, "optimism", "fixed", whole) >= LEAST
    assert num_covered(found, "epoch", "fixed", epoch) >= LEAST
    assert num_covered(found, "config", "fixed", whole - epoch) >= LEAST
