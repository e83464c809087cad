"""How learning rates change from epoch to epoch. No torch."""

from podium.trainables.settings.training_settings import TrainingSettings

# What has a learning rate of its own: the network without its embedding layer, that layer, and
# what the loss trains.
NETWORK = "backbone"
EMBEDDING = "embedding"
LOSS = "loss"


def learning_rates(training: TrainingSettings, epoch: int) -> dict[str, float]:
    """The learning rate of each group in an epoch, counted from 1.

    All fall together by ``step_factor`` after every ``step_epochs`` epochs; epochs of the warm-up
    count. A pure function of the epoch, so that a resumed trial needs no state for it.
    """
    num_steps = (epoch - 1) // training.step_epochs if training.step_epochs else 0
    factor = training.step_factor**num_steps
    return {
        NETWORK: training.learning_rate * factor,
        EMBEDDING: training.learning_rate * training.head_learning_rate_factor * factor,
        LOSS: training.proxy_learning_rate * factor,
    }
