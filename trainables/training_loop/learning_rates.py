"""How learning rates change from epoch to epoch. No torch."""

from math import cos, pi

from podium.trainables.settings.training_settings import TrainingSettings

# What has a learning rate of its own: the network without its embedding layer, that layer, and
# what the loss trains.
NETWORK = "backbone"
EMBEDDING = "embedding"
LOSS = "loss"


def learning_rates(training: TrainingSettings, epoch: int) -> dict[str, float]:
    """The learning rate of each group in an epoch, counted from 1.

    All change together: by ``step_factor`` after every ``step_epochs`` epochs, or along a cosine;
    first they may rise. A pure function of the epoch, so that a resumed trial needs no state.
    """
    factor, rising = _factor(training, epoch), training.linear_warm_up_epochs
    if epoch <= rising:
        factor *= epoch / (rising + 1)
    return {
        NETWORK: training.learning_rate * factor,
        EMBEDDING: training.learning_rate * training.head_learning_rate_factor * factor,
        LOSS: training.proxy_learning_rate * factor,
    }


def _factor(training: TrainingSettings, epoch: int) -> float:
    if training.schedule == "cosine":
        rising = training.linear_warm_up_epochs
        passed = max(0, epoch - 1 - rising) / max(1, training.epochs - rising)
        return 0.5 * (1.0 + cos(pi * passed))
    num_steps = (epoch - 1) // training.step_epochs if training.step_epochs else 0
    return training.step_factor**num_steps
