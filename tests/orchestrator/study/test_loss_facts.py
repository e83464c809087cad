import math
import subprocess
import sys

import pytest
from torch import nn

from orchestrator.study.loss_facts import facts_of
from search_spaces.catalogue import loss_facts
from trainables.errors import TrialInputError


def test_a_loss_alone_has_the_facts_of_its_module():
    assert facts_of("contrastive") == loss_facts("contrastive")


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


def test_a_memory_adds_its_own_parameters():
    facts = facts_of("memory:multi_similarity")
    assert facts.name == "memory:multi_similarity"
    assert facts.defaults["memory_size"] == 1024
    assert "memory_weight" in facts.spaces["joint"].parameters


def test_a_pretraining_has_a_length_and_the_parameters_of_both():
    facts = facts_of("proxy_anchor>contrastive+proxy_anchor")
    assert facts.defaults["pretraining_epochs"] == 1
    assert list(facts.defaults).count("proxy_anchor.alpha") == 1
    assert facts.needs >= {"balanced", "proxies"}


def test_a_loss_of_another_library_is_read_from_its_constructor():
    facts = facts_of("pytorch_metric_learning.losses:ArcFaceLoss")
    assert facts.kind == "foreign"
    assert facts.needs == {"proxies"}
    assert facts.defaults == {"margin": 28.6, "scale": 64}
    assert facts.parameters["scale"].problem_with(64.5) is None
    assert list(facts.joined_space("joint", ["learning_rate"]).parameters) == ["learning_rate"]


def test_an_argument_without_a_default_has_none():
    facts = facts_of("tests.trainables.loss_composition.test_make_criterion:NeedsAValue")
    assert facts.parameters["scale"].default is None
    assert facts.defaults == {}


class Odd(nn.Module):
    def __init__(self, mode: str, flag: bool, top=math.inf, scale=2):
        super().__init__()


def test_an_argument_is_read_by_its_annotation_and_an_infinite_default_stays():
    parameters = facts_of("tests.orchestrator.study.test_loss_facts:Odd").parameters
    kinds = {name: parameter.kind for name, parameter in parameters.items()}
    assert kinds == {"mode": "text", "flag": "bool", "scale": "number"}


def test_a_loss_of_podium_named_by_its_path_may_have_a_memory():
    facts = facts_of("memory:trainables.losses.nca:Nca")
    assert facts.name == "memory:trainables.losses.nca:Nca"


@pytest.mark.parametrize("code", ["x = = 1", "raise RuntimeError('no')", "import no_such_module"])
def test_a_module_that_cannot_be_imported_is_refused(tmp_path, monkeypatch, code):
    (tmp_path / "odd_losses.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(TrialInputError, match="loss odd_losses:Odd: cannot import odd_losses: "):
        facts_of("odd_losses:Odd")


@pytest.mark.parametrize("loss", ["contrastiv", "contrastive+softmx", "contrastiv>contrastive"])
def test_an_unknown_loss_is_refused_with_the_nearest(loss):
    with pytest.raises(TrialInputError, match=r"unknown loss .*did you mean"):
        facts_of(loss)


def test_known_losses_need_no_torch():
    code = (
        "import sys; from orchestrator.study.loss_facts import facts_of;"
        "facts_of('proxy_anchor>contrastive+multi_similarity'); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
