import torch

from tests.trainables.losses.loss_cases import BATCHES, embeddings
from trainables.loss_composition.batch import Batch
from trainables.losses.n_pair import NPair
from trainables.losses.sup_con import SupCon


def test_with_two_images_a_class_it_is_the_n_pair_loss_of_scaled_unit_vectors():
    x = embeddings(10, dtype=torch.float64)
    labels = torch.arange(5).repeat(2)
    temperature = 0.2
    unit = torch.nn.functional.normalize(x, dim=1)
    n_pair = NPair(norm_weight=0.0)(Batch.of(unit / temperature**0.5, labels)).value
    torch.testing.assert_close(SupCon(temperature=temperature)(Batch.of(x, labels)).value, n_pair)


def test_of_embeddings_that_are_all_equal_it_is_the_log_of_their_number():
    _, labels, _ = BATCHES["balanced"]
    x = embeddings(1, dtype=torch.float64).expand(len(labels), -1)
    value = SupCon()(Batch.of(x, labels)).value
    torch.testing.assert_close(value, torch.tensor(float(len(labels) - 1)).double().log())


def test_anchors_without_positives_or_without_negatives_add_nothing():
    x = embeddings(3, dtype=torch.float64)
    output = SupCon()(Batch.of(x, torch.tensor([0, 0, 1])))
    torch.testing.assert_close(output.active_fraction, torch.tensor(2 / 3).double())
    assert SupCon()(Batch.of(x, torch.zeros(3, dtype=torch.int64))).value == 0.0
    assert SupCon()(Batch.of(x, torch.arange(3))).value == 0.0
