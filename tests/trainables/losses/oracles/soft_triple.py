"""Qian et al. 2019, sample by sample and centre by centre; distances as in the authors' code."""

import torch


def oracle(batch, parameters, *, centres, scale, gamma, margin, tau):
    proxies = [[w / w.norm() for w in of_class] for of_class in parameters["proxies"].unbind(1)]
    total = batch.embeddings_BD.sum() * 0.0
    for x, label in zip(batch.embeddings_BD, batch.labels_B, strict=True):
        powers = []
        for c, of_class in enumerate(proxies):
            cosines = torch.stack([torch.dot(x, w) for w in of_class]) / x.norm()
            weights = torch.exp(gamma * cosines) / torch.exp(gamma * cosines).sum()
            similarity = torch.dot(weights, cosines)
            powers.append(torch.exp(scale * (similarity - (margin if c == label else 0.0))))
        total = total - torch.log(powers[label] / sum(powers))
    total = total / len(batch.labels_B)
    if centres == 1:
        return total
    distances = 0.0
    for of_class in proxies:
        for k, w in enumerate(of_class):
            for other in of_class[:k]:
                distances = distances + torch.sqrt(2.0 + 1e-5 - 2.0 * torch.dot(w, other))
    return total + tau * distances / (len(proxies) * centres * (centres - 1))
