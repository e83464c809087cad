"""What part of a GPU trials occupied, by the study file."""

import polars as pl
import pytest

from podium.analysis.scores.gpu_shares import gpus_per_trial, has_gpus

TRIALS = pl.DataFrame({"backbone": ["a", "b", "a"]})


def study(of_all, **own):
    shares = {
        name: {"cpus_per_trial": None, "gpus_per_trial": share} for name, share in own.items()
    }
    return {
        "backbones": [{"name": "a"}, {"name": "b"}],
        "resources": {"gpus_per_trial": of_all, "backbones": shares},
    }


@pytest.mark.parametrize(
    ("given", "of_trials"),
    [
        (study(0.5), 0.5),
        (study(0.5, a=None), 0.5),
        (study(1.0, a=0.25, b=0.25), 0.25),
        (study(0.0, a=0.0, another=1.0), 0.0),
        (study(1.0, a=0.0, b=0.0), 0.0),
    ],
)
def test_where_backbones_agree_there_is_one_share(given, of_trials):
    assert gpus_per_trial(given) == of_trials
    assert has_gpus(given) == (of_trials > 0)


def test_where_they_differ_each_trial_has_that_of_its_backbone():
    given = study(0.0, b=0.75)
    assert has_gpus(given)
    assert TRIALS.select(gpus_per_trial(given)).to_series().to_list() == [0.0, 0.75, 0.0]


def test_a_backbone_that_the_study_names_no_more_has_the_share_of_all():
    left = pl.DataFrame({"backbone": ["gone", "b"]})
    assert left.select(gpus_per_trial(study(0.5, b=0.25))).to_series().to_list() == [0.5, 0.25]


def test_a_study_from_before_backbones_had_shares_has_one():
    assert gpus_per_trial({"backbones": [{"name": "a"}], "resources": {"gpus_per_trial": 1}}) == 1
