"""Images of an epoch and a test, against the splits that trials draw."""

import pytest

from orchestrator.planning.image_counts import images_of
from orchestrator.study.dataset_facts import dataset_facts
from trainables.dataset_interface.class_splits import make_split
from trainables.settings.trial_settings import DatasetSettings, ProtocolSettings

FACTS = dataset_facts(
    DatasetSettings(name="glyphs", options={"classes": 90, "instances_per_class": 6})
)
NAMES = [f"class {number}" for number in range(45)]


@pytest.mark.parametrize(
    "protocol",
    [
        ProtocolSettings(val_fraction=0.2),
        ProtocolSettings(kind="kfold", val_fraction=None, folds=7),
        ProtocolSettings(kind="repeated_kfold", val_fraction=None, folds=4, repeats=2),
        ProtocolSettings(kind="published", val_fraction=None, val_classes=tuple(NAMES[:9])),
        ProtocolSettings(kind="refit", val_fraction=None),
    ],
)
def test_images_are_those_of_the_mean_fold(protocol):
    splits = [make_split(NAMES, protocol, fold) for fold in range(protocol.num_folds)]
    images = images_of(FACTS, protocol)
    assert images.trained == pytest.approx(6 * sum(len(s.train) for s in splits) / len(splits))
    assert images.validated == pytest.approx(6 * sum(len(s.val) for s in splits) / len(splits))
    assert images.tested == 45 * 6
    assert images.per_epoch == pytest.approx(images.trained + images.validated / 3)


def test_a_protocol_that_leaks_validates_the_test_images():
    images = images_of(FACTS, ProtocolSettings(kind="test_tuned", val_fraction=None))
    assert (images.trained, images.validated, images.tested) == (270, 270, 270)
