"""Reads ``tournament`` of a study file: when losses are significantly different."""

from dataclasses import fields
from typing import get_args

from orchestrator.results.records.tournament_rules import (
    ALPHA_BELOW,
    PrimaryTest,
    Question,
    TournamentRules,
)
from orchestrator.study.study import Study
from orchestrator.study_parser.problems import Problems
from orchestrator.study_parser.yaml_section import Section

_SECTION = "tournament"
_MIN_NEMENYI_LOSSES = 3


def read_tournament(top: Section) -> TournamentRules:
    """The rules, with defaults for what is not given."""
    base = TournamentRules()
    section = top.section(_SECTION, [field.name for field in fields(TournamentRules)])
    rope_points = None
    if not section.is_null("rope_points"):
        rope_points = section.number("rope_points", 0.0, low=0.0, high=100.0)
    return TournamentRules(
        question=section.choice("question", base.question, get_args(Question)),
        test=section.choice("test", base.test, get_args(PrimaryTest)),
        alpha=section.number("alpha", base.alpha, above=0.0, below=ALPHA_BELOW),
        rope_points=rope_points,
    )


def check_tournament(study: Study, problems: Problems) -> None:
    """Note a test that the losses of the study are too few for."""
    if problems.concern(("losses",), (_SECTION, "test")):
        return
    if study.tournament.test == "nemenyi" and len(study.loss_names) < _MIN_NEMENYI_LOSSES:
        rule = f"nemenyi compares at least {_MIN_NEMENYI_LOSSES} losses; the study has"
        problems.add((_SECTION, "test"), f"{rule} {len(study.loss_names)}")
