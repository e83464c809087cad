"""What docs/reference/facts.md measures of losses, against what their formulas say."""

import pytest

from docs.make.step_costs import step_cost


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
