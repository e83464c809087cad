"""Search spaces of ArcFace."""

from search_spaces.parameters import Family, LossSpaces, Published, Real

SPACES = LossSpaces(
    kind="proxy",
    source="Deng et al. 2019, ArcFace: Additive Angular Margin Loss, equation 3",
    family=Family("softmax", differs="normalized_softmax with a margin on the angle"),
    published_training={"proxy_learning_rate": Published(1e-4, source="thesis table 4")},
    joint={"margin_degrees": Real(0.0, 60.0), "scale": Real(8.0, 256.0, log=True)},
    reality_check={"margin_degrees": Real(0.0, 90.0, source="reality check (MLRC)")},
)
