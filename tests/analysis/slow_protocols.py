"""The statistics of protocols, computed again row by row from a study's frames.

No polars beyond reading rows, no shared code: loops over searches, halves and repeats.
"""

import math
from itertools import combinations

from scipy import stats


def mean(values):
    values = list(values)
    return math.fsum(values) / len(values)


def jackknife(statistic, units):
    """Estimate with its 95 % interval, leaving out each unit in turn."""
    whole, without = statistic(()), [statistic((unit,)) for unit in units]
    n = len(units)
    error = math.sqrt((n - 1) / n * sum((value - mean(without)) ** 2 for value in without))
    half = stats.t.ppf(0.975, n - 1) * error
    return whole, whole - half, whole + half


class SlowStudy:
    """All searches and finals as dictionaries."""

    def __init__(self, frames):
        self.trials = {row["trial_id"]: row for row in frames.trials.to_dicts()}
        self.val, self.test = {}, {}
        for row in frames.scores.collect().to_dicts():
            folds = self.val.setdefault(row["trial_id"], {})
            folds[row["fold"]] = max(folds.get(row["fold"], -1), row["value"])
        for row in frames.test_scores.collect().to_dicts():
            self.test.setdefault(row["trial_id"], {})[row["fold"]] = row["value"]
        rows = self.trials.values()
        self.protocols = sorted({row["protocol"] for row in rows})
        self.repeats = sorted({row["repeat"] for row in rows})
        self.places = sorted({(row["block"], row["loss"]) for row in rows})

    def searched(self, block, loss, protocol, repeat):
        """config -> (validation, test or None) of the complete trials, as suggested."""
        found = [
            row
            for row in self.trials.values()
            if row["stage"] == "search"
            and row["state"] == "COMPLETE"
            and (row["block"], row["loss"], row["protocol"], row["repeat"])
            == (block, loss, protocol, repeat)
        ]
        return {
            row["config_hash"]: (
                mean(self.val[row["trial_id"]].values()),
                mean(self.test[row["trial_id"]].values())
                if row["trial_id"] in self.test
                else None,
            )
            for row in sorted(found, key=lambda row: row["index"])
        }

    def pick(self, *place):
        searched = self.searched(*place)
        return max(searched, key=lambda config: searched[config][0])  # the earliest on ties

    def tests_elsewhere(self, block, loss, protocol, repeat, scale, left_out=()):
        """config -> test scores in the other repeats of the scale."""
        others = [r for r in self.repeats if r != repeat and r not in left_out]
        runs = [self.searched(block, loss, scale or protocol, r) for r in others]
        return {
            c: [run[c][1] for run in runs] for c in self.searched(block, loss, protocol, repeat)
        }

    def cells(self, left_out=()):
        return [
            (block, loss, repeat)
            for block, loss in self.places
            for repeat in self.repeats
            if repeat not in left_out
        ]

    def picked_test(self, protocol, scale=None, left_out=()):
        """Mean over searches of what the pick scores in other repeats."""
        return mean(
            mean(
                self.tests_elsewhere(block, loss, protocol, repeat, scale, left_out)[
                    self.pick(block, loss, protocol, repeat)
                ]
            )
            for block, loss, repeat in self.cells(left_out)
        )

    def regret(self, protocol, scale=None):
        """Mean over searches of the cross-fitted regret, over all ways to halve."""
        found = []
        for block, loss, repeat in self.cells():
            tests = self.tests_elsewhere(block, loss, protocol, repeat, scale)
            pick = self.pick(block, loss, protocol, repeat)
            num = len(tests[pick])
            gaps = []
            for size in sorted({num // 2, num - num // 2}):
                for side in combinations(range(num), size):
                    rest = [e for e in range(num) if e not in side]
                    oracle = max(tests, key=lambda c, t=tests, s=side: mean(t[c][e] for e in s))
                    gaps.append(mean(tests[oracle][e] - tests[pick][e] for e in rest))
            found.append(mean(gaps))
        return mean(found)

    def tau(self, protocol, scale=None, left_out=()):
        found = []
        for block, loss, repeat in self.cells(left_out):
            searched = self.searched(block, loss, protocol, repeat)
            tests = self.tests_elsewhere(block, loss, protocol, repeat, scale, left_out)
            val = [searched[c][0] for c in tests]
            found.append(stats.kendalltau(val, [mean(tests[c]) for c in tests]).statistic)
        return mean(found)

    def times_best(self, protocol, scale=None):
        """How often the pick is the best on mean test."""
        return sum(
            self.pick(block, loss, protocol, repeat)
            == max(tests, key=lambda c, t=tests: mean(t[c]))
            for block, loss, repeat in self.cells()
            for tests in [self.tests_elsewhere(block, loss, protocol, repeat, scale)]
        )

    def overtuning(self, protocol, scale=None):
        """Of the last incumbent, the best so far chosen on one half of the other runs."""
        found = []
        for block, loss, repeat in self.cells():
            searched = self.searched(block, loss, protocol, repeat)
            tests = self.tests_elsewhere(block, loss, protocol, repeat, scale)
            incumbents = []
            for config, (val, _) in searched.items():
                if not incumbents or val > searched[incumbents[-1]][0]:
                    incumbents.append(config)
            num = len(tests[incumbents[-1]])
            lost = []
            for size in sorted({num // 2, num - num // 2}):
                for side in combinations(range(num), size):
                    rest = [e for e in range(num) if e not in side]
                    best = max(incumbents, key=lambda c, t=tests, s=side: mean(t[c][e] for e in s))
                    lost.append(mean(tests[best][e] - tests[incumbents[-1]][e] for e in rest))
            found.append(mean(lost))
        return mean(found)

    def fresh_optimism(self, protocol):
        """Validation of the pick less that of its runs in other repeats and in finals."""
        found = []
        for block, loss, repeat in self.cells():
            pick = self.pick(block, loss, protocol, repeat)
            again = [
                self.searched(block, loss, protocol, r)[pick][0]
                for r in self.repeats
                if r != repeat
            ]
            seeds = {}
            for row in self.trials.values():
                place = (row["block"], row["loss"], row["protocol"], row["config_hash"])
                if row["train_on"] == "part" and place == (block, loss, protocol, pick):
                    seeds.setdefault((row["repeat"], row["seed_index"]), []).append(
                        mean(self.val[row["trial_id"]].values())
                    )
            again += [mean(folds) for folds in seeds.values()]
            found.append(self.searched(block, loss, protocol, repeat)[pick][0] - mean(again))
        return mean(found)

    def final(self, protocol, finalist, train_on, left_out=()):
        """Mean over searches, seeds and folds of a rung of the ladder."""
        flag = {"winner": "is_winner", "default": "is_default"}[finalist]
        return mean(
            mean(
                value
                for row in self.trials.values()
                if row["stage"] == "final" and row[flag] and row["train_on"] == train_on
                if (row["block"], row["loss"], row["protocol"], row["repeat"])
                == (block, loss, protocol, repeat)
                for value in self.test[row["trial_id"]].values()
            )
            for block, loss, repeat in self.cells(left_out)
        )

    def hours(self, protocol, stage):
        """Of all trials, copies too; a search's without what it spent on test classes."""
        return (
            sum(
                row["seconds"] - (row["test_seconds"] if stage == "search" else 0)
                for row in self.trials.values()
                if row["protocol"] == protocol and row["stage"] == stage
            )
            / 3600
        )
