"""The sections on budget, optimism and components, of a study of known truth."""

import re

import pytest

from analysis.report.optimism import optimism
from analysis.report.search_budget import search_budget
from analysis.report.variance_components import variance_components
from analysis.study_results.assumptions_for_plans import measured_assumptions
from analysis.study_results.study_results import read_results
from tests.analysis.page_text import page_of, rows_of, text_of
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth

SECTIONS = (search_budget, optimism, variance_components)


def page_of_sections(results):
    return page_of(results, *SECTIONS)


@pytest.fixture(scope="module")
def uncertainty_page(synthetic_results):
    return page_of_sections(synthetic_results)


def row_of(page, table, name):
    return next(row for row in rows_of(page, table) if row[0] == name)


def test_the_scatter_over_seeds_is_the_one_that_was_planted(uncertainty_page):
    _, spread, levels, note = row_of(uncertainty_page, "final-components-table", "Seed")

    assert float(spread) == pytest.approx(0.4, abs=0.08)
    assert (levels, note) == ("48", "")


def test_levels_of_blocks_scatter_as_planted(uncertainty_page):
    _, spread, levels, _ = row_of(uncertainty_page, "final-components-table", "Block")

    # Eight blocks, three points apart.
    assert float(spread) == pytest.approx(7.35, abs=0.15)
    assert levels == "8"


def test_what_one_of_cannot_tell_is_named(uncertainty_page):
    row = row_of(uncertainty_page, "final-components-table", "Repeat of the search")
    assert row[1:] == ["–", "–", "cannot be distinguished from loss within block"]


def test_a_sampler_that_learns_has_incumbents_and_no_expected_best(uncertainty_page):
    assert "The sampler (tpe) chooses trials by earlier ones" in text_of(uncertainty_page)
    gains = {
        (row[0], row[1]): float(row[2].replace("−", "-"))
        for row in rows_of(uncertainty_page, "budget-table")
    }
    for loss, gain in {"contrastive": 4, "multi_similarity": 2, "proxy_anchor": 8}.items():
        found = gains[loss, "10"] - gains[loss, "1"]
        assert found == pytest.approx(gain, abs=0.5)


def test_optimism_is_the_sum_of_its_parts(uncertainty_page):
    points = {}
    for loss, part, value, *_ in rows_of(uncertainty_page, "optimism-table"):
        points[loss, part] = float(value.replace("−", "-"))
    for loss in ("contrastive", "multi_similarity", "proxy_anchor"):
        parts = points[loss, "Epoch"] + points[loss, "Config"]
        assert points[loss, "Epoch and config"] == pytest.approx(parts, abs=0.011)
    assert "Validation minus test is not shown" in text_of(uncertainty_page)


def test_a_plan_like_this_study_assumes_what_was_planted(synthetic_results):
    measured = measured_assumptions(synthetic_results)

    assert measured["seed_std"] == pytest.approx(0.4, abs=0.08)
    assert measured["block_std"] > 0
    assert 0 <= measured["class_correlation"] <= 1
    assert 0.9 < measured["shared"] <= 1
    assert 55 < measured["recall"] < 80


def test_every_figure_is_followed_by_its_table_and_ids_are_unique(uncertainty_page):
    assert (
        uncertainty_page.count("<figure")
        == uncertainty_page.count("The numbers of this figure")
        >= 2
    )
    ids = re.findall(r'\bid="([^"]+)"', uncertainty_page)
    assert len(ids) == len(set(ids))


def test_one_block_one_seed_and_failed_finals_leave_what_can_still_be_said(tmp_path):
    truth = Truth(
        scripts=("latin",),
        embedding_dims=(16,),
        seeds=1,
        failed_finals=(("glyphs-latin/conv_small/16", "contrastive"),),
    )
    results = read_results(write_store(tmp_path / "small", truth))
    page = page_of_sections(results)

    assert 'id="final-components-table"' not in page
    assert "block_std" not in measured_assumptions(results)
