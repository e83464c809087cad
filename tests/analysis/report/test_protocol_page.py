"""What the functions on validation protocols give is on the page of statistics."""

import re
from pathlib import Path

from podium.analysis.protocols.selection_measures import CEILINGS, CHOICE_MEASURES

STATISTICS = Path(__file__).parents[3] / "docs" / "explanation" / "statistics"
PAGES = ("comparing-protocols.md", "estimators.md")


def test_every_statistic_is_shown():
    text = "\n".join((STATISTICS / page).read_text("utf-8") for page in PAGES)
    assert {*CHOICE_MEASURES, *CEILINGS} <= set(re.findall(r"`([a-z_0-9]+)`", text))
