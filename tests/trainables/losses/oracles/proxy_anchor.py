"""Kim et al. 2020, equation 4, proxy by proxy."""

import torch


def oracle(batch, parameters, *, alpha, margin):
    positive_terms, negative_terms = [], []
    for c, proxy in enumerate(parameters["proxies"]):
        positives, negatives = [], []
        for x, label in zip(batch.embeddings_BD, batch.labels_B, strict=True):
            similarity = torch.dot(x, proxy) / (x.norm() * proxy.norm())
            if label == c:
                positives.append(torch.exp(-alpha * (similarity - margin)))
            else:
                negatives.append(torch.exp(alpha * (similarity + margin)))
        if positives:
            positive_terms.append(torch.log(1.0 + sum(positives)))
        if negatives:
            negative_terms.append(torch.log(1.0 + sum(negatives)))
    return sum(positive_terms) / len(positive_terms) + sum(negative_terms) / len(
        parameters["proxies"]
    )
