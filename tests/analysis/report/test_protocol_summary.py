"""The first screen of a study that compares protocols: regret, cost, and what is not known."""

import pytest

from podium.analysis.figures.series import series_of
from podium.analysis.report.summary import study_summary
from podium.analysis.study_results.study_results import read_results
from podium.analysis.wording import number
from tests.analysis.protocol_store import write_protocol_store
from tests.analysis.protocol_truth import Judge, ProtocolTruth

SMALL = {"repeats": 3, "configs": 4, "seeds": 1}
UNTESTED = ProtocolTruth(
    judges={"fixed": Judge(level=-2), "kfold": Judge(kind="kfold", folds=3)},
    quarantine=False,
    **{**SMALL, "repeats": 1},
)
ONE_WITHOUT_LEAK = ProtocolTruth(
    judges={"fixed": Judge(), "test_tuned": Judge(kind="test_tuned")},
    losses=("contrastive", "triplet"),
    **SMALL,
)


@pytest.fixture(scope="module")
def first_screen(tmp_path_factory):
    def made(truth, seed=4):
        folder = tmp_path_factory.mktemp("store") / "study"
        results = read_results(write_protocol_store(folder, truth, seed))
        return results, study_summary(results, series_of(results.losses))

    return made


@pytest.fixture(scope="module")
def crossed(crossed_results):
    return crossed_results, study_summary(crossed_results, series_of(crossed_results.losses))


def test_the_verdict_and_the_facts_have_the_regrets_and_the_cost_of_the_study(crossed):
    results, summary = crossed
    costs = {row["protocol"]: row for row in results.protocol_study.costs.to_dicts()}
    best, other = sorted(("fixed", "kfold"), key=lambda label: costs[label]["regret"])
    least, more = (100 * costs[label]["regret"] for label in (best, other))

    assert least < 0, "test cannot see what the best of this made-up study loses"
    assert summary.verdict == (
        f"On test, what {best} picks loses nothing that can be measured ({number(least)} points)"
        f" to the best config, against {number(more)} under {other}; their picks do not differ"
        " significantly."
    )
    assert summary.facts[0][0] == number(least)
    assert summary.facts[2][0] == "3 × 1 × 2"


def test_the_fact_on_cost_compares_the_best_with_the_cheapest(crossed):
    results, summary = crossed
    costs = {row["protocol"]: row for row in results.protocol_study.costs.to_dicts()}
    best = min(("fixed", "kfold"), key=lambda label: costs[label]["regret"])
    ratio = costs[best]["hours_per_search"] / costs["fixed"]["hours_per_search"]

    expected = f"{ratio:.1f} ×" if best == "kfold" else "6 min 40 s"
    assert summary.facts[1][0] == expected


def test_the_picture_is_regret_against_cost_of_every_protocol(crossed):
    _, summary = crossed
    (plot,) = summary.picture.plots

    assert summary.picture.name == "summary-protocols"
    assert plot.kind == "scatter"
    assert set(plot.values["names"]) == {"fixed", "kfold", "test_tuned (leaks)"}


def test_what_is_said_of_losses_follows_what_is_said_of_protocols(crossed):
    _, summary = crossed
    of_losses = next(text for text in summary.sentences if "in the one setting" in text)

    assert summary.sentences[0].startswith("What ")
    assert summary.sentences.index(of_losses) > 0


def test_without_tests_of_searches_it_says_what_the_finals_show(first_screen):
    _, summary = first_screen(UNTESTED)

    assert "scored best on test" in summary.verdict
    assert "regret" not in summary.verdict
    assert summary.facts[0][1].startswith("Recall@1 in % on test of what ")
    assert summary.picture.plots[0].kind != "scatter"


def test_with_a_single_protocol_that_does_not_leak_losses_come_first(first_screen):
    _, summary = first_screen(ONE_WITHOUT_LEAK)

    assert summary.picture.name == "summary-ranking"
    assert any("under the protocol fixed" in notice for notice in summary.notices)
