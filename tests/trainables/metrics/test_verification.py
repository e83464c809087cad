"""Verification against loops over pairs, scikit-learn and cases by hand."""

import itertools
import math

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

from podium.trainables.dataset_interface.verification_pairs import VerificationPairs
from podium.trainables.metrics import _pair_counts, verification
from podium.trainables.metrics.verification import deal_classes, verification_scores


def found(embeddings, labels, pairs=None):
    scores = verification_scores(embeddings, labels, pairs, role="test")
    return {(score.metric, score.k): score for score in scores}


def value(scores, metric, k=None):
    return scores[metric, k].value


def embedded(num_classes=12, per_class=5, dim=6, noise=0.8, seed=0):
    """Classes around random centres."""
    generator = torch.Generator().manual_seed(seed)
    labels_N = torch.arange(num_classes).repeat_interleave(per_class)
    centres_CD = torch.randn(num_classes, dim, generator=generator)
    noise_ND = torch.randn(len(labels_N), dim, generator=generator)
    return centres_CD[labels_N] + noise * noise_ND, labels_N


def cosine(a, b):
    a, b = a.double().tolist(), b.double().tolist()
    dot = math.fsum(v * w for v, w in zip(a, b, strict=True))
    return dot / math.sqrt(math.fsum(v * v for v in a)) / math.sqrt(math.fsum(w * w for w in b))


def every_pair(embeddings_ND, labels_N):
    """Cosine and whether both are of one class, of each pair."""
    return [
        (cosine(embeddings_ND[i], embeddings_ND[j]), bool(labels_N[i] == labels_N[j]))
        for i, j in itertools.combinations(range(len(labels_N)), 2)
    ]


def oracle_tar(pairs, far):
    """Try the cosine of every pair as threshold, and one above all."""
    same = np.array([score for score, is_same in pairs if is_same])
    different = np.array([score for score, is_same in pairs if not is_same])
    best = 0
    for threshold, _ in pairs:
        if (different >= threshold).sum() <= far * len(different) + 1e-9:
            best = max(best, (same >= threshold).sum())
    return best / len(same)


def oracle_eer(pairs):
    same = [score for score, is_same in pairs if is_same]
    different = [score for score, is_same in pairs if not is_same]
    before = (0.0, 0.0)
    for threshold in sorted({score for score, _ in pairs}, reverse=True):
        far = sum(score >= threshold for score in different) / len(different)
        tar = sum(score >= threshold for score in same) / len(same)
        if far >= 1.0 - tar:
            (far0, tar0), rise = before, (far - before[0]) + (tar - before[1])
            return far0 + (1.0 - far0 - tar0) / rise * (far - far0)
        before = (far, tar)
    raise AssertionError("everything accepted is FAR 1")


def oracle_accuracies(pairs, folds):
    """Both kinds weigh the same; the middle between neighbouring cosines is a threshold."""

    def accuracy(chosen, threshold):
        same = [score >= threshold for score, is_same in chosen if is_same]
        different = [score < threshold for score, is_same in chosen if not is_same]
        return (sum(same) / len(same) + sum(different) / len(different)) / 2

    accuracies = []
    for fold in sorted(set(folds)):
        others = [pair for pair, of in zip(pairs, folds, strict=True) if of != fold]
        own = [pair for pair, of in zip(pairs, folds, strict=True) if of == fold]
        levels = sorted({score for score, _ in others}, reverse=True)
        middles = [(a + b) / 2 for a, b in itertools.pairwise(levels)]
        best = max(
            (math.inf, *middles, -math.inf), key=lambda t: (round(accuracy(others, t), 12), t)
        )
        accuracies.append(accuracy(own, best))
    return accuracies


def drawn_pairs(labels_N, num_folds=4, per_fold=12, seed=0):
    """Random pairs, as many of one class as of two in each fold."""
    draw = np.random.default_rng(seed)
    labels = labels_N.numpy()
    rows = []
    for fold in range(num_folds):
        for is_same in (True, False):
            for _ in range(per_fold):
                first = draw.integers(len(labels))
                fits = np.flatnonzero((labels == labels[first]) == is_same)
                rows.append((first, draw.choice(fits[fits != first]), is_same, fold))
    first_P, second_P, is_same_P, folds_P = map(np.array, zip(*rows, strict=True))
    return VerificationPairs(
        first_P=first_P, second_P=second_P, is_same_P=is_same_P, folds_P=folds_P
    )


def test_tar_at_every_far_is_that_of_a_search_over_all_pairs():
    embeddings, labels = embedded()
    scores, pairs = found(embeddings, labels), every_pair(embeddings, labels)
    ks = [k for metric, k in scores if metric == "tar_at_far"]
    assert ks == list(range(23))  # 1650 pairs of two classes: 10 of them are FAR 10 ** -2.2
    for k in ks:
        assert value(scores, "tar_at_far", k) == pytest.approx(oracle_tar(pairs, 10 ** (-k / 10)))
    score = scores["tar_at_far", 10]
    assert (score.queries, score.gallery) == (12 * 10, 60 * 59 // 2 - 12 * 10)
    assert score.hits / score.queries == score.value


def test_equal_error_rate_and_auc_are_those_of_all_pairs():
    embeddings, labels = embedded(seed=1)
    scores, pairs = found(embeddings, labels), every_pair(embeddings, labels)
    cosines, is_same = zip(*pairs, strict=True)
    assert value(scores, "eer") == pytest.approx(oracle_eer(pairs), abs=1e-9)
    auc = value(scores, "verification_auc")
    assert auc == pytest.approx(roc_auc_score(is_same, cosines), abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_accuracy_of_classes_is_that_of_all_pairs_within_folds(seed):
    embeddings, labels = embedded(num_classes=9, seed=seed)
    folds_N = deal_classes(labels)
    within = [
        (i, j)
        for i, j in itertools.combinations(range(len(labels)), 2)
        if folds_N[i] == folds_N[j]
    ]
    pairs = [
        (cosine(embeddings[i], embeddings[j]), bool(labels[i] == labels[j])) for i, j in within
    ]
    expected = oracle_accuracies(pairs, [int(folds_N[i]) for i, _ in within])
    scores = found(embeddings, labels)
    assert len(expected) == 4
    assert value(scores, "verification_accuracy") == pytest.approx(np.mean(expected), abs=1e-9)
    error = np.std(expected, ddof=1) / math.sqrt(4)
    assert value(scores, "verification_accuracy_se") == pytest.approx(error, abs=1e-9)
    assert scores["verification_accuracy", None].queries == sum(same for _, same in pairs)


@pytest.mark.parametrize("seed", range(3))
def test_given_pairs_alone_are_judged_by_their_folds(seed):
    embeddings, labels = embedded(seed=seed)
    given = drawn_pairs(labels, seed=seed)
    pairs = [
        (cosine(embeddings[i], embeddings[j]), bool(same))
        for i, j, same in zip(given.first_P, given.second_P, given.is_same_P, strict=True)
    ]
    scores = found(embeddings, labels, given)
    expected = oracle_accuracies(pairs, given.folds_P.tolist())
    assert value(scores, "verification_accuracy") == pytest.approx(np.mean(expected))
    assert value(scores, "eer") == pytest.approx(oracle_eer(pairs))
    assert value(scores, "tar_at_far", 5) == pytest.approx(oracle_tar(pairs, 10**-0.5))
    assert scores["eer", None].gallery == 4 * 12


def test_by_hand_accuracy_is_that_of_the_other_folds_threshold():
    """Cosines 0.8 and 0.6 of one class, 0 and 0.7 of two: each fold has its own best threshold."""
    angles = [math.acos(c) for c in (0.8, 0.0, 0.6, 0.7)]
    embeddings = torch.tensor([[1.0, 0.0], *([math.cos(a), math.sin(a)] for a in angles)])
    pairs = VerificationPairs(
        first_P=np.zeros(4, dtype=np.int64),
        second_P=np.arange(1, 5),
        is_same_P=np.array([True, False, True, False]),
        folds_P=np.array([0, 0, 1, 1]),
    )
    scores = found(embeddings, torch.arange(5), pairs)
    # Fold 1 at 0.4 (best of 0.8 and 0): both accepted, half right. Fold 0 at "accept nothing",
    # the highest of the best: half right.
    assert value(scores, "verification_accuracy") == 0.5
    assert value(scores, "verification_accuracy_se") == 0.0
    # Of 4 comparisons of a pair of one class with one of two, 0.6 < 0.7 alone is lost.
    assert value(scores, "verification_auc") == 0.75


def test_embeddings_that_coincide_score_as_chance_and_accept_nothing():
    labels = torch.arange(8).repeat_interleave(3)
    for embeddings in (torch.ones(24, 4), torch.zeros(24, 4), torch.rand(24, 1) + 1.0):
        scores = found(embeddings, labels)
        assert value(scores, "verification_accuracy") == 0.5
        assert value(scores, "verification_auc") == pytest.approx(0.5)
        assert value(scores, "eer") == pytest.approx(0.5)
        tars = {k: score.value for (metric, k), score in scores.items() if metric == "tar_at_far"}
        assert tars.pop(0) == 1.0
        assert set(tars.values()) == {0.0}
        given = found(embeddings, labels, drawn_pairs(labels))
        assert value(given, "verification_accuracy") == 0.5
        assert value(given, "tar_at_far", 5) == 0.0


def test_a_narrow_cone_is_resolved_as_a_wide_one():
    embeddings, labels = embedded()
    narrow = torch.cat([embeddings.double(), torch.full((len(labels), 1), 3e4)], dim=1)
    scores, pairs = found(narrow, labels), every_pair(narrow, labels)
    assert value(scores, "verification_auc") > 0.6
    for k in (0, 5, 10, 20):
        assert value(scores, "tar_at_far", k) == pytest.approx(
            oracle_tar(pairs, 10 ** (-k / 10)), abs=0.02
        )


def test_the_order_of_the_images_and_the_size_of_blocks_change_nothing(monkeypatch):
    embeddings, labels = embedded(num_classes=30, per_class=4)
    monkeypatch.setattr(verification, "_STEPS", 2**12)  # there are many blocks
    monkeypatch.setattr(verification, "_STEPS_OF_FOLDS", 2**12)
    before = verification_scores(embeddings, labels, role="test")
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(3))
    assert verification_scores(embeddings[order], labels[order], role="test") == before
    monkeypatch.setattr(_pair_counts, "_ROWS", 7)
    monkeypatch.setattr(_pair_counts, "_COLUMNS", 11)
    assert verification_scores(embeddings, labels, role="test") == before


def test_folds_share_no_class_and_each_has_pairs_of_both_kinds():
    labels = torch.cat([torch.arange(40), torch.arange(13).repeat(3)])
    folds_N = deal_classes(labels)
    assert len(folds_N.unique()) == 10
    for label in labels.unique():
        assert len(folds_N[labels == label].unique()) == 1
    for fold in range(10):
        sizes = labels[folds_N == fold].unique(return_counts=True)[1]
        assert len(sizes) >= 2
        assert sizes.max() > 1


@pytest.mark.parametrize("labels", [[0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 2, 3, 4]])
def test_without_two_folds_there_is_no_accuracy_but_the_rest(labels):
    embeddings = torch.randn(len(labels), 3, generator=torch.Generator().manual_seed(0))
    metrics = {metric for metric, _ in found(embeddings, torch.tensor(labels))}
    assert metrics >= {"eer", "verification_auc"}
    assert "verification_accuracy" not in metrics


@pytest.mark.parametrize("labels", [[0, 0, 0], [0, 1, 2]])
def test_pairs_of_one_kind_are_refused(labels):
    with pytest.raises(ValueError, match="pairs of one class and of two"):
        verification_scores(torch.eye(3), torch.tensor(labels), role="test")


def test_an_embedding_that_is_not_finite_is_refused():
    embeddings, labels = embedded()
    embeddings[3, 1] = math.nan
    with pytest.raises(ValueError, match="must be finite"):
        verification_scores(embeddings, labels, role="test")
