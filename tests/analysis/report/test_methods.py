"""The page says by which rules its numbers came about, and the rules are those in force."""

from dataclasses import replace

from podium.analysis.report.methods import methods
from podium.analysis.study_results.study_results import read_results
from podium.analysis.typed_tables.score_table import read_table
from podium.analysis.typed_tables.table_options import TableOptions
from tests.analysis.page_text import page_of, section_of, table_page, text_of
from tests.analysis.synthetic_study import change_snapshot, write_store
from tests.analysis.synthetic_trials import SMALL
from tests.analysis.thesis_cub200 import BY, RECALLS
from tests.orchestrator.changed_folders import change_study


def methods_text(page):
    return text_of(section_of(page, "computed"))


def test_a_study_tells_its_rules(small_store):
    seen = methods_text(page_of(read_results(small_store), methods))
    assert "the 2 seeds of a final are averaged" in seen
    assert "selected by the rule best_val_epoch" in seen
    assert "it takes 6 data sets or 6 backbones; these are 2 and 1." in seen
    assert "2,000 resamples, seed 0" in seen


def test_it_says_by_which_distance_images_are_retrieved(tmp_path, small_store):
    assert "retrieved by" not in methods_text(page_of(read_results(small_store), methods))
    geometries = {"triplet": "poincare", "contrastive": "poincare", "margin": "euclidean"}
    other = write_store(tmp_path / "s", SMALL)
    change_snapshot(other, provenance={"geometries": geometries})
    assert (
        "Images are retrieved by cosine, but after margin by Euclidean distance and after"
        " contrastive and triplet by Poincare distance."
    ) in methods_text(page_of(read_results(other), methods))


def test_it_says_which_protocols_select_by_test_classes(crossed_store, small_store):
    seen = methods_text(page_of(read_results(crossed_store), methods))
    assert "Under test_tuned (leaks) the test classes select epochs and configs." in seen
    assert "Under the other protocols test classes are scored by searches and finals, at" in seen
    seen = methods_text(page_of(read_results(small_store), methods))
    assert "Test classes are scored by finals only" in seen
    assert "select epochs and configs" not in seen


def test_settings_have_an_image_size_where_the_study_has_several(tmp_path, small_store):
    dimension = "A setting is one data set, backbone and embedding dimension."
    assert dimension in methods_text(page_of(read_results(small_store), methods))
    other = write_store(tmp_path / "s", SMALL)
    change_study(other, lambda it: it.update(image_sizes=[32, 64]))
    assert "embedding dimension and image size." in methods_text(
        page_of(read_results(other), methods)
    )


def test_declared_rules_are_told(tmp_path):
    scripts = ("arrows", "cyrillic", "greek", "latin", "shapes", "symbols")
    other = write_store(tmp_path / "s", replace(SMALL, scripts=scripts))
    change_study(other, lambda it: it["tournament"].update(alpha=0.04))
    seen = methods_text(page_of(read_results(other), methods))
    assert "Its units are 6 data sets." in seen
    assert "Question and level (4 %, two-sided) are declared in the study file." in seen


def test_a_table_tells_its_rules():
    table = read_table(
        RECALLS, TableOptions(by=BY, competitor="loss", score="recall", where=["k=1"])
    )
    seen = methods_text(table_page(table, title="t", source="s"))
    assert "it takes 6 data sets or 6 backbones; these are 1 and 3." in seen
    assert "docs/explanation/statistics/" in seen
