"""Search spaces of the angular loss."""

from search_spaces.parameters import Every, LossSpaces, Real

SPACES = LossSpaces(
    kind="tuple",
    source="Wang et al. 2017, Deep Metric Learning with Angular Loss",
    joint={"angle_degrees": Real(30.0, 55.0), "form": Every()},
)
