"""Qian et al. 2019, sample by sample and centre by centre; distances as in the authors' code."""

import torch

from tests.trainables.losses.slow_pairs import cross_entropy


def oracle(batch, parameters, *, centres, scale, gamma, margin, tau):
    proxies = [[w / w.norm() for w in of_class] for of_class in parameters["proxies"].unbind(1)]

    def logit(x, c, is_own):
        cosines = torch.stack([torch.dot(x, w) for w in proxies[c]]) / x.norm()
        weights = torch.exp(gamma * cosines) / torch.exp(gamma * cosines).sum()
        return scale * (torch.dot(weights, cosines) - (margin if is_own else 0.0))

    total = cross_entropy(batch, len(proxies), logit)
    if centres == 1:
        return total
    distances = 0.0
    for of_class in proxies:
        for k, w in enumerate(of_class):
            for other in of_class[:k]:
                distances = distances + torch.sqrt(2.0 + 1e-5 - 2.0 * torch.dot(w, other))
    return total + tau * distances / (len(proxies) * centres * (centres - 1))
