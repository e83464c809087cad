"""Search spaces of the margin loss on cosines."""

from search_spaces.parameters import Condition, Every, Family, LossSpaces, Published, Real

SPACES = LossSpaces(
    kind="triplet",
    source="Psomas 2020, Metric Learning: A Deep Dive, equation 2.23 with signs for its indicator",
    family=Family("margin", differs="cosines on both sides of a boundary"),
    proxies_if=Condition("learn_beta", values=(True,)),
    published_training={"proxy_learning_rate": Published(5e-5, source="thesis table 4, of beta")},
    joint={"margin": Real(0.0, 0.5), "beta": Real(0.0, 1.2), "miner": Every()},
)
