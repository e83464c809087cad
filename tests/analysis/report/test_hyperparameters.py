"""What a report says of hyperparameters, from a store with a planted one."""

from dataclasses import replace

import polars as pl
import pytest

from podium.analysis.figures.series import series_of
from podium.analysis.hyperparameters.findings_text import importance_headline, loss_sentences
from podium.analysis.hyperparameters.importance_table import importance_table
from podium.analysis.hyperparameters.tuned_hyperparameters import tuned_hyperparameters
from podium.analysis.page.html_page import Fold, Illustration, Page, Section, plots_of, render_page
from podium.analysis.page.table_files import tables_of
from podium.analysis.report.hyperparameters import hyperparameters
from podium.analysis.report.hyperparameters import section_of as section_of_tuned
from podium.analysis.study_results.study_results import read_results
from podium.orchestrator.results.records.metric_columns import RankedScore
from podium.orchestrator.results.trial_files.reader import Reader
from tests.analysis.page_text import page_of, section_of, text_of
from tests.analysis.planted_searches import write_tuned_store

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


def test_best_regions_of_all_losses_are_one_table(section, tuned):
    (fold,) = [part for part in section.parts if isinstance(part, Fold)][-1:]
    (table,) = fold.parts
    shown = [(row[0].text, row[1].text) for row in table.rows]
    assert shown == [
        (loss, region.hyperparameter)
        for loss, regions in tuned.regions.items()
        for region in regions
    ]
    margin = next(row for row in table.rows if row[1].text == "margin")
    assert margin[2].text == "0 to 0.9"
    assert margin[5].text == "2 of 2"


def test_bars_are_filled_where_the_verdict_is_above_noise(section):
    (plot,) = [plot for plot in plots_in(section) if plot.kind == "intervals"]
    rows = plot.values["rows"]
    shown = dict(zip(zip(rows["group"], rows["name"], strict=True), rows["note"], strict=True))
    assert shown["contrastive", "margin"] == "above noise"
    hollow = rows.get("isHollow", [False] * len(rows["name"]))
    assert [note == "not above noise" for note in rows["note"]] == hollow
    assert len(rows["name"]) == len(next(t for t in tables_of_section(section)).rows)


def test_of_a_sampler_that_learns_nothing_is_said_of_noise(tuned, looks):
    importances = importance_table(tuned.importances_by_search, is_adaptive=True)
    learnt = replace(tuned, sampler="tpe", is_adaptive=True, importances=importances, on_test=None)
    made = section_of_tuned(learnt, RECALL_1, looks)
    text = text_of(render_page(page_of_section(made)))
    assert "contrastive: margin has the largest importance" in text
    assert "noise" not in text.replace("whatever the noise", "")


def test_with_many_losses_importance_has_one_plot_a_loss(tuned, looks):
    rows = [tuned.importances.with_columns(loss=pl.col("loss") + str(i)) for i in range(9)]
    importances = pl.concat(rows).sort("loss", maintain_order=True)
    many = replace(tuned, importances=importances, on_test=None)
    names = many.importances["loss"].unique().to_list()
    made = section_of_tuned(many, RECALL_1, series_of(names) | looks)
    (figure,) = [part for part in made.parts if isinstance(part, Illustration)]
    assert figure.selector == "Loss"
    assert [plot.label for plot in figure.plots] == sorted(names)


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


def test_before_the_first_trial_there_is_nothing_to_tell(tuned_store):
    reader = Reader(tuned_store)
    none = reader.trials().filter(pl.col("index") < 0).collect()
    assert tuned_hyperparameters(none, reader, study=reader.study(), score=RECALL_1) is None
