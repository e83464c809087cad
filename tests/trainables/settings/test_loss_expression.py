import pytest

from podium.trainables.errors import TrialInputError
from podium.trainables.settings.loss_expression import LossTerm, parse_loss


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("multi_similarity", "multi_similarity"),
        ("memory:contrastive", "memory:contrastive"),
        ("matryoshka:a.b:C + softmax", "matryoshka:a.b:C+softmax"),
        ("multi_similarity + softmax", "multi_similarity+softmax"),
        ("softmax > memory:contrastive + softmax", "softmax>memory:contrastive+softmax"),
    ],
)
def test_a_name_has_one_canonical_spelling(text, canonical):
    assert str(parse_loss(text)) == canonical
    assert parse_loss(canonical) == parse_loss(text)


def test_an_expression_knows_its_terms():
    parsed = parse_loss("softmax>memory:contrastive+softmax")
    memory, softmax = LossTerm("contrastive", has_memory=True), LossTerm("softmax")
    assert parsed.terms == (memory, softmax)
    assert parsed.pretraining == softmax
    assert parsed.all_terms == (softmax, memory)
    assert not parsed.is_single
    assert parse_loss("memory:contrastive").is_single


def test_terms_find_their_hyperparameters_under_their_prefix():
    parsed = parse_loss("contrastive+other.lib:Circle")
    values = {"contrastive.margin": 0.1, "Circle.m": 0.4, "Circle.weight": 2.0}
    assert parsed.own(parsed.terms[0], values) == {"margin": 0.1}
    assert parsed.own(parsed.terms[1], values) == {"m": 0.4, "weight": 2.0}
    alone = parse_loss("contrastive")
    assert alone.own(alone.terms[0], {"margin": 0.1}) == {"margin": 0.1}


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "a loss is a name, a class in a file .*; got '' in ''"),
        ("a++b", r"got '' in 'a\+\+b'"),
        ("a>b>c", "got 'a>b' in 'a>b>c'"),
        ("../evil:Loss", "got '../evil:Loss'"),
        ("a+a", r"must differ in name, but 'a' occurs twice in 'a\+a'"),
        ("memory:a>a", "'a' occurs twice"),
        ("matryoshka:memory:a", "matryoshka:LOSS, .* got 'matryoshka:memory:a'"),
    ],
)
def test_what_is_spelt_wrongly_is_refused_with_the_rule(text, rule):
    with pytest.raises(TrialInputError, match=rule):
        parse_loss(text)
