"""Deng et al. 2019, equation 3, sample by sample; beyond pi as in the authors' code."""

import math

import torch


def oracle(batch, parameters, *, margin_degrees, scale):
    margin = margin_degrees / 180.0 * math.pi
    total = batch.embeddings_BD.sum() * 0.0
    for x, label in zip(batch.embeddings_BD, batch.labels_B, strict=True):
        others, own = 0.0, 0.0
        for c, proxy in enumerate(parameters["proxies"]):
            cosine = torch.dot(x, proxy) / (x.norm() * proxy.norm())
            if c != label:
                others = others + torch.exp(scale * cosine)
            elif torch.acos(cosine) <= math.pi - margin:
                own = torch.exp(scale * torch.cos(torch.acos(cosine) + margin))
            else:
                own = torch.exp(scale * (cosine - margin * math.sin(margin)))
        total = total - torch.log(own / (own + others))
    return total / len(batch.labels_B)
