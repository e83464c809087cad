"""Search spaces of the ProxyNCA++ loss."""

from search_spaces.parameters import Family, LossSpaces, Real

SPACES = LossSpaces(
    kind="proxy",
    source="Teh et al. 2020, ProxyNCA++: Revisiting and Revitalizing Proxy NCA",
    family=Family("nca", differs="proxies, own class in the sum: a softmax; sharper by default"),
    joint={"scale": Real(1.0, 64.0, log=True)},
)
