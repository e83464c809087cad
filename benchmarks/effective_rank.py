"""How many directions embeddings of unseen classes use, before and after training.

    python -m benchmarks.effective_rank

Each loss at its published defaults, trained as `studies/all-losses.yaml` trains it. The effective
rank is exp of the entropy of the shares that the principal directions have in the embeddings'
squares: the embedding dimension if all have the same, 1 if all embeddings lie on one line. Of
embeddings of length 1, on validation classes, which the loss never sees; mean over seeds.
"""

import argparse
import statistics
import tempfile

import torch
from torch import Tensor

from benchmarks.interleaved import print_header
from trainables.recipes import training_for
from trainables.settings.trial_settings import (
    BackboneSettings,
    DatasetSettings,
    ProtocolSettings,
    TrialSettings,
)
from trainables.trial.fold_run import FoldRun
from trainables.trial.setup import set_up


def effective_rank(embeddings_ND: Tensor) -> float:
    """From 1 to the smaller of N and D; of rows of length 1, N images and D dimensions."""
    unit_ND = torch.nn.functional.normalize(embeddings_ND.double())
    squares = torch.linalg.svdvals(unit_ND).square()
    shares = squares / squares.sum()
    return float(torch.special.entr(shares).sum().exp())


def ranks_of(loss: str, arguments: argparse.Namespace, seed: int, cache: str) -> list[float]:
    """The effective rank before training and after each epoch."""
    settings = TrialSettings(
        dataset=DatasetSettings(name="glyphs", options={"script": "latin"}),
        protocol=ProtocolSettings(val_fraction=0.25),
        folds=(0,),
        backbone=BackboneSettings(name="conv_small"),
        embedding_dim=arguments.dim,
        loss=loss,
        hyperparameters={},
        training=training_for("fast", dataset="glyphs", backbone="conv_small"),
        seed=seed,
        cache_folder=cache,
    )
    run = FoldRun(set_up(settings), 0, torch.device("cpu"))
    ranks = []
    for epoch in range(settings.training.epochs + 1):
        if epoch:
            run.train(epoch)
        evaluation = run.validate(epoch)
        assert evaluation is not None, "the protocol validates"
        ranks.append(effective_rank(evaluation.embeddings_ND))
    return ranks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--losses", nargs="+", default=["gradml", "csml", "contrastive"])
    parser.add_argument("--dim", type=int, default=16)
    parser.add_argument("--seeds", type=int, default=2)
    arguments = parser.parse_args()
    print_header("benchmarks.effective_rank", "cpu")
    print(f"{'loss':<16}{'untrained':>10}{'1 epoch':>10}{'the end':>10}")
    with tempfile.TemporaryDirectory() as cache:
        for loss in arguments.losses:
            found = [ranks_of(loss, arguments, seed, cache) for seed in range(arguments.seeds)]
            means = [statistics.mean(ranks) for ranks in zip(*found, strict=True)]
            print(f"{loss:<16}{means[0]:>10.1f}{means[1]:>10.1f}{means[-1]:>10.1f}")


if __name__ == "__main__":
    main()
