"""Search spaces of the thesis's first loss of its own."""

from search_spaces.parameters import Family, LossSpaces, Real

SPACES = LossSpaces(
    kind="proxy",
    source="Psomas 2020, Metric Learning: A Deep Dive, equation 6.1",
    family=Family("thesis_loss", differs="proxies push each other by their cosines; equation 6.1"),
    joint={"alpha": Real(4.0, 100.0, log=True), "margin": Real(0.0, 0.5)},
)
