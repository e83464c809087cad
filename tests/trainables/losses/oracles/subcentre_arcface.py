"""Deng et al. 2020, sample by sample and centre by centre; beyond pi as in ArcFace's code."""

from tests.trainables.losses.oracles.arcface import with_margin
from tests.trainables.losses.slow_pairs import cosine, cross_entropy


def oracle(batch, parameters, *, centres, margin_degrees, scale):
    proxies = parameters["proxies"].unbind(1)

    def logit(x, c, is_own):
        assert len(proxies[c]) == centres
        nearest = max(cosine(x, centre) for centre in proxies[c])
        return scale * (with_margin(nearest, margin_degrees) if is_own else nearest)

    return cross_entropy(batch, len(proxies), logit)
