"""What an epoch takes where none was trained: the mean of its block, or of all blocks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.scheduling.trial_seconds import TrialKind, TrialSeconds
from orchestrator.study.study import Block

BLOCKS = tuple(
    Block(dataset="d", backbone="b", embedding_dim=dim, image_size=None) for dim in (1, 2, 3)
)
LOSSES = ("x", "y", "z")
EPOCHS = st.tuples(st.sampled_from(BLOCKS[:2]), st.sampled_from(LOSSES[:2]), st.floats(0.1, 100))


def seconds_of(costs, block, loss):
    return costs.of_epochs(TrialKind("search", block, loss), 1)


@given(st.lists(EPOCHS, min_size=1, max_size=30))
def test_an_unknown_loss_takes_the_mean_of_the_known_ones(learnt):
    costs = TrialSeconds()
    for block, loss, seconds in learnt:
        costs.learn_epochs(TrialKind("search", block, loss), 1, seconds)
    known = {(block, loss): seconds_of(costs, block, loss) for block, loss, _ in learnt}
    for block in BLOCKS:
        alike = [value for (other, _), value in known.items() if other == block]
        expected = alike or list(known.values())
        mean = sum(expected) / len(expected)
        assert seconds_of(costs, block, LOSSES[2]) == pytest.approx(mean)


def test_nothing_is_known_before_the_first_epoch():
    assert seconds_of(TrialSeconds(), BLOCKS[0], LOSSES[0]) == 0.0
