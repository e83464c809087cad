"""Search spaces of the thesis's second loss of its own."""

from search_spaces.parameters import Every, Family, LossSpaces, Real

SPACES = LossSpaces(
    kind="proxy",
    source="Psomas 2020, Metric Learning: A Deep Dive, equation 6.2",
    family=Family(
        "thesis_loss",
        differs="proxies push each other by how alike the batch sees them; equation 6.2",
    ),
    # Down to smaller alphas than proxy-anchor's, since sums over a batch are larger than cosines.
    joint={
        "alpha": Real(1.0, 64.0, log=True),
        "margin": Real(0.0, 0.5),
        "mean_over_batch": Every(),
    },
)
