"""Search spaces of the proxy-anchor loss."""

from search_spaces.parameters import LossSpaces, Real

SPACES = LossSpaces(
    kind="proxy",
    source="Kim et al. 2020, Proxy Anchor Loss for Deep Metric Learning, equation 4",
    joint={"alpha": Real(4.0, 100.0, log=True), "margin": Real(0.0, 0.5)},
    psomas2020={
        "alpha": Real(2.0, 100.0, step=2.0, source="thesis table 15"),
        "margin": Real(0.0, 1.0, step=0.1, source="thesis table 15"),
    },
)
