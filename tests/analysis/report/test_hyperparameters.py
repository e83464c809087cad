"""What a report says of hyperparameters, from a store with a planted one."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from analysis.figures.series import series_of
from analysis.hyperparameters.best_regions import best_regions
from analysis.hyperparameters.findings_text import importance_headline, loss_sentences
from analysis.hyperparameters.pooled_configs import pooled_configs
from analysis.hyperparameters.tuned_hyperparameters import tuned_hyperparameters
from analysis.page.html_page import Choice, Page, Section, SideBySide, plots_of, render_page
from analysis.page.table_files import tables_of
from analysis.report.hyperparameters import hyperparameters
from analysis.report.hyperparameters import section_of as section_of_tuned
from analysis.report.hyperparameters_of_loss import loss_fold
from analysis.study_results.study_results import read_results
from orchestrator.results.records.metric_columns import RankedScore
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.checksummed_text import read_checksummed, write_checksummed
from orchestrator.results.trial_files.reader import Reader
from tests.analysis.page_text import page_of, section_of, text_of
from tests.analysis.planted_searches import only_a, planted_search, write_tuned_store

RECALL_1 = RankedScore("recall", 1)


@pytest.fixture(scope="module")
def tuned_store(tmp_path_factory):
    return write_tuned_store(tmp_path_factory.mktemp("tuned"))


@pytest.fixture(scope="module")
def hyperparameter_section(tuned_store):
    return section_alone(tuned_store)


@pytest.fixture(scope="module")
def tuned(tuned_store):
    results = read_results(tuned_store)
    return tuned_hyperparameters(
        results.search_trials, results.reader, study=results.study, score=results.ranked_by
    )


@pytest.fixture(scope="module")
def looks():
    return series_of(["contrastive", "proxy_anchor"])


@pytest.fixture(scope="module")
def section(tuned, looks):
    return section_of_tuned(tuned, RECALL_1, looks)


def page_of_section(section):
    return Page(title="", subtitle="", sections=(section,))


def plots_in(part):
    section = part if isinstance(part, Section) else Section(name="s", title="", parts=(part,))
    return list(plots_of(page_of_section(section)))


def tables_of_section(section):
    return tables_of(page_of_section(section))


def section_alone(store):
    return section_of(page_of(read_results(store), hyperparameters), "hyperparameters")


def test_it_opens_with_the_planted_hyperparameter(hyperparameter_section):
    text = text_of(hyperparameter_section)
    assert "contrastive: margin matters most. Alone it explains" in text
    assert text.index("more than shuffled scores") < text.index("contrastive: margin")


def test_winners_at_the_bound_are_warned_of(hyperparameter_section):
    assert "of contrastive lie at the upper end of margin (0.9)" in text_of(hyperparameter_section)


def test_test_importances_are_shown_with_those_of_validation(hyperparameter_section):
    assert "On test, %" in hyperparameter_section


def test_the_reader_chooses_a_loss_and_each_has_its_figures_and_best_regions(section):
    (choice,) = [part for part in section.parts if isinstance(part, Choice)]
    assert [fold.summary for fold in choice.parts] == ["contrastive", "proxy_anchor"]
    for fold in choice.parts:
        plots = [plot for plot in plots_in(fold) if plot.values["loss"] == fold.summary]
        kinds = [plot.kind for plot in plots]
        assert {"slices", "parallel", "response_map"} >= set(kinds)
        assert f"Score along margin of {fold.summary}" in [plot.title for plot in plots]
        assert fold.parts[-1].summary == f"Best regions of {fold.summary}"


def test_bars_are_filled_where_the_verdict_is_above_noise(section):
    (plot,) = [plot for plot in plots_in(section) if plot.kind == "intervals"]
    rows = plot.values["rows"]
    shown = dict(zip(zip(rows["group"], rows["name"], strict=True), rows["note"], strict=True))
    assert shown["contrastive", "margin"] == "above noise"
    hollow = rows.get("isHollow", [False] * len(rows["name"]))
    assert [note == "not above noise" for note in rows["note"]] == hollow
    assert len(rows["name"]) == len(next(t for t in tables_of_section(section)).rows)


def test_the_curves_of_tunability_rise_to_shares_of_configs(section):
    (plot,) = [plot for plot in plots_in(section) if plot.kind == "lines"]
    lines = plot.values["lines"]
    assert {line["name"] for line in lines} == {"contrastive", "proxy_anchor"}
    for line in lines:
        assert 0 < line["y"][0] < line["y"][-1] <= 100


def test_with_many_losses_importance_has_one_plot_a_loss(tuned, looks):
    rows = [tuned.importances.with_columns(loss=pl.col("loss") + str(i)) for i in range(9)]
    importances = pl.concat(rows).sort("loss", maintain_order=True)
    many = replace(tuned, importances=importances, on_test=None)
    names = many.importances["loss"].unique().to_list()
    figure = next(
        found
        for part in section_of_tuned(many, RECALL_1, series_of(names) | looks).parts
        if isinstance(part, SideBySide)
        for found in part.parts
    )
    assert figure.selector == "Loss"
    assert [plot.label for plot in figure.plots] == sorted(names)


def test_of_ten_losses_with_14000_configs_a_bounded_number_is_drawn(tuned):
    generator = np.random.default_rng(0)
    names = [f"loss{number}" for number in range(10)]
    searches = [planted_search(generator, only_a, num=1400, loss=loss) for loss in names]
    pooled = pooled_configs(searches)
    regions = {loss: best_regions(found) for loss, found in pooled.items()}
    many = replace(tuned, pooled=pooled, regions=regions, importances=importances_of(names))
    folds = [loss_fold(many, loss, "", position=i) for i, loss in enumerate(pooled)]
    page = Page(title="", subtitle="", sections=(Section(name="s", title="", parts=tuple(folds)),))
    plots = list(plots_of(page))
    best = [pooled[plot.values["loss"]].gains_N.max() for plot in plots]
    assert len(plots) == 10 * (3 + 1 + 1)
    assert all(len(plot.values["gains"]) <= 301 for plot in plots)
    assert [max(plot.values["gains"]) for plot in plots] == pytest.approx(best, abs=0.005)
    assert len(render_page(page)) - len(render_page(replace(page, sections=()))) < 500_000


def importances_of(losses):
    rows = [
        {"loss": loss, "hyperparameter": name, "importance": 0.5}
        for loss in losses
        for name in "abc"
    ]
    return pl.DataFrame(rows)


def test_an_older_folder_is_distinguished_from_one_that_records_spaces(tuned_store):
    file = StudyPaths(tuned_store).provenance
    given = file.read_text()
    try:
        values = read_checksummed(file)
        del values["spaces"]
        write_checksummed(file, values)
        text = text_of(section_alone(tuned_store))
    finally:
        file.write_text(given)
    assert "This folder is of an older podium and does not record the search spaces" in text
    assert "contrastive: margin matters most" in text
    assert "lie at the upper end" not in text
    assert "does not record the search spaces" not in text_of(section_alone(tuned_store))


def test_the_same_store_gives_the_same_bytes(tuned_store, hyperparameter_section):
    assert section_alone(tuned_store) == hyperparameter_section


def test_searches_that_are_too_short_say_what_they_lack(tuned_store):
    reader = Reader(tuned_store)
    hyperparameters = tuned_hyperparameters(
        reader.trials().filter(pl.col("index") < 6).collect(),
        reader,
        study=reader.study(),
        score=RECALL_1,
    )
    assert importance_headline(hyperparameters) == (
        "Importance needs searches of 15 complete configs or more; none has so many."
    )
    assert loss_sentences(hyperparameters) == [
        "contrastive and proxy_anchor: no importance, because each needs 15 complete configs;"
        " has 6."
    ]


def test_searches_that_are_too_short_by_unlike_lengths_say_so_once(tuned_store):
    reader = Reader(tuned_store)
    trials = reader.trials().filter(pl.col("loss") == "contrastive")
    block = trials.select("block").collect()["block"].min()
    kept = pl.col("index") < pl.when(pl.col("block") == block).then(6).otherwise(11)
    hyperparameters = tuned_hyperparameters(
        trials.filter(kept).collect(), reader, study=reader.study(), score=RECALL_1
    )
    assert loss_sentences(hyperparameters) == [
        "contrastive: no importance, because it needs 15 complete configs in a search; its"
        " searches have 6 to 11."
    ]


def test_before_the_first_trial_there_is_nothing_to_tell(tuned_store):
    reader = Reader(tuned_store)
    none = reader.trials().filter(pl.col("index") < 0).collect()
    assert tuned_hyperparameters(none, reader, study=reader.study(), score=RECALL_1) is None
