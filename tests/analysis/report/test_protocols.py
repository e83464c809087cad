"""The page of a study that crosses protocols: its section, and all others within one protocol."""

import json
import re
from pathlib import Path

import pytest

from podium.analysis.page.html_page import render_page
from podium.analysis.protocols.selection_measures import CEILINGS, CHOICE_MEASURES
from podium.analysis.study_results.study_results import read_results
from tests.analysis.page_text import answer, page_of, rows_of, section_of, study_page, text_of
from tests.analysis.protocol_store import CROSSED, SEED, write_protocol_store
from tests.analysis.protocol_truth import Judge, ProtocolTruth
from tests.analysis.slow_protocols import SlowStudy
from tests.analysis.synthetic_protocols import study_frames

ALONE = ProtocolTruth(
    judges={"fixed": Judge(level=-2)}, repeats=1, configs=3, seeds=2, quarantine=False
)


@pytest.fixture(scope="module")
def protocol_page(crossed_report):
    return render_page(crossed_report)


@pytest.fixture(scope="module")
def slow_study():
    return SlowStudy(study_frames(CROSSED, SEED))


def first_number(cell):
    return float(re.match(r"[+−-]?[\d.]+", cell)[0].replace("−", "-"))


def test_the_tables_of_finals_and_picks_hold_the_true_numbers(protocol_page, slow_study):
    finals = {row[0]: row[1:] for row in rows_of(protocol_page, "protocol-finals")}
    picks = {row[0]: row[1:3] for row in rows_of(protocol_page, "protocol-picks-table")}
    assert list(finals) == list(picks) == ["fixed", "kfold", "test_tuned (leaks)"]
    for label in finals:
        protocol = label.split()[0]
        expected = [
            slow_study.final(protocol, "default", "part"),
            slow_study.final(protocol, "winner", "part"),
            slow_study.final(protocol, "default", "all"),
            slow_study.final(protocol, "winner", "all"),
            slow_study.picked_test(protocol, "test_tuned"),
            slow_study.regret(protocol, "test_tuned"),
        ]
        found = [first_number(cell) for cell in (*finals[label], *picks[label])]
        assert found == pytest.approx([100 * value for value in expected], abs=0.0051)


def test_tables_sort_protocols_in_the_order_of_the_study(tmp_path_factory):
    shuffled = ProtocolTruth(
        judges={
            "sealed": Judge(),
            "kfold": Judge(kind="kfold", folds=3),
            "fixed": Judge(level=-2),
        },
        repeats=2,
        configs=3,
        seeds=1,
        quarantine=False,
    )
    page = study_page(
        write_protocol_store(tmp_path_factory.mktemp("store") / "shuffled", shuffled)
    )
    table = re.search(r'<table id="protocol-finals">.*?</table>', page, re.DOTALL)[0]
    rows = r'<th scope="row" class="short-name" data-order="(\d)">.*?</svg>(\w+)'
    order = re.findall(rows, table)
    assert order == [("0", "sealed"), ("1", "kfold"), ("2", "fixed")]


def plots_of(page):
    """Name -> values of every plot of the page."""
    found = re.findall(
        r'<div class="plot" id="([^"]+)".*?<script type="application/json">(.*?)</script>',
        page,
        flags=re.DOTALL,
    )
    return {name: json.loads(values) for name, values in found}


def test_what_leaks_is_marked_in_every_table_and_figure(protocol_page):
    without_study_file = re.sub("<pre.*?</pre>", "", protocol_page, flags=re.DOTALL)
    text = text_of(without_study_file)
    assert text.count("test_tuned") == text.count("test_tuned (leaks)") > 10
    named = json.dumps(plots_of(protocol_page)["protocol-front-plot"])
    assert named.count("test_tuned") > 1
    assert named.count("test_tuned") == named.count("test_tuned (leaks)")


def test_losses_are_compared_within_the_first_protocol_that_does_not_leak(
    crossed_results, slow_study
):
    results = crossed_results
    assert results.protocol.label == "fixed"
    assert set(results.finals["protocol"]) == {"fixed"}
    assert set(results.search_trials["protocol"]) == {"fixed"}
    assert set(results.finals["train_on"].drop_nulls()) == {"part"}
    means = dict(results.selection.select("loss", "test_winner").iter_rows())
    overall = sum(means.values()) / 2
    assert overall == pytest.approx(slow_study.final("fixed", "winner", "part"))
    standings = {s.competitor: s.mean_score for s in results.tournament.standings}
    assert standings == pytest.approx({loss: 100 * value for loss, value in means.items()})


def test_another_protocol_can_be_asked_for(crossed_store, slow_study):
    results = read_results(crossed_store, "kfold")
    overall = results.selection["test_winner"].mean()
    assert overall == pytest.approx(slow_study.final("kfold", "winner", "part"))
    assert "under the protocol kfold" in text_of(page_of(results, answer))


def test_a_leaking_protocol_that_is_asked_for_is_warned_of(crossed_store):
    seen = text_of(page_of(read_results(crossed_store, "test_tuned"), answer))
    assert "Losses are compared under the protocol test_tuned (leaks)" in seen
    assert "chosen by the test classes that these scores are of" in seen


def test_every_reading_of_test_classes_is_on_the_page(protocol_page, slow_study):
    total = sum(row["test_readings"] for row in slow_study.trials.values())
    assert f"Test classes were scored {total} times" in text_of(protocol_page)
    assert sum(int(row[2]) for row in rows_of(protocol_page, "test-readings")) == total
    assert f"test classes scored {total} times (final" in text_of(protocol_page)


def test_a_single_protocol_shows_its_finals_and_no_comparison(tmp_path):
    page = study_page(write_protocol_store(tmp_path / "alone", ALONE))
    assert len(rows_of(page, "protocol-finals")) == 1
    assert 'id="protocol-picks"' not in page
    assert "they chose no epoch" not in section_of(page, "protocols")
    assert len(rows_of(page, "test-readings")) == 1


def test_every_statistic_is_on_the_page_of_the_docs():
    folder = Path(__file__).parents[3] / "docs" / "explanation" / "statistics"
    pages = ("comparing-protocols.md", "estimators.md")
    text = "\n".join((folder / page).read_text("utf-8") for page in pages)
    assert {*CHOICE_MEASURES, *CEILINGS} <= set(re.findall(r"`([a-z_0-9]+)`", text))
