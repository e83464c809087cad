"""Chen et al. 2020, equation 1, and Yeh et al. 2022, pair by pair."""

import torch

from tests.trainables.losses.slow_pairs import cosine, of_anchors


def oracle(batch, parameters, *, temperature, variant):
    anchors = [sides for sides in of_anchors(batch, cosine) if all(sides)]
    every = [positive.item() for positives, _ in anchors for positive in positives]
    terms = []
    for positives, negatives in anchors:
        others = [torch.exp(negative / temperature) for negative in negatives]
        for positive in positives:
            own = torch.exp(positive / temperature)
            if variant == "nt_xent":
                terms.append(-torch.log(own / (own + sum(others))))
                continue
            weight = 1.0
            if variant == "dclw":
                shares = torch.softmax(torch.tensor(every, dtype=torch.float64) / 0.5, 0)
                weight = 2.0 - len(every) * shares[len(terms)]
            terms.append(-weight * positive / temperature + torch.log(sum(others)))
    return sum(terms, batch.embeddings_BD.sum() * 0.0) / max(1, len(terms))
