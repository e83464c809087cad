"""Search spaces of the proxy-NCA loss."""

from search_spaces.parameters import Family, LossSpaces, Published, Real

SPACES = LossSpaces(
    kind="proxy",
    source="Movshovitz-Attias et al. 2017, No Fuss Distance Metric Learning using Proxies",
    family=Family("nca", differs="proxies, own class not in the sum"),
    published_training={"proxy_learning_rate": Published(1e-5, source="thesis table 4")},
    joint={"scale": Real(1.0, 64.0, log=True)},
)
