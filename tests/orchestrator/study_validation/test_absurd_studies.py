"""Study files that none can mean: each is refused before anything is expanded.

Accepted, or read to the end, most of them would take minutes to days, or all memory.
"""

import time
from dataclasses import replace

import pytest

from podium.errors import StudyError
from podium.orchestrator.study_parser.problems import Problems
from podium.orchestrator.study_parser.yaml_tree import compose
from podium.orchestrator.study_validation.check_study import check_size
from podium.orchestrator.study_validation.load_study import load_study
from tests.orchestrator.study_files import MINIMAL, assert_matches, load, problems_of

# Every key that takes numbers. Largest values are in the cases below.
NUMBERS = """
seed embedding_dims.0 image_sizes.0 metrics.k.0 search.trials search.lag search.repeats
search.max_concurrent search.warm_start.top search.early_stopping.grace_epochs
search.early_stopping.reduction_factor final.seeds final.protocol.folds protocol.val_fraction
protocol.folds protocol.repeats protocol.split_seed resources.cpus_per_trial
resources.gpus_per_trial resources.trial_hours resources.stuck_minutes
budget.trials budget.wall_hours budget.gpu_hours tournament.alpha tournament.rope_points
expect.tolerance expect.ranks.contrastive training.epochs training.batch_size
training.micro_batch_size training.samples_per_class training.adam_epsilon training.momentum
training.learning_rate training.head_learning_rate_factor training.weight_decay
training.step_epochs training.step_factor training.warm_up_epochs training.clip_value
training.linear_warm_up_epochs training.layer_decay training.lora_rank
training.evaluation_crop datasets.0.classes datasets.0.instances_per_class
losses.0.values.learning_rate
"""
# Key -> override that it needs.
NEEDS = {
    "embedding_dims.0": "embedding_dims=[8]",
    "image_sizes.0": "image_sizes=[8]",
    "metrics.k.0": "metrics.k=[1]",
    "search.warm_start.top": "search.warm_start={from: x}",
    "final.protocol.folds": "final.protocol={kind: kfold}",
    "protocol.folds": "protocol={kind: kfold}",
    "protocol.repeats": "protocol={kind: repeated_kfold}",
    "budget.gpu_hours": "resources.gpus_per_trial=1",
    "expect.tolerance": "expect={source: a, file: b}",
    "training.momentum": "training.optimiser=sgd",
    "training.step_factor": "training.step_epochs=2",
    "datasets.0.classes": "datasets=[glyphs]",
    "datasets.0.instances_per_class": "datasets=[glyphs]",
    "expect.ranks.contrastive": "expect={source: a, file: b}",
}

_HUGE = "1" + "0" * 4000
_SEEDS = ("seed", "protocol.split_seed")  # any number that the results store can hold
_LONG_LIST = f"[{', '.join(map(str, range(2, 1_502)))}]"


def refusal(folder, *overrides):
    """The message for a study with these overrides, or None; no other error is let through."""
    needed = [NEEDS[key] for it in overrides if (key := it.partition("=")[0]) in NEEDS]
    try:
        load(folder, MINIMAL, *needed, *overrides)
    except StudyError as error:
        return str(error)
    return None


def _shown(key):
    """A data set checks its own options, so a problem is about the data set."""
    return "datasets" if key.startswith("datasets") else key


@pytest.mark.parametrize("value", ["-1", "1e308", "-1e308", ".nan", ".inf", _HUGE, _LONG_LIST])
@pytest.mark.parametrize("key", NUMBERS.split())
def test_a_number_that_cannot_be_meant_is_refused(tmp_path, key, value):
    message = refusal(tmp_path, f"{key}={value}")
    assert message is not None
    assert f"--set {_shown(key)}" in message
    assert len(message) < 3_000


@pytest.mark.parametrize("key", sorted(set(NUMBERS.split()) - set(_SEEDS)))
def test_a_count_beyond_all_designs_is_refused(tmp_path, key):
    message = refusal(tmp_path, f"{key}=1000000000000")
    assert f"--set {_shown(key)}" in (message or "")


NOT_YAML = "this is not the YAML of a study; "
LONG = f"{NOT_YAML}a text has more than 4096 characters"
DIMENSIONS = list(range(2, 1_002))
STEPS = "losses: [{loss: contrastive, space: {margin: {low: 0, high: 1, step: 1e-12}}}]"
TWO_PROTOCOLS = "protocol: [{val_fraction: 0.2}, {val_fraction: 0.3, name: b}]"
# Text after the minimal study, and what the message says.
FILES = [
    (
        "datasets:\n" + "- glyphs\n" * 300_000,
        ": .* cannot be read: it has more than 1000000 bytes",
    ),
    ("datasets:\n" + "- glyphs\n" * 15_000, ':3: datasets must have at most 100 .*"15000 items"'),
    (f"embedding_dims: {list(range(2, 15_002))}", ":3: .* must have at most 1000 items; .*"),
    (f"metrics: {{k: [{'1, ' * 30_000}1]}}", f":3: {NOT_YAML}.* more than 20000 keys and values"),
    (f"seed: {'[' * 60}{']' * 60}", f":3: {NOT_YAML}values must be nested at most 50 deep"),
    (f"? {'a' * 900_000}\n: 1", f":3: {LONG}"),
    (f"protocol: {'a.' * 400_000}b", f":3: {LONG}"),
    (
        f"embedding_dims: {DIMENSIONS}\nsearch: {{repeats: 1000}}\n{TWO_PROTOCOLS}",
        ":1: a study must have at most 1000000 searches; got 2000000",
    ),
    (
        f"{STEPS}\nsearch: {{sampler: grid}}",
        ":3: .*margin is no range: it must have at most 100000 steps",
    ),
    (
        f"embedding_dims: {DIMENSIONS}\nsearch: {{repeats: 1000, trials: 100000}}",
        ":1: a study must have at most 10000000000 trials; got 100018000000",
    ),
]


@pytest.mark.parametrize(("text", "message"), FILES, ids=range(len(FILES)))
def test_an_absurd_file_is_refused(tmp_path, text, message):
    minimal = "study: x\n\n" if "losses:" in text else MINIMAL
    assert_matches(problems_of(tmp_path, minimal + text), [f"s.yaml{message}"])


def test_of_many_problems_the_first_ten_are_shown(tmp_path):
    text = MINIMAL + "\n".join(f"k{number}: 1" for number in range(9_000))
    started = time.thread_time()
    with pytest.raises(StudyError) as caught:
        load(tmp_path, text)
    assert time.thread_time() - started < 15  # 1 s on an idle core
    message = str(caught.value)
    assert message.startswith("9000 problems with the study:\n")
    assert message.endswith("\n... and 8990 more")
    assert len(message.splitlines()) == 12


def test_a_study_file_without_end_is_refused(tmp_path):
    (tmp_path / "endless.yaml").symlink_to("/dev/zero")
    with pytest.raises(StudyError, match="it has more than 1000000 bytes"):
        load_study(tmp_path / "endless.yaml")


@pytest.mark.parametrize(
    "overrides",
    [
        ["protocol={kind: published, classes_file: /dev/zero}"],
        ["expect={source: a, file: /dev/zero}"],
    ],
)
def test_a_file_without_end_that_a_study_names_is_refused(tmp_path, overrides):
    message = refusal(tmp_path, *overrides)
    assert 'cannot be read: it has more than 4000000 bytes; got "/dev/zero"' in message


def test_the_largest_design_is_no_absurd_one(tmp_path):
    study = load(tmp_path, MINIMAL)
    crossed = replace(
        study,
        datasets=study.datasets * 10,
        backbones=study.backbones * 10,
        embedding_dims=tuple(range(2, 12)),
        losses=study.losses * 50,
        protocols=study.protocols * 10,
        search=replace(study.search, trials=10_000),
        final=replace(study.final, seeds=10, train_on=("part", "all")),
    )
    check_size(crossed, Problems(compose("", "s.yaml")))
