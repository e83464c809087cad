"""What single losses on pairs and triplets are at the ends of their settings."""

import math

import pytest
import torch
from pytorch_metric_learning.distances import LpDistance
from pytorch_metric_learning.losses import ContrastiveLoss
from pytorch_metric_learning.reducers import DoNothingReducer

from podium.trainables.loss_composition.batch import Batch, References
from podium.trainables.losses.angular import Angular
from podium.trainables.losses.binomial_deviance import BinomialDeviance
from podium.trainables.losses.chopra import Chopra
from podium.trainables.losses.contrastive_l2 import ContrastiveL2
from podium.trainables.losses.csml import CSML
from podium.trainables.losses.dr_multi_similarity import DRMultiSimilarity
from podium.trainables.losses.lifted_mined import LiftedMined
from podium.trainables.losses.lifted_structure import LiftedStructure
from podium.trainables.losses.nca import Nca
from podium.trainables.losses.smooth_ap import SmoothAp
from podium.trainables.losses.structural import Structural
from podium.trainables.losses.triangular import Triangular
from podium.trainables.losses.triplet import Triplet
from podium.trainables.registry import load, names
from tests.trainables.losses.loss_cases import (
    BATCHES,
    DIM,
    embeddings,
    full_batch,
    on_circle,
    prepared_loss,
    run,
)
from tests.trainables.losses.one_anchor import one_anchor


def test_the_angular_hinge_opens_where_the_negative_sees_the_pair_under_more_than_the_angle():
    """From n the half of a - p is seen, at its centre, under atan(|a - p| / 2 / |n - c|)."""
    x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    batch = Batch.of(x, torch.tensor([0, 0, 1]))
    seen = math.degrees(math.atan(math.sqrt(2.0) / 2.0 / (math.sqrt(10.0) / 2.0)))
    for angle, share in ((seen - 0.1, 1.0), (seen + 0.1, 0.0)):
        assert Angular(angle_degrees=angle, form="hinge")(batch).active_fraction == share


@pytest.mark.parametrize("angle_degrees", [0.0, 70.0])
@pytest.mark.parametrize("form", ["smooth", "hinge"])
def test_at_both_ends_of_its_legal_angles_float32_is_close_to_float64(angle_degrees, form):
    x, labels, num_classes = BATCHES["balanced"]
    loss = prepared_loss(
        "angular", num_classes=num_classes, angle_degrees=angle_degrees, form=form
    )
    value, gradients, _ = run(loss, x, labels)
    exact, exact_gradients, _ = run(loss, x.double(), labels)
    torch.testing.assert_close(value.double(), exact, rtol=1e-4, atol=0.0)
    torch.testing.assert_close(
        gradients["embeddings"].double(), exact_gradients["embeddings"], rtol=1e-3, atol=1e-5
    )


def test_angular_rows_with_different_hardest_negatives_do_not_underflow_together():
    """The anchor is close to one negative, the positive to another, on the far side."""
    x = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [1.0, 1e-3], [-1.0, 1e-3]])
    labels = torch.tensor([0, 0, 1, 1])
    value = Angular(angle_degrees=70.0)(full_batch(x, labels)).value
    exact = Angular(angle_degrees=70.0)(full_batch(x.double(), labels)).value
    assert exact > 10.0
    torch.testing.assert_close(value.double(), exact, rtol=1e-5, atol=0.0)


def test_as_binomial_deviance_sharpens_its_step_becomes_a_hinge():
    x, labels, _ = BATCHES["clustered"]
    batch = Batch.of(x.double(), labels)
    cosine = batch.normalised_BD @ batch.normalised_BD.T
    same = labels[:, None] == labels
    itself = torch.eye(len(labels), dtype=torch.bool)
    hinges = (
        torch.relu(0.5 - cosine)[same & ~itself].mean() + torch.relu(cosine - 0.5)[~same].mean()
    )
    sharp = BinomialDeviance(alpha=1e3, margin=0.5, negative_weight=1.0)(batch).value
    torch.testing.assert_close(sharp / 1e3, hinges, rtol=0.0, atol=2e-3)


def test_under_l2_a_rotation_changes_nothing_but_under_l1_it_does():
    x, labels, _ = BATCHES["clustered"]
    x = x.double()
    rotation = torch.linalg.qr(embeddings(DIM, dtype=torch.float64, seed=7)).Q
    change = {
        distance: run(Chopra(distance=distance), x @ rotation, labels)[0]
        - run(Chopra(distance=distance), x, labels)[0]
        for distance in ("l1", "l2")
    }
    assert change["l2"].abs() < 1e-12
    assert change["l1"].abs() > 1e-3


def test_pairs_of_contrastive_l2_are_those_of_the_linear_hinge_squared():
    x, labels, _ = BATCHES["clustered"]
    linear = ContrastiveLoss(
        pos_margin=0.3, neg_margin=1.2, distance=LpDistance(), reducer=DoNothingReducer()
    )(x.double(), labels)
    hinges = (linear["pos_loss"]["losses"], linear["neg_loss"]["losses"])
    expected = sum(hinge[hinge > 0.0].square().mean() for hinge in hinges)
    output = ContrastiveL2(positive_margin=0.3, negative_margin=1.2)(Batch.of(x.double(), labels))
    torch.testing.assert_close(output.value, expected)
    num_active = sum((hinge > 0.0).sum() for hinge in hinges)
    torch.testing.assert_close(output.active_fraction, num_active / sum(map(len, hinges)))


def test_references_of_csml_that_are_the_batch_count_every_sample_as_its_own_positive():
    x, labels, _ = BATCHES["balanced"]
    batch = Batch.of(x.double(), labels)
    S = batch.normalised_BD @ batch.normalised_BD.T
    same = labels[:, None] == labels
    references = References(batch.embeddings_BD, batch.normalised_BD, labels)
    output = CSML(negative_weight=3.0)(batch._replace(references=references))
    torch.testing.assert_close(output.value, 3.0 * S[~same].mean() - S[same].mean())


def test_against_references_dr_multi_similarity_finds_the_hardest_positive_among_them():
    x = embeddings(12, dtype=torch.float64)
    labels = torch.arange(4).repeat(3)
    batch = Batch.of(x, labels)
    # The batch as its own memory: every image is one more positive of itself, far from hard.
    memory = References(batch.embeddings_BD, batch.normalised_BD, labels)
    loss = DRMultiSimilarity(alpha=1e3, gamma=0.7, epsilon=2.0)
    torch.testing.assert_close(loss(batch._replace(references=memory)).value, loss(batch).value)


def test_a_negative_equal_to_its_anchor_has_no_direction():
    x = embeddings(3, dim=DIM, dtype=torch.float64)[[0, 1, 0]].requires_grad_()
    value = DRMultiSimilarity(gamma=10.0)(Batch.of(x, torch.tensor([0, 0, 1]))).value
    (gradient,) = torch.autograd.grad(value, x)
    assert gradient.isfinite().all()


def test_with_all_pairs_at_sharpness_one_lifted_mined_is_twice_the_lifted_loss_without_its_hinge():
    x, labels, _ = BATCHES["balanced"]
    batch = Batch.of(x.double(), labels)
    mined = LiftedMined(alpha=1.0, beta=1.0, epsilon=2.0)(batch)
    # At this margin every hinge is open, and the margin is all that it adds.
    lifted = LiftedStructure(margin=10.0)(batch)
    torch.testing.assert_close(mined.value, 2.0 * (lifted.value - 10.0))
    assert mined.active_fraction == lifted.active_fraction == 1.0


def test_a_probability_of_nca_that_underflows_still_has_a_loss_and_a_gradient():
    anchor, batch = one_anchor(positives=[-0.9], negatives=[0.6])
    value = Nca(softmax_scale=1000.0)(batch).value
    assert value.item() == pytest.approx(3000.0)
    (gradient,) = torch.autograd.grad(value, anchor)
    assert gradient.norm() > 100.0


def one_minus_average_precision(batch):
    """The mean over anchors that have positives, ranks counted by sorting."""
    losses = []
    for i, similarities in enumerate(batch.normalised_BD @ batch.normalised_BD.T):
        order = [j for j in similarities.argsort(descending=True).tolist() if j != i]
        is_positive = [bool(batch.labels_B[j] == batch.labels_B[i]) for j in order]
        precisions = [
            sum(is_positive[: rank + 1]) / (rank + 1)
            for rank, positive in enumerate(is_positive)
            if positive
        ]
        if precisions:
            losses.append(1.0 - sum(precisions) / len(precisions))
    return sum(losses) / len(losses)


@pytest.mark.parametrize("batch_name", ["balanced", "unbalanced", "singletons beside pairs"])
def test_at_a_low_temperature_smooth_ap_is_the_average_precision(batch_name):
    x, labels, _ = BATCHES[batch_name]
    batch = Batch.of(x.double(), labels)
    value = SmoothAp(temperature=1e-4)(batch).value
    assert value.item() == pytest.approx(one_minus_average_precision(batch), abs=1e-3)


def test_one_tensor_of_b_cubed_of_smooth_ap_waits_for_the_gradient():
    x, labels, _ = BATCHES["balanced"]
    x = x.clone().requires_grad_()
    kept = set()

    def keep(tensor):
        if tensor.numel() >= len(x) ** 3:
            kept.add(tensor.data_ptr())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        SmoothAp()(Batch.of(x, labels))
    assert len(kept) == 1


def test_one_positive_pair_of_structural_by_hand():
    # Squared distances: 1 within the class (60 degrees), 2 and 3 to the negative (90 and 120).
    batch = Batch.of(on_circle(0.0, 60.0, -90.0), torch.tensor([0, 0, 1]))
    batch = batch._replace(normalised_BD=on_circle(0.0, 60.0, -90.0))
    gaps = [1.0 - 2.0, 1.0 - (2.0 - 2.0 * math.cos(math.radians(150.0)))]
    ranking = sum(math.log1p(math.exp((gap + 0.3) / 0.7)) for gap in gaps) / 2.0
    free = {"positive_variance": 4.0, "negative_variance": 4.0}
    value = Structural(margin=0.3, temperature=0.7, **free)(batch).value
    assert math.isclose(value, ranking)
    # Deviation of the two negative distances from their mean; positives have none.
    deviation = (gaps[0] - gaps[1]) / 2.0
    bounded = Structural(
        margin=0.3,
        temperature=0.7,
        variance_weight=3.0,
        positive_variance=0.0,
        negative_variance=0.1,
    )
    expected = ranking + 1.5 * (deviation**2 - 0.1)
    assert math.isclose(bounded(batch).value, expected)


def test_the_share_of_active_pairs_of_structural_is_that_of_anchors_with_negatives():
    for name, expected in (("balanced", 1.0), ("one class", 0.0), ("no positives", 0.0)):
        x, labels, _ = BATCHES[name]
        assert Structural()(Batch.of(x, labels)).active_fraction == expected


@pytest.mark.parametrize("length", [0.5, 1.0, 3.0])
def test_at_equal_lengths_triangular_depends_on_the_half_angle(length):
    angle = torch.tensor(0.7, dtype=torch.float64)
    x = length * torch.stack(
        [torch.tensor([1.0, 0.0]).double(), torch.stack([angle.cos(), angle.sin()])]
    )
    positive = Triangular()(Batch.of(x, torch.tensor([0, 0]))).value
    negative = Triangular()(Batch.of(x, torch.tensor([0, 1]))).value
    torch.testing.assert_close(positive, length**2 + 1.0 - 2.0 * length * torch.cos(angle / 2.0))
    torch.testing.assert_close(negative, length**2 + 1.0 - 2.0 * length * torch.sin(angle / 2.0))


def test_references_of_triangular_take_part_at_their_own_length():
    x, labels = embeddings(6, dtype=torch.float64), torch.tensor([0, 0, 1, 1, 2, 2])
    y = 3.0 * embeddings(2, dtype=torch.float64, seed=9)
    references = References(y, torch.nn.functional.normalize(y), torch.tensor([0, 1]))
    output = Triangular()(Batch.of(x, labels, references=references))
    costs = {True: [], False: []}
    for a, label in zip(x, labels, strict=True):
        for b, other in zip(y, references.labels_R, strict=True):
            third = (a + b if label == other else a - b).norm()
            costs[bool(label == other)].append(0.5 * (a @ a + b @ b) - third + 1.0)
    torch.testing.assert_close(output.value, sum(sum(side) / len(side) for side in costs.values()))


@pytest.mark.parametrize("miner", names("miners"))
def test_triplet_is_random_if_its_miner_is(miner):
    loss = Triplet(miner=miner)
    assert loss.is_random == load("miners", miner).is_random
    if loss.is_random:
        batch = Batch.of(embeddings(24), BATCHES["balanced"][1])
        with pytest.raises(AssertionError, match="gets random numbers"):
            loss(batch)
