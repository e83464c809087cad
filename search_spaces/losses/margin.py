"""Search spaces of the margin loss."""

from search_spaces.parameters import Condition, Every, Family, LossSpaces, Published, Real

SPACES = LossSpaces(
    kind="triplet",
    source="Wu et al. 2017, Sampling Matters in Deep Embedding Learning, section 4",
    family=Family("margin", differs="distances on both sides of a boundary; the original"),
    conditions={"nu": Condition("learn_beta", values=(True,))},
    proxies_if=Condition("learn_beta", values=(True,)),
    published_training={"proxy_learning_rate": Published(5e-5, source="thesis table 4, of beta")},
    # Without nu, which the authors' code leaves at 0.
    joint={"margin": Real(0.0, 0.5), "beta": Real(0.5, 1.6), "miner": Every()},
)
