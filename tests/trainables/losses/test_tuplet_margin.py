import math

import pytest
import torch

from orchestrator.study.loss_facts import facts_of
from tests.trainables.losses.loss_cases import BATCHES, prepared_loss, run
from tests.trainables.losses.one_anchor import one_anchor
from trainables.loss_composition.batch import Batch
from trainables.losses.n_pair import NPair
from trainables.losses.tuplet_margin import TupletMargin


def test_without_a_margin_it_is_n_pair_on_vectors_of_one_length():
    x, labels, num_classes = BATCHES["clustered"]
    tuplet = prepared_loss("tuplet_margin", num_classes=num_classes, margin_degrees=0.0, scale=9.0)
    value, _, active_fraction = run(tuplet, x.double(), labels)
    on_a_sphere = Batch.of(3.0 * torch.nn.functional.normalize(x.double()), labels)
    output = NPair(norm_weight=0.0)(on_a_sphere)
    torch.testing.assert_close(value, output.value)
    assert active_fraction == output.active_fraction


def test_hand_computed_for_one_anchor():
    _, batch = one_anchor(positives=[0.5], negatives=[0.0, -1.0])
    output = TupletMargin(margin_degrees=30.0, scale=2.0)(batch)
    relieved = math.cos(math.radians(60.0 - 30.0))
    expected = math.log(1 + math.exp(2 * (0.0 - relieved)) + math.exp(2 * (-1.0 - relieved)))
    assert output.value.item() == pytest.approx(expected)


def test_a_positive_nearer_than_the_margin_costs_more_than_one_at_it():
    def cost(degrees):
        _, batch = one_anchor(positives=[math.cos(math.radians(degrees))], negatives=[0.0])
        return TupletMargin(margin_degrees=10.0, scale=5.0)(batch).value.item()

    assert cost(10.0) < cost(5.0)
    assert cost(10.0) < cost(15.0)


def test_a_sum_with_the_loss_of_the_same_paper_can_be_named():
    facts = facts_of("tuplet_margin+intra_pair_variance")
    assert "intra_pair_variance.weight" in facts.spaces["joint"].parameters
