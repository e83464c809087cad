"""What docs/reference/facts.md measures of losses, against what their formulas say."""

import pytest

from docs.make.loss_probes import pair_weights, step_cost

SELF, POSITIVES, NEGATIVES = "self", "positives", "negatives"


@pytest.mark.parametrize(
    ("loss", "positive", "negative"),
    [
        ("csml", set(), set()),  # -t S: every pair weighs the same
        ("cosine_pairwise", {SELF}, {SELF}),  # (t - S)^2
        ("binomial_deviance", {SELF}, {SELF}),
        # Its negatives are averaged over those beyond the margin, which others may join or leave.
        ("contrastive", set(), {SELF, NEGATIVES}),
        # Two log-sum-exps of a proxy, one over its class and one over all other classes.
        ("proxy_anchor", {SELF, POSITIVES}, {SELF, NEGATIVES}),
        # The own proxy is outside the log-sum-exp.
        ("proxy_nca", set(), {SELF, NEGATIVES}),
        # The same with the own proxy inside.
        ("normalized_softmax", {SELF, NEGATIVES}, {SELF, NEGATIVES, POSITIVES}),
        # Its miner keeps pairs by comparing negatives with positives.
        (
            "multi_similarity",
            {SELF, POSITIVES, NEGATIVES},
            {SELF, POSITIVES, NEGATIVES},
        ),
    ],
)
def test_weights_of_pairs_depend_on_what_the_formula_has_in_them(loss, positive, negative):
    weights = pair_weights(loss)
    assert (weights.positive, weights.negative) == (positive, negative)


def test_a_step_of_the_softmax_is_its_three_products_and_little_else():
    cost = step_cost("softmax", batch_size=32, num_classes=48)
    products = 3 * 32 * 48 * 128  # logits, and their gradients by embeddings and by proxies
    assert products < cost.numbers < 1.1 * products
    assert cost.batch_order == pytest.approx(1, abs=0.05)
    assert cost.class_order == pytest.approx(1, abs=0.05)


def test_losses_on_pairs_grow_with_the_square_of_the_batch_and_not_with_the_classes():
    cost = step_cost("csml", batch_size=64, num_classes=64)
    assert cost.batch_order == pytest.approx(2, abs=0.1)
    assert cost.class_order == 0
