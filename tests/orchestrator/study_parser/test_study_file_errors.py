"""Every rule of a study file: the line it names, the value it shows, the choices it gives."""

import pytest

from podium.trainables.registry import names
from tests.orchestrator.study_files import MINIMAL, assert_matches, cases, problems_of

LOSSES = ", ".join(names("losses"))
HEAD = "study: x\nlosses: "  # line 2

# What follows the two lines of MINIMAL, and what is said of line 3.
ONE_LINE = """
serch: {} -> unknown key; got "serch"; did you mean search? choices: backbones, .*
search: {trails: 3} -> unknown key in search; got "trails"; did you mean trials? .*
search: -> search must be a mapping; got null
search: {trials: 2, trials: 3} -> this is not the YAML of a study; trials is given twice
search: {trials: many} -> search.trials must be a whole number; got "many"
search: {sampler: tpee} -> search.sampler must be one of .*; got "tpee"; did you mean tpe? .*
search: {space: joynt} -> search.space must be a space of contrastive; got "joynt"; did you .*
search: {tune: [lr]} -> search.tune[0] must be one of .*; got "lr"; did you mean learning_rate? .*
search: {tune: learning_rate} -> search.tune must be a list .*, such as [learning_rate]; .*
protocol: {kind: loo} -> protocol.kind must be one of the choices; .*
protocol: {val_fraction: .nan} -> protocol.val_fraction must be .*; got NaN
final: {train_on: [most]} -> final.train_on[0] must be one of .*; got "most"; choices: all, part
datasets: [] -> datasets must be a list with at least one item; got []
training: {lr: 3} -> unknown key in training; got "lr"; did you mean learning_rate? choices: .*
training: {epochs: [5, 10]} -> training.epochs must be a whole number .*; got [5, 10]
datasets: [./own.py:Mine] -> `podium datasets fetch ./own.py:Mine DIR` makes a folder of it.*
log: [tensorbord] -> log[0] must be one of .*; got "tensorbord"; did you mean tensorboard? .*
datasets: [glyps] -> unknown data set 'glyps' (did you mean 'glyphs'.*; known: .*
datasets: [{script: latin}] -> datasets[0] must be a name, or a mapping with a name; .*
datasets: [{name: glyphs, script: [latin]}] -> datasets[0].script must be one value; .*
datasets: [{name: glyphs, script: klingon}] -> data set glyphs: script must be one of .*
datasets: [{name: glyphs, seed: 1}, {name: glyphs}] -> the data sets of a study must differ: .*
datasets: [{name: glyphs, label: ../up}] -> the label of a data set names folders: .*; got "../up"
backbones: [resnet] -> unknown backbone 'resnet' .*; known: .*conv_small.*
backbones: [conv_small, conv_small] -> backbones[1] is in the list already: .*
training: {batch_size: 30, samples_per_class: 4} -> training.batch_size must be a multiple .*; .*
training: {batch_size: 4, samples_per_class: 4} -> training.batch_size must be .*; got 4
metrics: {k: [1, 1]} -> metrics.k[1] is in the list already; got 1
"""


@pytest.mark.parametrize(("line", "problem"), cases(ONE_LINE))
def test_what_is_wrong_is_said_with_its_line(tmp_path, line, problem):
    assert_matches(problems_of(tmp_path, MINIMAL + line), [f"s.yaml:3: {problem}"])


# Each the first number beyond what is legal.
JUST_BEYOND = """
search.trials=0 search.lag=0 search.max_concurrent=0 search.repeats=0 final.seeds=0
search.early_stopping.grace_epochs=0 search.early_stopping.reduction_factor=1
search.warm_start={from:_a,_top:_0}
protocol.val_fraction=0 protocol.val_fraction=1.0 protocol.split_seed=-1
protocol={kind:_kfold,_folds:_1} final.protocol={kind:_kfold,_folds:_1}
final.protocol={kind:_repeated_kfold,_repeats:_1} embedding_dims=[1] metrics.k=[0] seed=-1
training.epochs=0 training.learning_rate=0 tournament.alpha=0 tournament.alpha=0.5
tournament.rope_points=-1 resources.cpus_per_trial=0 resources.gpus_per_trial=-1
resources.gpus_per_trial=1.5 resources.trial_hours=0 resources.stuck_minutes=0
"""


@pytest.mark.parametrize("override", JUST_BEYOND.split())
def test_a_number_just_beyond_its_range_is_refused(tmp_path, override):
    override = override.replace(":_", ": ").replace(",_", ", ")
    (problem,) = problems_of(tmp_path, MINIMAL, override)
    assert problem.startswith(f"--set {override.partition('=')[0]}: ")
    assert "must be" in problem


LOSS_LISTS = f"""
[contrastve] -> unknown loss 'contrastve' (did you mean 'contrastive'.*; known: {LOSSES}
[3] -> losses[0] must be a mapping; got 3
[{{space: {{}}}}] -> losses[0].loss must be given
[{{loss: nca+csml, values: {{nca.weight: -1}}}}] -> .*.nca.weight must be in [0, 1e+06]; got -1
[contrastive+] -> a loss is a name, a class in a file .*; got '' in 'contrastive+'
[contrastive+contrastive] -> the terms of a loss must differ in name, but 'contrastive' .*
[memory:proxy_anchor] -> proxy_anchor compares within a batch only and cannot use a memory
[matryoshka:pytorch_metric_learning.losses:ArcFaceLoss] -> .* has proxies of its own, which .*
[{{loss: matryoshka:nca, values: {{smallest_prefix: 17}}}}] -> .* at most 16, half of .*; got 17
[no_such_module:Loss] -> loss no_such_module:Loss: cannot import no_such_module: .*
[torch.nn:NoLoss] -> unknown loss of torch.nn 'NoLoss' .*
[pathlib:Path] -> loss pathlib:Path must be a subclass of torch.nn.Module
[{{loss: contrastive, values: {{margin: 2}}}}] -> losses[0].values.margin must be .*; got 2
[{{loss: contrastive, values: {{m: 2}}}}] -> unknown key in losses[0].values; got "m"; .*
contrastive -> losses must be a list .*, such as [contrastive]; got "contrastive"
triplet, margin -> losses must be a list .*, such as [triplet, margin]; got .*
[Contrastive] -> a loss is a name, .*; got 'Contrastive' .* (did you mean 'contrastive'?)
[contrastive, contrastive] -> losses[1] is in the list already; got "contrastive"
"""


@pytest.mark.parametrize(("losses", "problem"), cases(LOSS_LISTS))
def test_losses_must_be_known_and_different(tmp_path, losses, problem):
    assert_matches(problems_of(tmp_path, HEAD + losses), [f"s.yaml:2: {problem}"])


def test_everything_wrong_is_said_at_once_in_the_order_of_the_file(tmp_path):
    text = """\
study: no/slash
losses:
  - contrastive
  - proxy_anhcor
  - loss: multi_similarity
    space:
      alpha: {low: 0, high: 5}
datasets:
  - name: glyphs
    script: latin
    classes: 5000
search:
  trials: -3
  early_stopping:
    kind: asha
    grace_epochs: 0
protocol:
  val_fraction: 2
bogus: 1
"""
    assert_matches(
        problems_of(tmp_path, text, "final.seeds=none"),
        [
            's.yaml:1: study names a folder: .*; got "no/slash"',
            "s.yaml:4: unknown loss 'proxy_anhcor' (did you mean 'proxy_anchor'.*",
            "s.yaml:7: losses[2].space.alpha.low must be in [0.001, 1000]; got 0",
            "s.yaml:9: data set glyphs: classes must be a whole number in 6..697.*; got 5000",
            "s.yaml:13: search.trials must be greater than or equal to 1; got -3",
            "s.yaml:16: search.early_stopping.grace_epochs must be .*; got 0",
            "s.yaml:18: protocol.val_fraction must be less than 1; got 2",
            's.yaml:19: unknown key; got "bogus"; .*',
            '--set final.seeds: final.seeds must be a whole number; got "none"',
        ],
    )


@pytest.mark.parametrize("name", ["no/slash", ".hidden", "a b", "-x", "é", "x" * 101, "a\nb"])
def test_a_study_is_called_like_a_folder(tmp_path, name):
    (problem,) = problems_of(tmp_path, f"study: {name!r}\nlosses: [contrastive]".replace("'", '"'))
    assert problem.startswith("s.yaml:1: study names a folder: letters, digits, '.', '_' and '-'")


def test_name_and_losses_must_be_given(tmp_path):
    assert problems_of(tmp_path, "") == [
        "s.yaml:1: study must be given",
        "s.yaml:1: losses must be given",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("- a\n- b", 's.yaml:1: the study must be a mapping; got ["a", "b"]'),
        ("just words", 's.yaml:1: the study must be a mapping; got "just words"'),
    ],
)
def test_a_study_is_a_mapping(tmp_path, text, problem):
    assert problems_of(tmp_path, text)[0] == problem


# A bar ends a line of the file.
NOT_PLAIN = """
study: x | losses: [contrastive -> 2 -> expected ',' or ']'.*
study: &a x | losses: [*a] -> 1 -> anchors (& and *) are not read
study: x | losses: *a -> 2 -> anchors (& and *) are not read
study: !!python/object:os.system x -> 1 -> tags (!) are not read
study: x | 3: y -> 2 -> keys must be text
study: x | losses: {a: 0,001} -> 2 -> keys must be text
study: x | ? [a] | : y -> 2 -> keys must be text
study: x | seed: 0x_ -> 2 -> this is not a number
study: x | --- | study: y -> 2 -> but found another document
"""


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [*cases(NOT_PLAIN), ("study: x | \tlosses: []", 2, ".*: indent by spaces, not by tabs")],
)
def test_what_is_not_plain_yaml_is_refused_with_its_line(tmp_path, text, line, problem):
    expected = f"s.yaml:{line}: this is not the YAML of a study; {problem}"
    assert_matches(problems_of(tmp_path, text.replace(" | ", "\n")), [expected])


def test_control_characters_and_endless_nesting_are_refused(tmp_path):
    assert_matches(
        problems_of(tmp_path, "study: \x00"),
        ["s.yaml: this is not the YAML of a study; special characters are not allowed"],
    )
    rule = "this is not the YAML of a study; values must be nested at most 50 deep"
    assert problems_of(tmp_path, "[" * 5000) == [f"s.yaml:1: {rule}"]
