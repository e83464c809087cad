"""Wang et al. 2018, equation 4, sample by sample."""

import torch


def oracle(batch, parameters, *, margin, scale):
    total = batch.embeddings_BD.sum() * 0.0
    for x, label in zip(batch.embeddings_BD, batch.labels_B, strict=True):
        others, own = 0.0, 0.0
        for c, proxy in enumerate(parameters["proxies"]):
            cosine = torch.dot(x, proxy) / (x.norm() * proxy.norm())
            if c == label:
                own = torch.exp(scale * (cosine - margin))
            else:
                others = others + torch.exp(scale * cosine)
        total = total - torch.log(own / (own + others))
    return total / len(batch.labels_B)
