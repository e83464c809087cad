"""Study files with several protocols: what they mean, and what is refused."""

import pytest

from podium.orchestrator.study.blocks import final_protocol_of, protocol_of, searches
from podium.trainables.settings.trial_settings import ProtocolSettings
from tests.orchestrator.study_files import (
    FOUR_PROTOCOLS,
    MINIMAL,
    assert_matches,
    cases,
    load,
    problems_of,
)

FIXED = ProtocolSettings(kind="fixed", val_fraction=0.1)
REFUSED = """
protocol: [] -> protocol must be a list with at least one item; got []
protocol: [fixed] -> protocol[0] must be a mapping; got "fixed"
protocol: 3 -> protocol must be a mapping; got 3
protocol: [{folds: 3}] -> unknown key in protocol[0]; got "folds"; choices: .*, val_fraction
protocol: [{nam: x}] -> unknown key in protocol[0]; got "nam"; did you mean name? .*
protocol: [{kind: kfold, folds: 9999}] -> glyphs: a split needs at least 2 classes .*; folds .*
protocol: [{kind: kfold, folds: 3}, {}, {kind: kfold}] -> protocol[2] must have a name .*
protocol: [{name: a}, {name: A, val_fraction: 0.3}] -> protocol[1] must have a name of its own; .*
protocol: [{name: kfold}] -> protocol[0].name must not be another kind of protocol; .*
protocol: [{name: a}, {name: b, val_fraction: 0.1}] -> protocol[1] is .* already: it splits .*
protocol: {kind: published} -> protocol.classes_file must be given: kind published validates .*
protocol: {kind: published, classes_file: /no.txt} -> .*cannot be read: No such file .*; got .*
protocol: {kind: test_tuned, split_seed: 1} -> unknown key in protocol; .*; choices: kind, name
protocol: {name: a/b} -> protocol.name names a folder: letters, digits, .*; got "a/b"
final: {protocol: {kind: test_tuned}} -> final.protocol must not be test_tuned, .*
final: {protocol: {kind: repeated_kfold, folds: 10000}} -> glyphs: a split .* folds 10000 of .*
final: {protocol: {name: x, kind: kfold}} -> final.protocol must not .* have a name; .*
final: {protocol: {kind: kfold}, train_on: [all]} -> final.protocol is used for .* part only; .*
search: {splits: fresh} -> search.splits fresh needs search.repeats of at least 2; .*; got 1
"""


def test_each_protocol_of_a_list_has_searches_of_its_own(tmp_path):
    study = load(tmp_path, FOUR_PROTOCOLS + "search: {repeats: 2}\nquarantine: record")
    assert study.protocols == (
        ProtocolSettings(name="80-20", kind="fixed", val_fraction=0.2),
        ProtocolSettings(name="60-40", kind="fixed", val_fraction=0.4, split_seed=3),
        ProtocolSettings(kind="kfold", val_fraction=None, folds=3),
        ProtocolSettings(kind="test_tuned", val_fraction=None),
    )
    assert study.quarantine == "record"
    found = searches(study)
    places = [(search.loss, search.protocol, search.repeat) for search in found]
    labels = ("80-20", "60-40", "kfold", "test_tuned")
    assert places == [
        (loss, label, repeat)
        for loss in ("contrastive", "proxy_anchor")
        for label in labels
        for repeat in (0, 1)
    ]
    assert found[2].id == "glyphs.conv_small.32.contrastive.60-40.0"
    assert len({search.id for search in found}) == len(found)


def test_one_protocol_is_a_list_of_one(tmp_path):
    listed = load(tmp_path, MINIMAL + "protocol: [{kind: kfold, folds: 5}]")
    assert listed == load(tmp_path, MINIMAL + "protocol: {kind: kfold, folds: 5}")
    assert load(tmp_path, MINIMAL).protocols == (FIXED,)


@pytest.mark.parametrize(("text", "problem"), cases(REFUSED))
def test_what_cannot_be_meant_is_said_with_its_line(tmp_path, text, problem):
    assert_matches(problems_of(tmp_path, MINIMAL + text), [f"s.yaml:3: {problem}"])


def test_fresh_splits_need_a_protocol_that_chooses_classes(tmp_path):
    text = "protocol: {kind: test_tuned}\nsearch: {splits: fresh, repeats: 2}\n"
    assert_matches(
        problems_of(tmp_path, MINIMAL + text),
        ['s.yaml:4: search.splits fresh needs a protocol with a split_seed; got "test_tuned"'],
    )
    study = load(tmp_path, MINIMAL + text + "final: {protocol: {kind: kfold, folds: 3}}")
    seeds = [final_protocol_of(study, search).split_seed for search in searches(study)]
    assert seeds[0] == 0 != seeds[1]


def test_fresh_splits_are_others_for_each_repeat_and_the_same_for_all_losses(tmp_path):
    study = load(tmp_path, FOUR_PROTOCOLS + "search: {repeats: 3, splits: fresh}")
    seeds = {}
    for search in searches(study):
        seed = protocol_of(study, search).split_seed
        seeds.setdefault((search.protocol, search.repeat), set()).add(seed)
    assert all(len(of_losses) == 1 for of_losses in seeds.values())
    for label in ("80-20", "60-40", "kfold"):
        assert len({tuple(seeds[label, repeat]) for repeat in range(3)}) == 3
    assert seeds["80-20", 0] == {0}  # as the study file says
    assert seeds["60-40", 0] == {3}
    assert {tuple(seeds["test_tuned", repeat]) for repeat in range(3)} == {(0,)}


def test_names_too_long_for_a_folder_are_refused_before_a_search_starts(tmp_path):
    text = (
        f"study: s\nlosses: [contrastive, softmax>multi_similarity]\n"
        f"protocol: {{name: {'p' * 99}}}\ndatasets: [{{name: glyphs, label: LABEL}}]\n"
    )
    load(tmp_path, text.replace("LABEL", "short"))
    (problem,) = problems_of(tmp_path, text.replace("LABEL", "d" * 100))
    assert problem.startswith("s.yaml:2: data set, network, loss and protocol name the folder")
    assert problem.endswith("together they may have 240 characters; got 246")
    longest = text.replace("LABEL", "d" * 94)
    for repeats in (1, 10):  # the last is number 9
        load(tmp_path, f"{longest}search: {{repeats: {repeats}}}")
    (problem,) = problems_of(tmp_path, f"{longest}search: {{repeats: 11}}")
    assert problem.endswith("got 241")
