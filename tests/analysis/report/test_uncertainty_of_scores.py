"""The section on components, of a study of known truth."""

import pytest

from podium.analysis.report.variance_components import variance_components
from podium.analysis.study_results.study_results import read_results
from tests.analysis.page_text import page_of, rows_of
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth


@pytest.fixture(scope="module")
def uncertainty_page(synthetic_results):
    return page_of(synthetic_results, variance_components)


def row_of(page, table, name):
    return next(row for row in rows_of(page, table) if row[0] == name)


def test_the_scatter_over_seeds_is_the_one_that_was_planted(uncertainty_page):
    _, spread, levels, note = row_of(uncertainty_page, "final-components-table", "Seed")

    assert float(spread) == pytest.approx(0.4, abs=0.08)
    assert (levels, note) == ("48", "")


def test_one_block_one_seed_and_failed_finals_leave_nothing_to_say_of_finals(tmp_path):
    truth = Truth(
        scripts=("latin",),
        embedding_dims=(16,),
        seeds=1,
        failed_finals=(("glyphs-latin/conv_small/16", "contrastive"),),
    )
    results = read_results(write_store(tmp_path / "small", truth))
    page = page_of(results, variance_components)

    assert 'id="final-components-table"' not in page
