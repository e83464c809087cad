"""Wang et al. 2018, equation 4, sample by sample."""

from tests.trainables.losses.slow_pairs import cosine, cross_entropy


def oracle(batch, parameters, *, margin, scale):
    proxies = parameters["proxies"]

    def logit(x, c, is_own):
        return scale * (cosine(x, proxies[c]) - (margin if is_own else 0.0))

    return cross_entropy(batch, len(proxies), logit)
