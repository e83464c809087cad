"""What single losses on pairs and triplets are at the ends of their settings."""

import math

import pytest
import torch
from pytorch_metric_learning.distances import DotProductSimilarity
from pytorch_metric_learning.losses import NPairsLoss
from torch.nn.functional import softplus

from podium.trainables.loss_composition.batch import Batch, References
from podium.trainables.losses.angular import Angular
from podium.trainables.losses.csml import CSML
from podium.trainables.losses.dr_multi_similarity import DRMultiSimilarity
from podium.trainables.losses.language_guidance import LanguageGuidance
from podium.trainables.losses.n_pair import NPair
from podium.trainables.losses.nca import Nca
from podium.trainables.losses.polar_sine import PolarSine
from podium.trainables.losses.quadruplet_similarity import QuadrupletSimilarity
from podium.trainables.losses.smooth_ap import SmoothAp
from podium.trainables.losses.structural import Structural
from podium.trainables.losses.triangular import Triangular
from podium.trainables.losses.triplet import Triplet
from podium.trainables.registry import load, names
from tests.trainables.losses.loss_cases import (
    BATCHES,
    DIM,
    balanced_labels,
    embeddings,
    full_batch,
    prepared_loss,
    run,
)
from tests.trainables.losses.one_anchor import one_anchor


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


def test_a_probability_of_nca_that_underflows_still_has_a_loss_and_a_gradient():
    anchor, batch = one_anchor(positives=[-0.9], negatives=[0.6])
    value = Nca(softmax_scale=1000.0)(batch).value
    assert value.item() == pytest.approx(3000.0)
    (gradient,) = torch.autograd.grad(value, anchor)
    assert gradient.norm() > 100.0


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


def test_the_share_of_active_pairs_of_structural_is_that_of_anchors_with_negatives():
    for name, expected in (("balanced", 1.0), ("one class", 0.0), ("no positives", 0.0)):
        x, labels, _ = BATCHES[name]
        assert Structural()(Batch.of(x, labels)).active_fraction == expected


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


def test_more_classes_than_dimensions_of_polar_sine_are_cut_into_tuples_of_at_most_that_many():
    x = torch.eye(DIM, dtype=torch.float64).repeat(2, 1).repeat_interleave(2, dim=0)
    assert PolarSine()(Batch.of(x, balanced_labels(2 * DIM, 2))).value == 0.0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_nearly_equal_embeddings_of_many_classes_keep_polar_sine_finite(dtype):
    x = embeddings(1, dim=512, dtype=dtype) + 1e-6 * embeddings(180, dim=512, dtype=dtype, seed=1)
    value, gradients, _ = run(PolarSine(), x, balanced_labels(36, 5))
    assert value.isfinite()
    assert gradients["embeddings"].isfinite().all()


def test_only_pairs_of_two_classes_are_active_in_language_guidance():
    labels = balanced_labels(num_classes=3, samples_per_class=2)
    text = embeddings(3, dim=5, dtype=torch.float64, seed=4)[labels]
    output = LanguageGuidance()(
        Batch.of(embeddings(6, dtype=torch.float64), labels, class_text_BT=text)
    )
    assert output.active_fraction == pytest.approx(24 / 30)


def test_against_the_partners_of_two_images_a_class_n_pair_is_the_loss_of_the_paper():
    x, labels = embeddings(14, dtype=torch.float64).requires_grad_(), torch.arange(7)
    partners = References(x[7:], x[7:], labels)
    ours = NPair(norm_weight=0.0)(Batch.of(x[:7], labels, references=partners)).value
    dot_products = DotProductSimilarity(normalize_embeddings=False)
    theirs = NPairsLoss(distance=dot_products)(x, labels.repeat(2))
    torch.testing.assert_close(ours, theirs)
    gradients = (torch.autograd.grad(value, x, retain_graph=True) for value in (ours, theirs))
    torch.testing.assert_close(*gradients)


# 40 classes of 5: 400 positive and 19,500 negative pairs, so both sides are grouped.
OF_40 = balanced_labels(num_classes=40, samples_per_class=5)
CENTRES_OF_40 = embeddings(40, dim=32, dtype=torch.float64, seed=5)
X_OF_40 = CENTRES_OF_40[OF_40] + 0.7 * embeddings(200, dim=32, dtype=torch.float64)


def over_all_pairs_of_pairs(x, labels, gamma):
    z = torch.nn.functional.normalize(x)
    rows, columns = torch.triu_indices(len(x), len(x), offset=1)
    cosine = (z @ z.T)[rows, columns]
    is_positive = labels[rows] == labels[columns]
    return softplus(gamma * (cosine[~is_positive] - cosine[is_positive][:, None])).mean()


@pytest.mark.parametrize(("gamma", "tolerance"), [(1.0, 1e-5), (10.0, 2e-4), (100.0, 2e-3)])
def test_a_large_batch_comes_close_to_all_pairs_of_pairs_from_below(gamma, tolerance):
    x = X_OF_40.clone().requires_grad_()
    exact = over_all_pairs_of_pairs(x, OF_40, gamma)
    exact_gradient = torch.autograd.grad(exact, x)[0]
    value, gradients, _ = run(QuadrupletSimilarity(gamma=gamma), X_OF_40, OF_40)
    assert exact * (1.0 - tolerance) <= value <= exact
    error = (gradients["embeddings"] - exact_gradient).norm() / exact_gradient.norm()
    assert error < 0.01


def test_with_256_pairs_on_a_side_it_is_exact_and_with_more_it_is_not():
    for num_classes, samples_per_class, is_exact in ((2, 16, True), (2, 17, False)):
        labels = balanced_labels(num_classes, samples_per_class)
        x = embeddings(len(labels), dim=32, dtype=torch.float64)
        value = QuadrupletSimilarity(gamma=50.0)(Batch.of(x, labels)).value
        exact = over_all_pairs_of_pairs(x, labels, 50.0)
        assert math.isclose(value, exact, rel_tol=1e-12) is is_exact  # 256 and 289 negatives
