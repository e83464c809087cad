import torch

from podium.trainables.losses.chopra import Chopra
from tests.trainables.losses.loss_cases import BATCHES, DIM, embeddings, run


def test_under_l2_a_rotation_changes_nothing_but_under_l1_it_does():
    x, labels, _ = BATCHES["clustered"]
    x = x.double()
    rotation = torch.linalg.qr(embeddings(DIM, dtype=torch.float64, seed=7)).Q
    change = {
        distance: run(Chopra(distance=distance), x @ rotation, labels)[0]
        - run(Chopra(distance=distance), x, labels)[0]
        for distance in ("l1", "l2")
    }
    assert change["l2"].abs() < 1e-12
    assert change["l1"].abs() > 1e-3
