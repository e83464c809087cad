"""Deng et al. 2020, sample by sample and centre by centre; beyond pi as in ArcFace's code."""

import math

import torch


def oracle(batch, parameters, *, centres, margin_degrees, scale):
    margin = margin_degrees / 180.0 * math.pi
    total = batch.embeddings_BD.sum() * 0.0
    for x, label in zip(batch.embeddings_BD, batch.labels_B, strict=True):
        others, own = 0.0, 0.0
        for c, of_class in enumerate(parameters["proxies"].unbind(1)):
            assert len(of_class) == centres
            cosine = max(torch.dot(x, w) / (x.norm() * w.norm()) for w in of_class)
            if c != label:
                others = others + torch.exp(scale * cosine)
            elif torch.acos(cosine) <= math.pi - margin:
                own = torch.exp(scale * torch.cos(torch.acos(cosine) + margin))
            else:
                own = torch.exp(scale * (cosine - margin * math.sin(margin)))
        total = total - torch.log(own / (own + others))
    return total / len(batch.labels_B)
