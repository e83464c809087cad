"""The arithmetic behind docs/examples/findings-screening.md, on frames that a hand can check."""

import polars as pl
import pytest

from docs.make.screening_measures import (
    Agreement,
    agreement,
    agreement_by_block,
    config_agreement,
    leads,
    mean_agreement,
    reached_scores,
    saved_at_least,
)


def curves(**searches):
    """Curves of one loss in blocks: the best score after each trial."""
    return pl.DataFrame(
        [
            {"block": block, "loss": "triplet", "num_trials": number, "val": value}
            for block, values in searches.items()
            for number, value in enumerate(values, start=1)
        ]
    )


def scores(block, **by_loss):
    return pl.DataFrame(
        [{"block": block, "loss": loss, "score": score} for loss, score in by_loss.items()]
    )


def test_rankings_of_four_with_one_exchange_agree_in_five_pairs_of_six():
    found = agreement([1, 2, 3, 4], [1, 2, 4, 3])
    assert found.tau == pytest.approx(4 / 6)
    # Of 24 orders 1 has tau 1 and 3 have tau 4/6; as many lie at the other end.
    assert found.p == pytest.approx(8 / 24)


def test_losses_are_compared_within_blocks_and_only_where_both_scores_are():
    x = pl.concat([scores("a", l1=1, l2=2, l3=3), scores("b", l1=1, l2=2, l3=3, l4=9)])
    y = pl.concat([scores("a", l3=3, l2=2, l1=1), scores("b", l1=3, l2=2, l3=1)])
    found = agreement_by_block(x, y, ["a", "b"])
    assert [(found[block].tau, found[block].num) for block in "ab"] == [(1, 3), (-1, 3)]


def test_the_interval_of_a_mean_tau_ends_where_tau_does():
    found = mean_agreement([Agreement(tau=tau, p=1, num=3) for tau in (-0.9, 0.0, 0.9)])
    assert (found.estimate, found.low, found.high) == (0, -1, 1)


def test_configs_are_compared_that_both_searches_tried():
    def trials(loss, **objectives):
        return pl.DataFrame(
            [
                {"block": "a", "loss": loss, "config": config, "objective": value}
                for config, value in objectives.items()
            ]
        )

    first = pl.concat([trials("l1", p=1, q=2, r=3, s=4, t=0), trials("l2", p=1, q=2, r=3)])
    second = pl.concat([trials("l1", s=1, r=2, q=3, p=4, u=9), trials("l2", p=1, q=2, r=3)])
    assert config_agreement(first, second).rows() == [("a", "l1", -1.0, 4)]


def test_the_score_after_the_first_trials_is_looked_for_in_both_searches():
    warm = curves(a=[0.1, 0.5, 0.5, 0.9], b=[0.4, 0.6, 0.6, 0.6])
    cold = curves(a=[0.1, 0.2, 0.5, 0.6], b=[0.4, 0.4, 0.5, 0.5])
    firsts = {("a", "triplet"): 3, ("b", "triplet"): 3}
    found = reached_scores(warm, cold, firsts)
    assert found.select("block", "score", "setter", "other").rows() == [
        ("a", 0.5, 2, 3),
        ("b", 0.6, 2, None),
    ]
    # Never in four trials is at least the fifth.
    assert saved_at_least(found).to_list() == [1, 3]


def test_a_lead_is_taken_while_all_searches_last():
    warm = curves(a=[0.2, 0.5], b=[0.4, 0.6], c=[0.3])
    cold = curves(a=[0.1, 0.2], b=[0.2, 0.4], c=[0.0])
    found = leads(warm, cold)
    assert list(found) == [1]
    assert found[1].estimate == pytest.approx(0.2)
    assert found[1].num == 3
