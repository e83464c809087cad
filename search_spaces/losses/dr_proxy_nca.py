"""Search spaces of direction-regularised proxy-NCA."""

from search_spaces.parameters import Family, LossSpaces, Real

SPACES = LossSpaces(
    kind="proxy",
    source="Mohan et al. 2020, Moving in the Right Direction",
    family=Family("nca", differs="proxy_nca with a term on the direction of other proxies"),
    joint={"scale": Real(1.0, 64.0, log=True), "gamma": Real(0.01, 1.0, log=True)},
)
