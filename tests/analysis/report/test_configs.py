"""What a report says of every config of a grid or a sweep."""

from collections import defaultdict
from statistics import fmean

import pytest

from podium.analysis.page.html_page import Paragraph
from podium.analysis.page.tables import Table
from podium.analysis.report.configs import configs
from podium.analysis.study_results.study_results import read_results
from podium.orchestrator.results.trial_files.reader import Reader
from tests.analysis.changed_results import with_views
from tests.analysis.planted_searches import write_tuned_store


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return read_results(write_tuned_store(tmp_path_factory.mktemp("tuned")))


def by_sampler(results, sampler):
    search = {**results.study["search"], "sampler": sampler}
    return with_views(results, study={**results.study, "search": search})


def expected_means(folder, loss, names):
    """Plain loops over the rows: values of the hyperparameters -> mean Recall@1, trials."""
    found = defaultdict(list)
    for row in Reader(folder).trials().collect().to_dicts():
        if (row["stage"], row["state"], row["loss"]) == ("search", "COMPLETE", loss):
            found[tuple(row[f"hp.{name}"] for name in names)].append(row["val_recall_at_1"])
    return {config: (fmean(scores), len(scores)) for config, scores in found.items()}


def test_a_grid_is_a_table_of_configs_and_their_scores(results):
    opening, *parts = configs(by_sampler(results, "grid"), {}).parts
    assert isinstance(opening, Paragraph)
    tables = [part for part in parts if isinstance(part, Table)]
    for loss, found in zip(results.losses, tables, strict=True):
        assert [row[-1].text for row in found.rows].count("published default") == 1
        heads = [column.label for column in found.columns]
        names = heads[: heads.index("R@1")]
        rows = [[cell.order for cell in row] for row in found.rows]
        means = {tuple(row[: len(names)]): (row[len(names)] / 100, row[-2]) for row in rows}
        expected = expected_means(results.folder, loss, names)
        assert means.keys() == expected.keys()
        for config, (mean, count) in expected.items():
            assert means[config] == (pytest.approx(mean), count)


def test_searches_that_drew_configs_of_their_own_have_no_such_table(results):
    assert configs(by_sampler(results, "tpe"), {}) is None
