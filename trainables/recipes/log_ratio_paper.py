"""Kim et al. 2019, Deep Metric Learning Beyond Binary Supervision, by the README and main.py.

https://github.com/tjddus9597/Beyond-Binary-Supervision-CVPR19, on human poses. Not reproduced: the
learning rate falls there with every step, as 1 / (1 + step / 10,000); and images are moved by up
to 3 % and scaled by up to 5 % without a flip, which would change the pose.
"""

from podium.trainables.recipes._base import ON_GLYPHS, Recipe
from podium.trainables.settings.training_settings import TrainingSettings

LOG_RATIO_PAPER = Recipe(
    base=TrainingSettings(
        recipe="log_ratio_paper",
        epochs=30,  # main.py: the default
        batch_size=150,  # README: --batch-size
        sampler="label_neighbours",  # README: --sampling dense --num-NN 5
        optimiser="sgd",  # README
        momentum=0.9,  # main.py
        learning_rate=1e-2,  # README: --lr
        weight_decay=5e-4,  # main.py
        batch_norm="train",  # main.py
        augmentation="none",  # our guess: see above
        evaluation_crop=224 / 288,  # main.py: the centre 224 pixels of 288
        pooling="average",  # model.py
        head_init="kaiming",  # model.py
    ),
    image_size=224,
    rows=ON_GLYPHS,
    # The paper squares both distances, the code neither. So of label vectors this goes with
    # label_metric: squared_euclidean, and false without it.
    losses={"log_ratio": {"squared": True}, "dense_triplet": {"margin": 0.03}},
)
