"""What a plan holds apart before there is any data."""

from dataclasses import replace

from orchestrator.planning.leakage_check import check_leakage
from orchestrator.study.study import FinalSettings
from tests.orchestrator.small_study import STUDY
from trainables.settings.trial_settings import ProtocolSettings

KFOLD = ProtocolSettings(kind="kfold", val_fraction=None, folds=3)
REPEATED = ProtocolSettings(kind="repeated_kfold", val_fraction=None, folds=3, repeats=2)
TEST_TUNED = ProtocolSettings(kind="test_tuned", val_fraction=None)
PUBLISHED = ProtocolSettings(kind="published", val_fraction=None, val_classes=("a", "b"))
RANDOM = ProtocolSettings(kind="random_splits", val_fraction=0.25)


def crossed(*protocols, final=None):
    return replace(STUDY, protocols=protocols, final=FinalSettings(protocol=final))


def test_every_split_of_every_protocol_and_data_set_is_drawn():
    fixed = ProtocolSettings(val_fraction=0.25)
    check = check_leakage(crossed(fixed, KFOLD, RANDOM, final=REPEATED))
    assert check.num_splits == len(STUDY.datasets) * (1 + 3 + 1 + 6)
    assert check.leaking == check.by_name == ()


def test_what_leaks_by_declaration_is_named_and_not_counted_as_checked():
    check = check_leakage(crossed(replace(TEST_TUNED, name="old-habit")))
    assert check.num_splits == 0
    assert check.leaking == ("old-habit",)


def test_classes_that_are_listed_by_name_wait_for_the_data():
    check = check_leakage(crossed(PUBLISHED, KFOLD))
    assert check.by_name == ("published",)
    assert check.num_splits == len(STUDY.datasets) * 3


def test_of_very_many_folds_the_first_are_drawn():
    check = check_leakage(crossed(replace(REPEATED, repeats=10_000)))
    assert 10 <= check.num_splits < 1_000
