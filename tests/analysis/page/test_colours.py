"""The colours of a page: marks stand out from the paper in both themes."""

import re
from pathlib import Path

import pytest

import podium.analysis.page

STYLE = (Path(podium.analysis.page.__file__).parent / "templates" / "page.css").read_text(
    encoding="utf-8"
)
LIGHT, DARK = (
    dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", part))
    for part in STYLE.split("* { box-sizing")[0].split("@media")
)


def lightness(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * it for weight, it in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    least, most = sorted((lightness(one), lightness(other)))
    return (most + 0.05) / (least + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_marks_stand_out_from_the_paper(theme):
    marks = [name for name in theme if name.startswith("series-")]

    assert len(marks) == 9
    # WCAG 2.2, level AA, for what is not text.
    assert {it for it in marks if contrast(theme[it], theme["paper"]) < 3} == set()
