"""From a store's frames to every statistic, against slow recomputations from the rows."""

import re
from dataclasses import replace
from operator import attrgetter

import polars as pl
import pytest

from podium.analysis.estimates.wilson_interval import wilson_interval
from podium.errors import PodiumError
from tests.analysis.protocol_truth import Judge, ProtocolTruth
from tests.analysis.slow_protocols import SlowStudy, jackknife
from tests.analysis.synthetic_protocols import shuffled, statistics, study_frames, study_of

TRUTH = ProtocolTruth(losses=("contrastive", "triplet"), repeats=3, configs=5)
SCALE = "test_tuned"


@pytest.fixture(scope="module")
def repeated_frames():
    return study_frames(TRUTH, seed=3)


@pytest.fixture(scope="module")
def repeated_study(repeated_frames):
    return study_of(repeated_frames)


@pytest.fixture(scope="module")
def slow_study(repeated_frames):
    return SlowStudy(repeated_frames)


def value(means, protocol, measure, column="mean"):
    row = means.filter(pl.col("protocol") == protocol, pl.col("measure") == measure)
    return row[column].item()


def interval(means, protocol, measure):
    return [value(means, protocol, measure, column) for column in ("mean", "low", "high")]


@pytest.mark.parametrize("protocol", list(TRUTH.judges))
def test_choices_on_one_scale_equal_a_slow_computation(repeated_study, slow_study, protocol):
    means = repeated_study.picks.scale.means
    expected = jackknife(
        lambda out: slow_study.picked_test(protocol, SCALE, out), slow_study.repeats
    )
    assert interval(means, protocol, "picked_test") == pytest.approx(expected)
    expected = jackknife(lambda out: slow_study.tau(protocol, SCALE, out), slow_study.repeats)
    assert interval(means, protocol, "tau") == pytest.approx(expected)
    assert value(means, protocol, "regret") == pytest.approx(slow_study.regret(protocol, SCALE))
    assert value(means, protocol, "overtuning") == pytest.approx(
        slow_study.overtuning(protocol, SCALE)
    )


@pytest.mark.parametrize("protocol", list(TRUTH.judges))
def test_choices_on_own_runs_equal_a_slow_computation(repeated_study, slow_study, protocol):
    means = repeated_study.picks.own.means
    assert value(means, protocol, "picked_test") == pytest.approx(slow_study.picked_test(protocol))
    assert value(means, protocol, "regret") == pytest.approx(slow_study.regret(protocol))
    assert value(means, protocol, "tau") == pytest.approx(slow_study.tau(protocol))


@pytest.mark.parametrize("protocol", list(TRUTH.judges))
def test_the_pick_rate_counts_searches(repeated_study, slow_study, protocol):
    row = repeated_study.picks.scale.pick_rates.filter(pl.col("protocol") == protocol).row(
        0, named=True
    )
    times, searches = slow_study.times_best(protocol, SCALE), len(slow_study.cells())
    expected = wilson_interval(times, searches)
    assert (row["rate"], row["num_searches"]) == (times / searches, searches)
    assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high))
    assert row["chance"] == pytest.approx(1 / TRUTH.configs)


@pytest.mark.parametrize(("a", "b"), [("fixed", "kfold"), ("kfold", "test_tuned")])
def test_two_protocols_are_compared_in_pairs(repeated_study, slow_study, a, b):
    rows = repeated_study.picks.scale.differences.filter(pl.col("a") == a, pl.col("b") == b)
    row = rows.filter(pl.col("measure") == "picked_test").row(0, named=True)
    expected = jackknife(
        lambda out: slow_study.picked_test(a, SCALE, out) - slow_study.picked_test(b, SCALE, out),
        slow_study.repeats,
    )
    assert (row["mean"], row["low"], row["high"]) == pytest.approx(expected)
    finals = repeated_study.finals.differences.filter(pl.col("a") == a, pl.col("b") == b)
    row = finals.filter(pl.col("measure") == "tuned_all").row(0, named=True)
    expected = jackknife(
        lambda out: (
            slow_study.final(a, "winner", "all", out) - slow_study.final(b, "winner", "all", out)
        ),
        slow_study.repeats,
    )
    assert (row["mean"], row["low"], row["high"]) == pytest.approx(expected)
    assert row["p_value"] <= row["p_holm"]


@pytest.mark.parametrize("protocol", list(TRUTH.judges))
def test_the_gains_of_the_final_stage_equal_a_slow_computation(
    repeated_study, slow_study, protocol
):
    def rung(finalist, train_on):
        return lambda out=(): slow_study.final(protocol, finalist, train_on, out)

    default, tuned, refit = (
        rung("default", "part"),
        rung("winner", "part"),
        rung("winner", "all"),
    )
    for measure, statistic in {
        "default_part": default,
        "tuned_part": tuned,
        "tuned_all": refit,
        "tuning": lambda out: tuned(out) - default(out),
        "classes": lambda out: refit(out) - tuned(out),
        "both": lambda out: refit(out) - default(out),
    }.items():
        expected = jackknife(statistic, slow_study.repeats)
        assert interval(repeated_study.finals.means, protocol, measure) == pytest.approx(
            expected, abs=1e-12
        )
    assert repeated_study.finals.unit == "repeats"


@pytest.mark.parametrize("protocol", list(TRUTH.judges))
def test_hours_and_optimism_equal_a_slow_computation(repeated_study, slow_study, protocol):
    row = repeated_study.costs.filter(pl.col("protocol") == protocol).row(0, named=True)
    search, final = (slow_study.hours(protocol, stage) for stage in ("search", "final"))
    assert (row["search_hours"], row["final_hours"]) == pytest.approx((search, final))
    assert row["hours_per_search"] == pytest.approx(search / len(slow_study.cells()))
    assert value(repeated_study.optimism_over_runs, protocol, "fresh") == pytest.approx(
        slow_study.fresh_optimism(protocol)
    )


def test_a_copy_costs_each_protocol_and_the_study_once(repeated_study, slow_study):
    copies = [row for row in slow_study.trials.values() if row["same_as"]]
    assert repeated_study.num_copies == len(copies) > 0
    alone = repeated_study.costs["gpu_hours"].sum()
    assert alone - repeated_study.spent_hours == pytest.approx(
        sum(r["seconds"] for r in copies) / 3600
    )


def test_each_reading_of_test_classes_is_counted_once(repeated_study, slow_study):
    found = {
        (r["protocol"], r["stage"], r["leaks"]): r["readings"]
        for r in repeated_study.readings.to_dicts()
    }
    for (protocol, stage, leaks), readings in found.items():
        rows = [
            row["test_readings"]
            for row in slow_study.trials.values()
            if (row["protocol"], row["stage"], row["leaks"]) == (protocol, stage, leaks)
        ]
        assert readings == sum(rows)
        assert leaks == (protocol == SCALE)
    assert len(found) == 6


def test_what_leaks_is_marked_and_not_on_the_front(repeated_study):
    assert repeated_study.shown == {
        "fixed": "fixed",
        "kfold": "kfold",
        "test_tuned": "test_tuned (leaks)",
    }
    front = dict(repeated_study.costs.select("protocol", "on_front").iter_rows())
    assert front[SCALE] is None
    assert True in front.values()


def test_nothing_is_missing_without_a_reason(repeated_study):
    assert repeated_study.reasons == {
        "optimism_over_classes": "no search validated on four classes"
    }


def test_the_order_of_rows_changes_no_bit(repeated_frames, repeated_study):
    again = study_of(shuffled(repeated_frames, seed=1))
    frames = attrgetter(
        *("runs", "finals.means", "finals.by_loss", "finals.differences"),
        *("optimism_over_runs", "costs", "readings"),
    )
    for mine, theirs in zip(frames(repeated_study), frames(again), strict=True):
        assert mine.equals(theirs)
    for side in ("scale", "own"):
        for name in ("means", "differences", "pick_rates", "searches"):
            mine, theirs = (attrgetter(f"{side}.{name}")(s.picks) for s in (repeated_study, again))
            assert mine.equals(theirs), name


def test_failed_trials_are_not_compared():
    truth = replace(TRUTH, failed=(2, 4))
    frames = study_frames(truth, seed=3)
    slow, found = SlowStudy(frames), study_of(frames)
    for protocol in truth.judges:
        means = found.picks.scale.means
        assert value(means, protocol, "regret") == pytest.approx(slow.regret(protocol, SCALE))
        assert value(means, protocol, "tau") == pytest.approx(slow.tau(protocol, SCALE))
    assert found.picks.scale.searches["num_configs"].to_list() == [3] * len(
        found.picks.scale.searches
    )
    assert found.costs["failed_hours"].min() > 0


def test_runs_that_early_stopping_let_run_score_no_pick():
    found = statistics(replace(TRUTH, pruned=(2,)))
    assert (found.picks.scale, found.picks.own) == (None, None)
    assert found.reasons["scale"].startswith("test_tuned stopped trials early")
    assert found.reasons["own"].startswith("fixed, kfold, test_tuned stopped trials early")
    assert found.costs["pruned_hours"].min() > 0
    assert value(found.finals.means, "fixed", "tuning") is not None


def test_a_protocol_that_stops_trials_early_is_scored_on_the_scale_of_another(repeated_frames):
    is_raced = (pl.col("protocol") == "kfold") & (pl.col("index") == 1)
    is_raced &= pl.col("stage") == "search"
    state = pl.when(is_raced).then(pl.lit("PRUNED")).otherwise(pl.col("state"))
    found = study_of(
        replace(repeated_frames, trials=repeated_frames.trials.with_columns(state=state))
    )
    assert set(found.picks.own.means["protocol"]) == {"fixed", "test_tuned"}
    assert found.reasons["own"].startswith("kfold stopped trials early")
    searches = found.picks.scale.searches
    assert searches["num_configs"].to_list() == [TRUTH.configs] * len(searches)


@pytest.mark.parametrize(
    ("changes", "reasons"),
    [
        (
            {"quarantine": False, "losses": ("a",)},
            {
                "scale": "no search trial of test_tuned was tested",
                "own": "searches were not tested",
            },
        ),
        (
            {"repeats": 1, "train_on": ("all",)},
            {
                "scale": "other repeats, and there is one",
                "own": "other repeats, and there is one",
                "optimism_over_runs": "finals have another split",
            },
        ),
        (
            {"judges": {"fixed": Judge()}},
            {"scale": "needs a second protocol", "final_differences": "there is one protocol"},
        ),
        (
            {"judges": {"fixed": Judge(), "x": Judge()}, "train_on": ("part",)},
            {
                "scale": "a protocol of kind test_tuned",
                "finals": r"final.train_on: \[part, all\]",
            },
        ),
        ({"shared_configs": False}, {"scale": "protocols tried different configs"}),
    ],
)
def test_what_cannot_be_computed_says_why(changes, reasons):
    found = statistics(replace(TRUTH, **{"repeats": 2, "configs": 3, **changes}))
    for attribute, reason in reasons.items():
        assert re.search(reason, found.reasons[attribute])


def test_a_single_protocol_without_quarantine_still_has_its_gains_and_costs():
    truth = replace(TRUTH, judges={"fixed": Judge(level=-2)}, quarantine=False, repeats=1)
    found = statistics(truth)
    assert found.finals.unit == "seeds"
    assert value(found.finals.means, "fixed", "classes") == pytest.approx(0.02, abs=0.005)
    assert value(found.finals.means, "fixed", "classes", "low") is not None
    assert found.costs["gpu_hours"].item() > 0
    assert (found.picks.scale, found.picks.own) == (None, None)


def test_a_study_without_an_ended_trial_is_refused(repeated_frames):
    with pytest.raises(PodiumError, match="no ended trial of a search yet"):
        study_of(replace(repeated_frames, trials=repeated_frames.trials.clear()))
