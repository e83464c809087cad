"""Search spaces of the tuplet margin loss."""

from search_spaces.parameters import Family, LossSpaces, Real

SPACES = LossSpaces(
    kind="tuple",
    source="Yu and Tao 2019, Deep Metric Learning with Tuplet Margin Loss",
    family=Family(
        "margin", differs="no boundary: a positive, given an angle, against all negatives at once"
    ),
    joint={"margin_degrees": Real(0.0, 20.0), "scale": Real(8.0, 256.0, log=True)},
)
