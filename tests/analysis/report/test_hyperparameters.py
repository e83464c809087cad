"""What a report says of hyperparameters, from a store with a planted one."""

import polars as pl
import pytest

from analysis.hyperparameters.findings_text import importance_headline, loss_sentences
from analysis.hyperparameters.tuned_hyperparameters import tuned_hyperparameters
from analysis.report.hyperparameters import hyperparameters
from analysis.study_results.study_results import read_results
from orchestrator.results.records.metric_columns import RankedScore
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.checksummed_text import read_checksummed, write_checksummed
from orchestrator.results.trial_files.reader import Reader
from tests.analysis.page_text import page_of, section_of, text_of
from tests.analysis.planted_searches import write_tuned_store

RECALL_1 = RankedScore("recall", 1)


@pytest.fixture(scope="module")
def tuned_store(tmp_path_factory):
    return write_tuned_store(tmp_path_factory.mktemp("tuned"))


@pytest.fixture(scope="module")
def hyperparameter_section(tuned_store):
    return section_alone(tuned_store)


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


def test_every_loss_has_its_figures_in_a_fold(hyperparameter_section):
    for loss in ("contrastive", "proxy_anchor"):
        assert f"{loss}: score along its hyperparameters" in text_of(hyperparameter_section)
        assert f"Score along margin of {loss}" in hyperparameter_section
    assert hyperparameter_section.count("Configs of ") == 2


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
    assert "This folder does not say what was tried" in text
    assert "contrastive: margin matters most" in text
    assert "lie at the upper end" not in text
    assert "This folder does not say" not in text_of(section_alone(tuned_store))


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
