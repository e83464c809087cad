"""Whatever the text, a study file gives a study or a `StudyError`, never a traceback."""

import json

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podium.errors import StudyError
from podium.orchestrator.planning.study_plan import plan
from podium.orchestrator.study.resolved_study import resolved_dict, study_from_resolved
from tests.orchestrator.study_files import MINIMAL, load

QUIET = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])

_KEYS = """
study datasets backbones embedding_dims losses protocol search final training metrics resources
seed storage name script classes loss space kind val_fraction folds split_seed sampler trials tune
early_stopping grace_epochs reduction_factor order lag repeats max_concurrent seeds
recipe epochs batch_size samples_per_class learning_rate proxy_learning_rate weight_decay k
cpus_per_trial gpus_per_trial trial_hours stuck_minutes conv_small
alpha margin low high log step values classes_file image_sizes from top quarantine expect source
file names budget gpu_hours tournament test groups keep declared_differences population
"""
_WORDS = """
x glyphs latin contrastive proxy_anchor conv_small fixed kfold tpe random asha folds none joint
thesis balanced fast asynchronous deterministic learning_rate
"""
KEYS = st.sampled_from(_KEYS.split())
WORDS = st.sampled_from(_WORDS.split())
SCALARS = st.one_of(
    WORDS, st.none(), st.booleans(), st.integers(), st.integers(0, 9), st.floats(), st.text()
)
VALUES = st.recursive(
    SCALARS,
    lambda values: st.lists(values, max_size=3) | st.dictionaries(KEYS, values, max_size=4),
    max_leaves=12,
)


def is_a_study_or_its_error(folder, text, *overrides):
    try:
        study = load(folder, text, *overrides)
    except StudyError:
        return
    assert study_from_resolved(json.loads(json.dumps(resolved_dict(study)))) == study
    assert plan(study).trials > 0


@QUIET
@given(text=st.text() | st.text(alphabet="ab:-[]{}&*!|>'\"#%@? \n\t0123.e"))
def test_any_text(tmp_path, text):
    is_a_study_or_its_error(tmp_path, text.encode("utf-8", "ignore").decode())


@QUIET
@given(sections=st.dictionaries(KEYS, VALUES, max_size=5))
def test_any_sections_of_a_study(tmp_path, sections):
    values = {"study": "x", "losses": ["contrastive", "proxy_anchor"], **sections}
    is_a_study_or_its_error(tmp_path, yaml.safe_dump(values, allow_unicode=True))


@QUIET
@given(keys=st.lists(KEYS, min_size=1, max_size=4), value=st.text() | SCALARS.map(str))
def test_any_override(tmp_path, keys, value):
    is_a_study_or_its_error(tmp_path, MINIMAL, f"{'.'.join(keys)}={value}")
