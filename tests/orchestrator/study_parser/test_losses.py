"""Rules of the spaces that a study file states itself."""

import pytest

from orchestrator.study_validation import check_study
from search_spaces.parameters import Space
from tests.orchestrator.study_files import MINIMAL, assert_matches, problems_of

HEAD = "study: x\nlosses: "  # line 2

SPACES = [
    ("{margin: {low: -5, high: 1}}", "margin.low must be in [0, 1]; got -5"),
    ("{margin: {low: 0, high: 2}}", "margin.high must be in [0, 1]; got 2"),
    ("{margin: [0.1, 7]}", "margin[1] must be in [0, 1]; got 7"),
    ("{margin: [0.1, 0.1]}", "margin[1] is in the list already; got 0.1"),
    ("{margin: []}", "margin must be a list with at least one item; got []"),
    (
        "{margin: 0.3}",
        "margin must be a range {low, high, log, step} or a list of values; got 0.3",
    ),
    ("{margin: {low: 0.1}}", "margin.high must be given"),
    ("{margin: {low: 0.5, high: 0.5}}", "margin: `low < high` must hold .*"),
    ("{margin: {low: 0, high: 1, log: true}}", "margin: `low > 0` must hold .*"),
    ("{margin: {low: 0, high: 1, log: 1}}", "margin.log must be true or false; got 1"),
    ("{margin: {low: 0, high: 1, step: 0.3}}", "margin: `high - low` must be a multiple .*"),
    ("{margin: {low: 0, high: 1, step: 0}}", "margin.step must be a number > 0; got 0"),
    ("{margin: {low: a, high: 1}}", 'margin.low must be in [0, 1]; got "a"'),
]


@pytest.mark.parametrize(("space", "problem"), SPACES)
def test_a_space_stays_within_what_is_legal(tmp_path, space, problem):
    text = f"{HEAD}[{{loss: proxy_anchor, space: {space}}}]"
    assert_matches(problems_of(tmp_path, text), [f"s.yaml:2: losses[0].space.{problem}"])


@pytest.mark.parametrize(
    ("space", "problem"),
    [
        ("{}", "losses[0].space must have at least one parameter; choices: alpha, .*"),
        (
            "jiont",
            'losses[0].space must be one of the choices; got "jiont"; did you mean joint? .*',
        ),
        ("3", "losses[0].space must be a mapping; got 3"),
        (
            "{margn: [0.1]}",
            'unknown key in losses[0].space; got "margn"; did you mean margin? choices: alpha, .*',
        ),
        (
            "{margin: {low: 0, hihg: 1, high: 1}}",
            'unknown key in losses[0].space.margin; got "hihg"; did you mean high? .*',
        ),
    ],
)
def test_a_space_has_known_parameters(tmp_path, space, problem):
    text = f"{HEAD}[{{loss: proxy_anchor, space: {space}}}]"
    assert_matches(problems_of(tmp_path, text), [f"s.yaml:2: {problem}"])


def test_something_must_be_searched(tmp_path, monkeypatch):
    monkeypatch.setattr(check_study, "space_of", lambda *_: Space({}))
    assert problems_of(tmp_path, MINIMAL) == [
        "s.yaml:2: contrastive has nothing to search: see search.tune"
    ]
