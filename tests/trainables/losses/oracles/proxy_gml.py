"""Zhu et al. 2020, sample by sample, with lists of kept proxies."""

import math

import torch


def oracle(batch, parameters, *, subproxies, ratio, regulariser):
    classes = [[w / w.norm() for w in of_class] for of_class in parameters["proxies"].unbind(1)]
    num_kept = max(subproxies, math.ceil(ratio * len(classes) * subproxies))
    total = batch.embeddings_BD.sum() * 0.0
    for x, label in zip(batch.embeddings_BD, batch.labels_B, strict=True):
        cosines = [[torch.dot(x, w) / x.norm() for w in of_class] for of_class in classes]
        others = [
            (cosine.item(), c, n)
            for c, of_class in enumerate(cosines)
            for n, cosine in enumerate(of_class)
            if c != label
        ]
        sums = {int(label): sum(cosines[label])}
        for _, c, n in sorted(others, reverse=True)[: num_kept - subproxies]:
            sums[c] = sums.get(c, 0.0) + cosines[c][n]
        total = total - sums[int(label)] + torch.stack(list(sums.values())).exp().sum().log()
    total = total / len(batch.labels_B)
    stacked = [torch.stack(of_class) for of_class in classes]
    reg = 0.0
    for c, of_class in enumerate(classes):
        for w in of_class:
            logits = torch.stack([torch.sum(others @ w) for others in stacked])
            reg = reg - torch.log(torch.exp(logits[c]) / torch.exp(logits).sum())
    return total + regulariser * reg / (len(classes) * subproxies)
