"""Several studies on one page: what can be compared is paired, the rest is said."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from podium.analysis.page.html_page import render_page
from podium.analysis.report.several_studies import studies_report
from podium.analysis.study_results.paired_studies import comparable_blocks, paired_losses
from podium.analysis.study_results.study_results import read_results
from podium.errors import PodiumError
from tests.analysis.page_text import rows_of, text_of
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth
from tests.orchestrator.changed_folders import change_study

FIRST = Truth(search_trials=4, seeds=2)
SMALL = Truth(scripts=("greek", "latin"), embedding_dims=(16,), search_trials=4, seeds=2)
SECOND = Truth(
    search_trials=4,
    seeds=3,
    scripts=("greek", "georgian", "cyrillic", "latin"),
    strengths={"contrastive": 0.02, "proxy_anchor": 0.01},
    tuning_gains={"contrastive": 0.03, "proxy_anchor": 0.03},
)


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stores")
    stores = [
        write_store(folder / name / "synthetic", t) for name, t in (("a", FIRST), ("b", SECOND))
    ]
    return [read_results(store) for store in stores]


@pytest.fixture(scope="module")
def studies_page(studies):
    return studies_report(studies)


@pytest.fixture(scope="module")
def html(studies_page):
    return render_page(studies_page)


def test_blocks_of_equal_test_hashes_are_comparable(studies):
    shared = [
        f"glyphs-{s}/conv_small/{d}" for s in ("cyrillic", "greek", "latin") for d in (16, 32)
    ]
    assert comparable_blocks(*studies) == tuple(shared)
    assert "were tested on the same images in 6 blocks." in text_of(
        render_page(studies_report(studies))
    )


def test_a_loss_is_compared_by_those_blocks_alone(studies):
    blocks = comparable_blocks(*studies)
    found = paired_losses(studies)
    assert [pair.loss for pair in found] == ["contrastive", "proxy_anchor"]
    p_values = []
    for pair in found:
        a, b = (
            np.array([
                100 * results.selection.filter(block=block, loss=pair.loss)["test_winner"].item()
                for block in blocks
            ])
            for results in studies
        )  # fmt: skip
        # Two dimensions of each script are a group.
        mean_a, mean_b = (side.reshape(3, 2).mean(axis=1) for side in (a, b))
        interval = stats.ttest_rel(mean_a, mean_b).confidence_interval(0.95)
        assert pair.difference.estimate == pytest.approx((a - b).mean())
        assert pair.difference.low == pytest.approx(interval.low)
        assert pair.difference.high == pytest.approx(interval.high)
        assert (pair.wins, pair.ties, pair.losses) == ((a > b).sum(), 0, (a < b).sum())
        p_values.append(stats.wilcoxon(mean_a, mean_b, method="exact").pvalue)
        assert pair.p_value == pytest.approx(p_values[-1])
    adjusted = multipletests(p_values, method="holm")[1]
    assert [pair.p_holm for pair in found] == pytest.approx(list(adjusted))


def test_every_loss_is_shown_with_its_rank_in_each_study(html, studies):
    rows = {row[0]: row[1:] for row in rows_of(html, "losses")}
    assert set(rows) == {"contrastive", "multi_similarity", "proxy_anchor"}
    for results, start in zip(studies, (0, 3), strict=True):
        for standing in results.tournament.standings:
            cells = rows[standing.competitor][start : start + 2]
            assert cells == [f"{standing.mean_score:.2f}", str(standing.place)]
    assert rows["multi_similarity"][3:] == ["–", "–", "–"]


def test_only_keys_that_differ_are_listed(html):
    rows = {row[0]: row[1:] for row in rows_of(html, "settings")}
    assert rows["final.seeds"] == ["2", "3"]
    assert "search.trials" not in rows
    assert all(len(set(values)) > 1 for values in rows.values())


def test_other_test_data_is_not_comparable(studies, tmp_path):
    other = write_store(tmp_path / "other", replace(SMALL, dataset="cub"))
    seen = text_of(render_page(studies_report([studies[0], read_results(other)])))
    assert "are not comparable: they share no tested block." in seen
    assert "No loss was tested on the same images by two of these studies." in seen


def test_studies_of_one_name_in_one_folder_are_distinguished(tmp_path):
    folders = [write_store(tmp_path / name, SMALL) for name in "ab"]
    page = studies_report([read_results(folder) for folder in folders])
    assert page.title == "synthetic in a · synthetic in b"


def test_the_same_study_twice_is_refused(studies):
    with pytest.raises(PodiumError, match="must be different ones"):
        studies_report([studies[0], studies[0]])


def test_a_loss_of_other_code_is_marked_where_two_studies_are_compared(tmp_path):
    def stored(name, code):
        folder = write_store(tmp_path / name / "synthetic", SMALL)
        change_study(folder, lambda study: study.update(code={"contrastive": code}))
        return read_results(folder)

    def marked(*studies):
        page = render_page(studies_report(studies))
        return [row[0] for row in rows_of(page, "paired-losses") if "other code" in row[0]]

    one, same, other = (stored(*it) for it in (("a", "1" * 64), ("b", "1" * 64), ("c", "2" * 64)))
    without = read_results(write_store(tmp_path / "d" / "synthetic", SMALL))
    assert marked(one, same) == []
    for different in (other, without):
        assert [name.split()[0] for name in marked(one, different)] == ["contrastive"]
