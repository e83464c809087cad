"""Chen and Salman 2011, pair by pair, with covariance matrices written out."""

import torch


def oracle(batch, parameters, *, mean_scale, covariance_scale):
    means, covariances = [], []
    for views in batch.views_BVD:
        unit = torch.stack([view / view.norm() for view in views])
        means.append(unit.mean(0))
        covariances.append(torch.cov(unit.T))
    positives, negatives = [], []
    for i in range(len(means)):
        for j in range(len(means)):
            of_means = (means[i] - means[j]).square().sum()
            of_covariances = (covariances[i] - covariances[j]).square().sum()
            if batch.labels_B[i] != batch.labels_B[j]:
                push = torch.exp(-of_means / mean_scale)
                negatives.append(push + torch.exp(-of_covariances / covariance_scale))
            elif i != j:
                positives.append(of_means + of_covariances)
    zero = batch.embeddings_BD.sum() * 0.0
    return sum(positives, zero) / max(1, len(positives)) + sum(negatives, zero) / max(
        1, len(negatives)
    )
