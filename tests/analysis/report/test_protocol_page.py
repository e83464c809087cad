"""What the functions on validation protocols give is on the page of statistics."""

import re

import pytest

from analysis.protocols.published_protocols import fold_summary
from analysis.selection.expected_best import expected_best
from analysis.selection.overtuning import overtuning_curve
from analysis.selection.selection_regret import choice_verdict, search_regrets
from analysis.selection.validation_test_agreement import rank_agreement
from tests.analysis.protocol_studies import thesis_folds, thesis_split_ratios
from tests.analysis.thesis_cub200 import DATA

STATISTICS = DATA.parent.parent / "docs" / "explanation" / "statistics"
PAGES = ("comparing-protocols.md", "estimators.md")
SECTION = " ".join(" ".join((STATISTICS / page).read_text("utf-8").split()) for page in PAGES)
COMMON = {"low", "high", "val", "incumbent", "tau_low", "tau_high"}


@pytest.mark.parametrize(
    "frame",
    [
        search_regrets(thesis_split_ratios()),
        rank_agreement(thesis_split_ratios()),
        overtuning_curve(thesis_split_ratios().with_columns(index=1)),
        expected_best(thesis_split_ratios(), sampler="random"),
    ],
)
def test_every_statistic_is_shown(frame):
    named = set(re.findall(r"`([a-z_0-9]+)`", SECTION))
    values = {name for name, kind in frame.schema.items() if kind.is_float()}
    assert values - COMMON <= named


def test_the_tables_of_the_thesis_give_what_the_page_says():
    folds = fold_summary(thesis_folds()).row(0, named=True)
    assert (
        f"{folds['test_mean']:.3f} ± {folds['test_std']:.3f} (sample standard deviation)"
        in SECTION
    )
    assert f"tau {folds['tau']:.3f}" in SECTION
    ratios = search_regrets(thesis_split_ratios()).row(0, named=True)
    assert f'"{choice_verdict(ratios)}"' in SECTION
