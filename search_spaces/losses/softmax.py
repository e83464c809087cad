"""Search spaces of the softmax loss, which has no hyperparameters."""

from search_spaces.parameters import Family, LossSpaces

SPACES = LossSpaces(
    kind="proxy",
    source="Psomas 2020, Metric Learning: A Deep Dive, equation 2.26",
    family=Family("softmax", differs="a linear classifier on embeddings of any length"),
)
