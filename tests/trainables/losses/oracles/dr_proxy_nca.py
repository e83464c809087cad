"""Mohan et al. 2020 on proxy-NCA, sample by sample, from the vectors of the differences."""

import torch


def oracle(batch, parameters, *, scale, gamma, form):
    total = batch.embeddings_BD.sum() * 0.0
    proxies = [proxy / proxy.norm() for proxy in parameters["proxies"]]
    for x, label in zip(batch.embeddings_BD, batch.labels_B, strict=True):
        z = x / x.norm()
        to_own = proxies[label] - z
        positive, negatives = torch.exp(-scale * torch.dot(to_own, to_own)), []
        for c, proxy in enumerate(proxies):
            if c != label:
                to_other = proxy - z
                printed = 1.0 - torch.dot(z, proxies[label])
                product = printed if form == "printed" else torch.dot(to_other, to_own)
                cosine = product / (to_other.norm() * to_own.norm())
                exponent = -scale * torch.dot(to_other, to_other) - gamma * cosine
                negatives.append(torch.exp(exponent))
        if negatives:
            total = total - torch.log(positive / sum(negatives))
    return total / len(batch.labels_B)
