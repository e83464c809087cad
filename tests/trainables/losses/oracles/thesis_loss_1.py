"""Psomas 2020, equation 6.1, proxy by proxy."""

import torch


def oracle(batch, parameters, *, alpha, margin):
    proxies = [proxy / proxy.norm() for proxy in parameters["proxies"]]
    positive_terms, negative_terms = [], []
    for c, proxy in enumerate(proxies):
        pulls, pushes = [], []
        for x, label in zip(batch.embeddings_BD, batch.labels_B, strict=True):
            if label == c:
                pulls.append(torch.exp(-alpha * (torch.dot(x, proxy) / x.norm() - margin)))
        for v, other in enumerate(proxies):
            if v != c:
                pushes.append(torch.exp(alpha * (torch.dot(proxy, other) + margin)))
        if pulls:
            positive_terms.append(torch.log(1.0 + sum(pulls)))
        if pushes:
            negative_terms.append(torch.log(1.0 + sum(pushes)))
    return sum(positive_terms) / len(positive_terms) + sum(negative_terms) / len(proxies)
