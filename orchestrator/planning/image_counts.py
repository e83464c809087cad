"""How many images an epoch and a test of a trial see."""

from dataclasses import dataclass

from trainables.dataset_interface.class_splits import validation_counts
from trainables.dataset_interface.dataset import DatasetFacts
from trainables.settings.trial_settings import ProtocolSettings

# An image is embedded by a forward pass; a backward pass takes about twice as much on top.
EMBEDDED = 1 / 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageCounts:
    """Images of one fold, were all classes equally large.

    Attributes:
        trained: images of an epoch, which is one pass of the sampler.
        validated: images embedded after each epoch.
        tested: images of the test classes.
    """

    trained: float
    validated: float
    tested: float

    @property
    def per_epoch(self) -> float:
        """Trained images that an epoch with its validation is worth."""
        return self.trained + self.validated * EMBEDDED


def images_of(facts: DatasetFacts, protocol: ProtocolSettings) -> ImageCounts:
    """The images of a fold of average size.

    Raises:
        TrialInputError: the protocol does not fit the classes.
    """
    counts = validation_counts(facts.num_train_classes, protocol)
    held_out = sum(counts) / len(counts) / facts.num_train_classes * facts.num_train_images
    tested = facts.num_images - facts.num_train_images
    return ImageCounts(
        trained=facts.num_train_images - held_out,
        validated=tested if protocol.leaks else held_out,
        tested=tested,
    )
