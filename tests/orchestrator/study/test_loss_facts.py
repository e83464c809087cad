import math
import subprocess
import sys
from typing import get_args

import pytest
from torch import nn

from podium.orchestrator.study import loss_facts
from podium.orchestrator.study.loss_facts import TRAINING_PARAMETERS, facts_of, space_around
from podium.orchestrator.study.study import Tunable
from podium.search_spaces.parameters import Real, Space
from podium.search_spaces.training_parameters import TRAINING_SPACES
from podium.trainables.errors import TrialInputError
from podium.trainables.registry import load
from podium.trainables.settings.legal_ranges import Flag, Number, Text


def test_a_study_may_tune_each_parameter_of_training_that_has_a_range():
    assert get_args(Tunable) == tuple(TRAINING_SPACES)


def test_a_sum_prefixes_names_and_searches_all_weights_but_the_first():
    facts = facts_of("contrastive+proxy_anchor")
    assert facts.needs == {"balanced", "normalised", "proxies"}
    assert list(facts.defaults) == [
        "contrastive.margin",
        "contrastive.weight",
        "proxy_anchor.alpha",
        "proxy_anchor.margin",
        "proxy_anchor.weight",
    ]
    assert list(facts.joined_space("joint", ["proxy_learning_rate"]).parameters) == [
        "contrastive.margin",
        "proxy_anchor.alpha",
        "proxy_anchor.margin",
        "proxy_anchor.weight",
        "proxy_learning_rate",
    ]
    assert list(facts.spaces) == ["joint"]  # contrastive has no other


@pytest.mark.parametrize(
    ("loss", "learn_beta", "expected"),
    [
        ("margin", True, True),
        ("margin", False, False),
        ("margin+contrastive", False, False),
        ("margin+contrastive", True, True),
        ("softmax>margin", False, True),
        ("contrastive", True, False),
    ],
)
def test_a_loss_has_proxies_where_one_of_its_terms_trains_some(loss, learn_beta, expected):
    facts = facts_of(loss)
    flag = {name: learn_beta for name in facts.parameters if name.endswith("learn_beta")}
    assert facts.has_proxies([{**facts.defaults, **flag}]) is expected


def test_a_memory_adds_its_own_parameters():
    facts = facts_of("memory:multi_similarity")
    assert facts.name == "memory:multi_similarity"
    assert facts.defaults["memory_size"] == 1024
    assert "memory_weight" in facts.spaces["joint"].parameters


def test_a_loss_of_another_library_is_read_from_its_constructor():
    facts = facts_of("pytorch_metric_learning.losses:ArcFaceLoss")
    assert facts.kind == "foreign"
    assert facts.needs == {"proxies"}
    assert facts.defaults == {"margin": 28.6, "scale": 64}
    assert facts.parameters["scale"].problem_with(64.5) is None
    assert list(facts.joined_space("joint", ["learning_rate"]).parameters) == ["learning_rate"]


class Odd(nn.Module):
    def __init__(self, mode: str, flag: bool, top=math.inf, scale=2):
        super().__init__()


def test_an_argument_is_read_by_its_annotation_and_an_infinite_default_stays():
    parameters = facts_of("tests.orchestrator.study.test_loss_facts:Odd").parameters
    legal = {name: parameter.legal for name, parameter in parameters.items()}
    assert legal == {"mode": Text(), "flag": Flag(), "scale": Number()}


def test_known_losses_need_no_torch():
    code = (
        "import sys; from podium.orchestrator.study.loss_facts import facts_of;"
        "facts_of('proxy_anchor>contrastive+multi_similarity'); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


STATED = {"kind": "pair", "source": "a paper", "needs": frozenset()}
DECLARED = {"declared": load("losses", "contrastive").declared}


@pytest.mark.parametrize("stated", [{}, STATED, DECLARED])
def test_a_loss_whose_declarations_cannot_be_read_is_refused(monkeypatch, stated):
    monkeypatch.setattr(loss_facts, "literals", lambda *_, **__: stated)
    with pytest.raises(
        TrialInputError,
        match="loss contrastive must state kind, source and needs, and in declared",
    ):
        loss_facts._facts_of.__wrapped__("contrastive", "")


def test_a_loss_without_a_row_is_searched_over_what_its_class_says(monkeypatch):
    own = {"search_space": {"margin": {"low": 0.1, "high": 0.9}}}
    monkeypatch.setattr(loss_facts, "literals", lambda *_, **__: STATED | DECLARED | own)
    facts = loss_facts._facts_of.__wrapped__("softmax", "")
    assert facts.spaces == {
        "joint": Space({"margin": Real(0.1, 0.9, unit="cosine", source="its class")})
    }


@pytest.mark.parametrize("name", TRAINING_SPACES)
def test_what_is_tried_is_legal_and_holds_the_default(name):
    parameter, tried = TRAINING_PARAMETERS[name], TRAINING_SPACES[name]
    assert tried.low <= parameter.default <= tried.high
    assert [parameter.problem_with(end) for end in tried.ends()] == [None, None]


@pytest.mark.parametrize("name", TRAINING_SPACES)
def test_around_the_default_lies_the_standard_space(name):
    assert space_around(name, TRAINING_PARAMETERS[name].default) == TRAINING_SPACES[name]


@pytest.mark.parametrize("name", ["learning_rate", "proxy_learning_rate"])
def test_rates_are_tried_from_a_tenth_to_thirty_times_the_recipes(name):
    tried = space_around(name, 2e-5)
    assert tried.ends() == pytest.approx((2e-6, 6e-4))
    assert tried.log


def test_no_rate_beyond_the_legal_ones_is_tried():
    assert space_around("learning_rate", 0.5).ends() == pytest.approx((0.05, 1.0))


def test_around_no_rate_at_all_lies_the_standard_space():
    assert space_around("proxy_learning_rate", 0.0) == TRAINING_SPACES["proxy_learning_rate"]


def test_a_default_outside_its_range_is_said_with_the_line(monkeypatch):
    def refused(*_, **__):
        raise ValueError("default must be in [0, 2]; got 3.0")

    monkeypatch.setitem(loss_facts.DECLARATIONS, "Parameter", refused)
    with pytest.raises(TrialInputError, match=r"loss triplet: line \d+ of its file: default must"):
        loss_facts._facts_of.__wrapped__("triplet", "")
