"""Search spaces of the supervised contrastive loss."""

from search_spaces.parameters import LossSpaces, Real

SPACES = LossSpaces(
    kind="tuple",
    source="Khosla et al. 2020, Supervised Contrastive Learning, equation 2",
    joint={"temperature": Real(0.02, 0.5, log=True)},
)
