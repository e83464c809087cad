"""One fold of many trials at once: heads that see the same batches, validated together.

P = members, N = images, B = batch, F = features, D = embedding dimension, S = steps of an epoch.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from functools import partial
from math import inf
from time import perf_counter

import torch
from torch import Tensor

from podium.trainables.device import peak_memory_mb
from podium.trainables.errors import Collapsed, Diverged
from podium.trainables.loss_composition.loss_base import Loss
from podium.trainables.metrics.collapse import is_collapsed
from podium.trainables.metrics.embedding_spread import spread_scores
from podium.trainables.metrics.first_positive_rank import first_positive_ranks
from podium.trainables.metrics.recall_at_k import recall_class_hits, recall_scores
from podium.trainables.metrics.stacked_ranks import stacked_ranks
from podium.trainables.population.captured_step import CapturedStep, Step
from podium.trainables.population.stacked_optimiser import Rates, Trained
from podium.trainables.population.stacked_step import (
    BIAS,
    NOTHING,
    WEIGHT,
    StackedStep,
    StepRates,
    embed,
)
from podium.trainables.reproducibility import derive_seed, reproducible
from podium.trainables.settings.population_agreement import real_names
from podium.trainables.tasks import geometry_of
from podium.trainables.training_loop.learning_rates import EMBEDDING, LOSS, learning_rates
from podium.trainables.training_loop.trainer import epoch_scores
from podium.trainables.training_loop.training_batches import TrainingBatches
from podium.trainables.trial.fold_data import FoldData
from podium.trainables.trial.setup import TrialSetup
from podium.trainables.trial_reports import ClassHits, EpochReport, Score

MemberReport = EpochReport | Diverged | Collapsed
Validated = tuple[tuple[Score, ...], tuple[ClassHits, ...]]


class PopulationFold:
    """The heads of one fold, from scratch.

    Each member is what `trainables.trial.fold_run.FoldRun` would make of its trial: to the bit
    where the loss does, on this device, in a stack what it does alone. A few losses add a sum in
    another order, which thousands of steps can turn into another query or two.

    Args:
        setups: trials of one agreement (`trainables.settings.population_agreement`).

    Raises:
        TrialInputError: the protocol does not fit the data set, or a class or an image has two
            roles.
    """

    def __init__(self, setups: Sequence[TrialSetup], fold: int, device: torch.device) -> None:
        self._setups, self._fold, self._device = list(setups), fold, device
        first = setups[0]
        data = FoldData(first, fold, device)
        self._seed = data.seed
        losses = [_loss_of(setup) for setup in setups]
        self._needs = losses[0].needs
        with reproducible(derive_seed(data.seed, "network"), first.settings.num_threads):
            self._embedder = embedder = data.make_embedder().to(device)
            val = data.validated()
            assert val is not None, "members are validated"
            self._val = val
            text_CT = data.class_text() if "class_text" in self._needs else None
            self._batches = TrainingBatches(
                data.trained(), first.training, data.seed, losses[0], text_CT
            )
        for loss in losses:
            generator = torch.Generator().manual_seed(derive_seed(data.seed, "criterion"))
            dim = embedder.embedding.out_features
            loss.prepare(self._batches.num_classes, dim, generator)
        self._layer = {
            WEIGHT: _stacked([embedder.embedding.weight] * len(setups), device),
            BIAS: _stacked([embedder.embedding.bias] * len(setups), device),
        }
        own = [dict(loss.named_parameters()) for loss in losses]
        self._own = {name: _stacked([made[name] for made in own], device) for name in own[0]}
        self._reals = {
            name: self._of_members(
                [loss.hyperparameters[name] for loss in losses],
                # Angles are turned into radians first, of a trial alone in float64.
                torch.float64 if losses[0].declared[name].unit == "degrees" else torch.float32,
            )
            for name in real_names(first.settings.loss)
        }
        self._clip_P = self._of_members([setup.training.clip_value or inf for setup in setups])
        self._step = StackedStep(
            loss=type(losses[0]),
            chosen={
                name: value
                for name, value in losses[0].hyperparameters.items()
                if name not in self._reals
            },
            optimiser=first.training.optimiser,
            clipped=first.training.clipped
            if any(setup.training.clip_value for setup in setups)
            else NOTHING,
            is_normalised=first.training.l2,
        )
        # A step of the present members, and the rates at which it moves them.
        self._bound: tuple[StepRates, Step] | None = None

    def _of_members(self, values: Sequence[float], dtype: torch.dtype = torch.float32) -> Tensor:
        return torch.tensor(values, dtype=dtype, device=self._device)

    def __len__(self) -> int:
        return len(self._setups)

    @property
    def bytes_of_member(self) -> int:
        """What a member trains takes so much memory, without gradients and moments."""
        trained = (*self._layer.values(), *self._own.values())
        return sum(tensor.value.nbytes for tensor in trained) // len(self)

    @property
    def bytes_of_loss(self) -> int:
        """The largest tensor that the loss of a member needs in a step takes so much."""
        with reproducible(derive_seed(self._seed, 1), self._setups[0].settings.num_threads):
            images, beside = next(iter(self._batches.epoch(1)))
            with torch.no_grad():
                layer = {name: trained.value[:1] for name, trained in self._layer.items()}
                (embeddings_BD,) = embed(layer[WEIGHT], layer[BIAS], self._head_input(images))
            return self._step.bytes_of_loss(
                embeddings_BD.clone(),
                {name: trained.value[0].clone() for name, trained in self._own.items()},
                {name: values_P[0] for name, values_P in self._reals.items()},
                beside,
            )

    def part(self, members: Sequence[int]) -> "PopulationFold":
        """Some members, in that order, as a population of their own on the same data."""
        found = copy(self)
        found.keep(members)
        return found

    def keep(self, kept: Sequence[int]) -> None:
        """Go on with some members only, in that order."""
        kept_K = torch.tensor(list(kept), device=self._device)
        self._setups = [self._setups[member] for member in kept]
        self._layer = {name: trained.select(kept_K) for name, trained in self._layer.items()}
        self._own = {name: trained.select(kept_K) for name, trained in self._own.items()}
        self._reals = {name: values_P[kept_K] for name, values_P in self._reals.items()}
        self._clip_P = self._clip_P[kept_K]
        self._bound = None

    def run_epoch(self, epoch: int) -> list[MemberReport]:
        """Train and validate every member; what failed instead of a report, member by member."""
        started = perf_counter()
        num_threads = self._setups[0].settings.num_threads
        with reproducible(derive_seed(self._seed, epoch), num_threads), torch.no_grad():
            trained = self._train(epoch)
            found = list(self._validate(epoch, trained))
        seconds = (perf_counter() - started) / len(self)
        memory_mb = peak_memory_mb(self._device)
        reports: list[MemberReport] = []
        for train, one in zip(trained, found, strict=True):
            if isinstance(one, Diverged | Collapsed):
                reports.append(one)
                continue
            assert not isinstance(train, Diverged), "who diverged is not validated"
            report = EpochReport(
                fold=self._fold,
                epoch=epoch,
                scores=(*train, *one[0]),
                class_hits=one[1],
                seconds=seconds,
                peak_memory_mb=memory_mb,
            )
            reports.append(report)
        return reports

    def _train(self, epoch: int) -> list[tuple[Score, ...] | Diverged]:
        step = self._step_at(self._rates(epoch))
        steps = [
            step(self._head_input(images), beside) for images, beside in self._batches.epoch(epoch)
        ]
        every_PS3 = torch.stack(steps, dim=1).cpu().double()
        return [self._scores(values_S3, epoch) for values_S3 in every_PS3]

    def _step_at(self, rates: StepRates) -> Step:
        """A step at these rates, of the members that are left; the one before while it serves."""
        if self._bound is None or self._bound[0] != rates:
            state = (self._layer, self._own, self._reals, self._clip_P)
            step: Step = partial(self._step, *state, rates)
            on_gpu = self._device.type == "cuda"
            self._bound = rates, CapturedStep(step) if on_gpu else step
        return self._bound[1]

    def _scores(self, values_S3: Tensor, epoch: int) -> tuple[Score, ...] | Diverged:
        try:
            return epoch_scores(values_S3, self._fold, epoch)
        except Diverged as failure:
            return failure

    def _rates(self, epoch: int) -> StepRates:
        of_embedding, of_loss = [], []
        for recipe in (setup.training for setup in self._setups):
            by_group = learning_rates(recipe, epoch)
            rates = partial(Rates, momentum=recipe.momentum, epsilon=recipe.adam_epsilon)
            of_embedding.append(
                rates(learning_rate=by_group[EMBEDDING], decay=recipe.weight_decay)
            )
            of_loss.append(rates(learning_rate=by_group[LOSS], decay=recipe.proxy_weight_decay))
        return of_embedding, of_loss

    def _head_input(self, images: Tensor) -> Tensor:
        return self._embedder.head_input(self._embedder.features(images))

    def _validate(
        self, epoch: int, trained: Sequence[tuple[Score, ...] | Diverged]
    ) -> Iterator[Validated | Diverged | Collapsed]:
        weight_PDF, bias_PD = self._layer[WEIGHT].value, self._layer[BIAS].value
        embeddings_PND = torch.cat(
            [
                embed(weight_PDF, bias_PD, self._head_input(chunk))
                for chunk in self._val.batches.evaluation()
            ],
            dim=1,
        )
        is_finite_PN = embeddings_PND.isfinite().all(2)
        num_bad_P = (~is_finite_PN).sum(1).tolist()
        failures = [
            train if isinstance(train, Diverged) else self._not_finite(num_bad, epoch)
            for train, num_bad in zip(trained, num_bad_P, strict=True)
        ]
        sound = [member for member, failure in enumerate(failures) if failure is None]
        if len(sound) < len(failures):
            embeddings_PND = embeddings_PND[torch.tensor(sound, device=self._device)]
        validated = self._retrieved(embeddings_PND, epoch)
        for failure in failures:
            yield next(validated) if failure is None else failure

    def _retrieved(self, embeddings_PND: Tensor, epoch: int) -> Iterator[Validated | Collapsed]:
        settings = self._setups[0].settings
        labels_N, is_gallery_N = self._val.labels_N, self._val.is_gallery_N
        geometry = geometry_of(self._needs)
        ranks_of = partial(
            first_positive_ranks, labels_N=labels_N, is_gallery_N=is_gallery_N, geometry=geometry
        )
        found = (
            stacked_ranks(embeddings_PND, labels_N)
            if is_gallery_N is None and geometry == "cosine"
            else map(ranks_of, embeddings_PND)
        )
        for embeddings_ND, ranks in zip(embeddings_PND, found, strict=True):
            if is_collapsed(embeddings_ND, geometry):
                what = f"all {len(self._val)} val embeddings coincide"
                yield Collapsed(what, self._fold, epoch)
                continue
            scores = recall_scores(ranks, settings.ks, role="val")
            if settings.test_scores != "recall":
                scores += spread_scores(embeddings_ND, labels_N, role="val")
            yield scores, tuple(recall_class_hits(ranks, k, role="val") for k in settings.ks)

    def _not_finite(self, num_bad: int, epoch: int) -> Diverged | None:
        if not num_bad:
            return None
        what = f"{num_bad} of {len(self._val)} val embeddings are NaN or infinite"
        return Diverged(what, self._fold, epoch)


def _stacked(tensors: Sequence[Tensor], device: torch.device) -> Trained:
    return Trained.fresh(torch.stack([tensor.detach() for tensor in tensors]).to(device))


def _loss_of(setup: TrialSetup) -> Loss:
    loss = setup.make_loss()
    assert isinstance(loss, Loss), "others are trained alone"
    return loss
