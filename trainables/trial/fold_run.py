"""One fold of a trial: trained, validated after each epoch, tested once at its selected epoch."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import torch
from torch import Tensor

from podium.trainables.device import peak_memory_mb
from podium.trainables.network.network import Network
from podium.trainables.reproducibility import derive_seed, reproducible
from podium.trainables.saved_models.retrievals import retrievals
from podium.trainables.settings.loss_expression import prefix_lengths
from podium.trainables.tasks import geometry_of
from podium.trainables.training_loop.evaluation import Evaluator
from podium.trainables.training_loop.trainer import Trainer
from podium.trainables.trial.fold_artifacts import FoldArtifacts, embeddings_of_test, fold_model
from podium.trainables.trial.fold_data import FoldData
from podium.trainables.trial.setup import TrialSetup
from podium.trainables.trial_reports import ClassHits, EpochReport, Score, TestReport


def epochs_of(setup: TrialSetup) -> range:
    """The epochs that are reported: 1 to the last one, or only 0 where nothing is trained."""
    last = setup.last_epoch
    return range(1, last + 1) if last else range(1)


def _scored_prefixes(setup: TrialSetup) -> tuple[int, ...]:
    """The lengths shorter than the embedding; of finals only, since no search looks at them."""
    settings = setup.settings
    if not settings.evaluate_test or settings.test_scores != "all" or not setup.last_epoch:
        return ()
    assert settings.embedding_dim is not None, "what is trained has a head"
    return prefix_lengths(settings.loss, setup.loss_arguments, settings.embedding_dim)[1:]


class FoldRun:
    """The network of one fold, from scratch or from a saved state.

    Weights and batches follow from the trial's seed and the fold, not from the loss: competitors
    start from the same network, and so do the baselines.

    Args:
        setup: the trial.
        fold: index of the protocol's split.
        device: device of the network and of the images.
        state: result of `state_dict` to resume from; None to start.

    Raises:
        TrialInputError: the protocol does not fit the data set, or a class or an image has two
            roles (`trainables.batches.leakage_guard`).
    """

    def __init__(
        self,
        setup: TrialSetup,
        fold: int,
        device: torch.device,
        state: dict[str, Any] | None = None,
    ) -> None:
        self._setup = setup
        self._fold = fold
        self._device = device
        self._data = data = FoldData(setup, fold, device)
        self._seed = data.seed
        with reproducible(derive_seed(data.seed, "network"), setup.settings.num_threads):
            embedder = data.make_embedder()
            self._embedder = embedder.to(device)
            self._network = Network(embedder, setup.training, device)
            self._val = data.validated()
            self._trainer = self._make_trainer() if setup.training.epochs else None
        task = setup.dataset.task
        self._evaluator = Evaluator(
            network=self._network,
            ks=setup.settings.ks,
            fold=fold,
            geometry=geometry_of(self._trainer.needs, task) if self._trainer else "cosine",
            recall_only=setup.settings.test_scores == "recall",
            prefixes=_scored_prefixes(setup),
        )
        self._best_score = -1.0
        self._best_epoch = 0
        self._best_weights: dict[str, Tensor] = {}
        self._best_loss: dict[str, Tensor] = {}
        if state is not None:
            self._load_state_dict(state)

    def _make_trainer(self) -> Trainer:
        setup, data, criterion = self._setup, self._data, self._setup.make_loss()
        text_CT = data.class_text() if "class_text" in criterion.needs else None
        return Trainer(
            self._network, criterion, data.trained(), setup.training, data.seed, text_CT
        )

    def run_epoch(self, epoch: int) -> EpochReport:
        """Train (unless the epoch is 0) and validate (unless nothing is).

        Raises:
            Diverged: a loss, gradient or embedding is not finite.
            Collapsed: all embeddings coincide.
        """
        started = perf_counter()
        with reproducible(derive_seed(self._seed, epoch), self._setup.settings.num_threads):
            train_scores = self.train(epoch)
            val_scores, class_hits = self.validate(epoch)
        return EpochReport(
            fold=self._fold,
            epoch=epoch,
            scores=(*train_scores, *val_scores),
            class_hits=class_hits,
            seconds=perf_counter() - started,
            peak_memory_mb=peak_memory_mb(self._device),
        )

    def train(self, epoch: int) -> tuple[Score, ...]:
        """The training half of `run_epoch`."""
        return self._trainer.train(self._fold, epoch) if self._trainer else ()

    def validate(self, epoch: int) -> tuple[tuple[Score, ...], tuple[ClassHits, ...]]:
        """The validating half of `run_epoch`; keeps the weights if they are the best so far.

        Where nothing is validated that is each epoch, and so the last one in the end.
        """
        if self._val is None:
            self._select(epoch)
            return (), ()
        scores, class_hits, _ = self._evaluator.evaluate(self._val, "val", epoch)
        if scores[0].value > self._best_score:
            self._best_score = scores[0].value
            self._select(epoch)
        return scores, class_hits

    def _select(self, epoch: int) -> None:
        weights = self._embedder.state_dict()
        self._best_weights = {name: value.clone() for name, value in weights.items()}
        own = self._trainer.loss_parameters if self._trainer else {}
        self._best_loss = {name: value.detach().clone() for name, value in own.items()}
        self._best_epoch = epoch

    def test(self, keep: Callable[[FoldArtifacts], None] | None = None) -> TestReport:
        """Score the test classes with the weights of the selected epoch; the fold ends with it.

        Args:
            keep: is given the weights and the test embeddings.

        Raises:
            TrialInputError: an image of the test was trained on or, unless the protocol leaks,
                validated.
            Diverged: an embedding is not finite.
            Collapsed: all embeddings coincide.
        """
        started = perf_counter()
        setup, epoch = self._setup, self._best_epoch
        test = self._data.tested()
        self._embedder.load_state_dict(self._best_weights)
        with reproducible(derive_seed(self._seed, "test"), setup.settings.num_threads):
            scores, hits, embeddings_ND = self._evaluator.evaluate(test, "test", epoch)
            geometry = self._evaluator.geometry
            found = (
                ()
                if setup.settings.test_scores != "all"
                else retrievals(setup.dataset, test, embeddings_ND, geometry)
            )
        report = TestReport(
            fold=self._fold,
            epoch=epoch,
            scores=scores,
            class_hits=hits,
            retrievals=found,
            seconds=perf_counter() - started,
        )
        if keep is not None:
            model = fold_model(
                setup,
                report,
                geometry=geometry,
                weights=self._data.whole_weights(self._best_weights),
                loss_parameters=self._best_loss,
                train_classes=sorted(self._data.split.train),
            )
            embeddings = embeddings_of_test(model, setup.dataset, test, embeddings_ND)
            keep(FoldArtifacts(model=model, embeddings=embeddings))
        return report

    def state_dict(self) -> dict[str, Any]:
        """Everything the rest of the fold depends on, as tensors and plain values.

        No random generator is among it: `trainables.reproducibility` says why.
        """
        return {
            "embedder": self._embedder.state_dict(),
            "trainer": self._trainer.state_dict() if self._trainer else {},
            "best_score": self._best_score,
            "best_epoch": self._best_epoch,
            "best_weights": self._best_weights,
            "best_loss": self._best_loss,
        }

    def _load_state_dict(self, state: dict[str, Any]) -> None:
        self._embedder.load_state_dict(state["embedder"])
        if self._trainer:
            self._trainer.load_state_dict(state["trainer"])
        self._best_score = state["best_score"]
        self._best_epoch = state["best_epoch"]
        self._best_weights = state["best_weights"]
        self._best_loss = state["best_loss"]
