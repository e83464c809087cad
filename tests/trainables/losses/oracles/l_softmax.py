"""Liu et al. 2016, equations 4 and 6, sample by sample, with the lengths of the proxies."""

from tests.trainables.losses.oracles.sphereface import psi
from tests.trainables.losses.slow_pairs import cosine, cross_entropy


def oracle(batch, parameters, *, multiplier, softness):
    proxies = parameters["proxies"]

    def logit(x, c, is_own):
        s = cosine(x, proxies[c])
        own = (softness * s + psi(s, multiplier)) / (softness + 1.0)
        return proxies[c].norm() * x.norm() * (own if is_own else s)

    return cross_entropy(batch, len(proxies), logit)
