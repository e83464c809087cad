"""Psomas 2020, equation 6.2, proxy by proxy."""

import torch


def oracle(batch, parameters, *, alpha, margin, mean_over_batch):
    columns = []
    for proxy in parameters["proxies"]:
        cosines = [torch.dot(x, proxy) / (x.norm() * proxy.norm()) for x in batch.embeddings_BD]
        columns.append(torch.stack(cosines))
    positive_terms, negative_terms = [], []
    for c, column in enumerate(columns):
        pulls, pushes = [], []
        for cosine, label in zip(column, batch.labels_B, strict=True):
            if label == c:
                pulls.append(torch.exp(-alpha * (cosine - margin)))
        for v, other in enumerate(columns):
            products = column * other
            alike = products.mean() if mean_over_batch else products.sum()
            if v != c:
                pushes.append(torch.exp(alpha * (alike + margin)))
        if pulls:
            positive_terms.append(torch.log(1.0 + sum(pulls)))
        if pushes:
            negative_terms.append(torch.log(1.0 + sum(pushes)))
    return sum(positive_terms) / len(positive_terms) + sum(negative_terms) / len(columns)
