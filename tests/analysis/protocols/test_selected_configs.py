"""The sentences claim no more than their intervals: whose picks are best, and by how much."""

from dataclasses import replace

import polars as pl
import pytest

from podium.analysis.protocols.findings_text import protocol_sentences
from podium.analysis.protocols.selected_configs import protocol_headline
from tests.analysis.protocol_truth import Judge, ProtocolTruth
from tests.analysis.synthetic_protocols import statistics, study_frames, study_of

JUDGES = {
    "good": Judge(val_noise=0.3),
    "blind": Judge(val_noise=30),
    "test_tuned": Judge(kind="test_tuned", val_noise=0.3),
}
TRUTH = ProtocolTruth(
    judges=JUDGES, losses=("a", "b"), repeats=5, spread=3.0, configs=8, splits="fresh"
)


def sentences(study):
    return " ".join([protocol_headline(study), *protocol_sentences(study)])


def pair_with_blind(study):
    rows = study.picks.scale.differences.filter(
        pl.col("measure") == "picked_test", pl.col("b") == "blind"
    )
    return rows.row(0, named=True)


def test_a_better_protocol_is_named_without_a_doubt():
    study = statistics(replace(TRUTH, repeats=8), seed=1)
    assert pair_with_blind(study)["p_holm"] < 0.05
    assert sentences(study).startswith("What good picked scored best on test: Recall@1 ")
    assert "does not differ significantly" not in sentences(study)
    points = 100 * pair_with_blind(study)["mean"]
    assert f"What good picked scored {points:.2f} points more than what blind picked" in sentences(
        study
    )


def test_what_chance_could_give_is_called_so():
    alike = {**JUDGES, "good": Judge(val_noise=3), "blind": Judge(val_noise=3.1)}
    study = statistics(replace(TRUTH, judges=alike), seed=2)
    assert pair_with_blind(study)["p_holm"] > 0.05
    assert "at 5 % it does not differ significantly from any other." in protocol_headline(study)


def test_equal_picks_are_not_ranked():
    same = dict.fromkeys(("good", "blind"), Judge(val_noise=0.01))
    truth = replace(TRUTH, judges={**same, "test_tuned": JUDGES["test_tuned"]}, run_noise=0.01)
    study = statistics(truth)
    assert "What blind and good picked scored alike on test" in protocol_headline(study)
    assert "it takes three repeats of each search" in sentences(study)


def test_protocols_of_unlike_searches_are_not_ranked():
    frames = study_frames(replace(TRUTH, blocks=("g-a/n/16", "g-b/n/16")), seed=0)
    is_missing = (pl.col("protocol") == "good") & (pl.col("block") == "g-b/n/16")
    study = study_of(replace(frames, trials=frames.trials.filter(~is_missing)))
    assert protocol_headline(study).startswith("Protocols cannot be ranked yet")
    assert study.costs["on_front"].to_list() == [None] * 3
    assert "costs and regrets" not in sentences(study)


def test_a_search_that_has_not_ended_is_reported():
    frames = study_frames(TRUTH, seed=0)
    is_left = (pl.col("stage") == "search") & (pl.col("index") > 4) & (pl.col("repeat") == 2)
    is_left &= pl.col("protocol") == "blind"
    study = study_of(replace(frames, trials=frames.trials.filter(~is_left)))
    assert "2 of 30 searches tried fewer configs than the others, which tried 8" in sentences(
        study
    )


@pytest.mark.parametrize(("splits", "is_reported"), [("same", True), ("fresh", False)])
def test_repeats_of_one_split_are_reported(splits, is_reported):
    study = statistics(replace(TRUTH, splits=splits, repeats=2, configs=3))
    assert ("speak of these splits" in sentences(study)) == is_reported


def test_refits_alone_still_show_the_gain_of_tuning_and_the_scores_of_leaking_picks():
    study = statistics(replace(TRUTH, train_on=("all",)))
    assert "both trained on all training classes" in sentences(study)
    assert "On one scale, what" in sentences(study)
    assert "reports" not in sentences(study)


def test_one_config_is_no_pick():
    study = statistics(replace(TRUTH, configs=1))
    assert "picked scored" not in sentences(study)
    assert sentences(study).startswith(
        "The only config under good and blind scored alike"
    ) or sentences(study).startswith("The only config under blind and good scored alike")
