"""Teh et al. 2020, sample by sample: the own class is in the denominator."""

from tests.trainables.losses.slow_pairs import cross_entropy, squared_distance


def oracle(batch, parameters, *, scale):
    proxies = [proxy / proxy.norm() for proxy in parameters["proxies"]]

    def logit(x, c, is_own):
        return -scale * squared_distance(x / x.norm(), proxies[c])

    return cross_entropy(batch, len(proxies), logit)
