"""The resolved study: immutable values of a study file, with defaults filled in."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, asdict, dataclass, field
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, Field, StrictBool, StrictFloat, StrictInt

from podium.orchestrator.results.records.expected_values import Expected
from podium.orchestrator.results.records.study_keys import Different, Several, Text
from podium.orchestrator.results.records.tournament_rules import TournamentRules
from podium.orchestrator.search_samplers.sampler_names import SamplerName
from podium.search_spaces.parameters import Choice, Int, Real, Space
from podium.trainables.settings.legal_ranges import MAX_DIM, MAX_IMAGE_SIZE, MAX_SEED
from podium.trainables.settings.training_settings import HyperparameterValue
from podium.trainables.settings.trial_settings import (
    BackboneSettings,
    DatasetSettings,
    ProtocolSettings,
)

T = TypeVar("T")

LogTool = Literal["tensorboard", "wandb", "mlflow"]
Quarantine = Literal["none", "record", "record_all"]
Splits = Literal["same", "fresh"]
Stopping = Literal["asha", "folds", "none"]
TrainOn = Literal["part", "all"]
Tunable = Literal[
    "learning_rate",
    "head_learning_rate_factor",
    "proxy_learning_rate",
    "weight_decay",
    "proxy_weight_decay",
    "step_factor",
    "warm_up_epochs",
]


def _whole_above_one(gpus: float) -> float:
    """Ray assigns fractions of one GPU, or whole GPUs."""
    if gpus > 1 and gpus != int(gpus):
        raise ValueError("above 1 must be a whole number")
    return gpus


# Largest values are far above what any design needs, and below what no machine ever ends.
MAX_TRIALS = 10**10
"""Trials of a whole study."""
Seed = Annotated[StrictInt, Field(ge=0, le=MAX_SEED)]
Trials = Annotated[StrictInt, Field(ge=1, le=100_000)]
"""Trials of one search, at a time or in all."""
Repeats = Annotated[StrictInt, Field(ge=1, le=1_000)]
"""Of searches, and seeds of a final."""
Cpus = Annotated[StrictFloat, Field(gt=0, le=10_000)]
Gpus = Annotated[StrictFloat, Field(ge=0, le=1_000), AfterValidator(_whole_above_one)]
Hours = Annotated[StrictFloat, Field(gt=0, le=1e6)]
"""Hours of a trial or a run, or minutes."""
GpuHours = Annotated[StrictFloat, Field(gt=0, le=1e9)]
# The only neighbour of a one-dimensional unit vector is itself or its opposite.
Dims = Several[Annotated[StrictInt, Field(ge=2, le=MAX_DIM)]]
AtLeastOne = Annotated[tuple[T, ...], Field(min_length=1)]
Sizes = Different[Annotated[StrictInt, Field(ge=1, le=MAX_IMAGE_SIZE)]]
Ks = Several[Annotated[StrictInt, Field(ge=1, le=1_000_000)]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyStopping:
    """When trials of a search are stopped early, compared with trials of the same search only.

    Attributes:
        kind: rule for stopping; see `orchestrator.scheduling.early_stopping`.
        grace_epochs: first epoch at which a trial may be stopped; ``folds`` stops at no epoch.
        reduction_factor: the best 1 / reduction_factor continue.
    """

    kind: Stopping = "asha"
    grace_epochs: Annotated[StrictInt, Field(ge=1, le=100_000)] = 1
    reduction_factor: Annotated[StrictInt, Field(ge=2, le=100_000)] = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmStart:
    """Earlier results of which the ``top`` best configs of each search are tried first."""

    folder: Annotated[Text, Field(alias="from")]
    top: Trials = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """One search per block, loss, protocol and repeat; every search has the same budget.

    Attributes:
        trials: budget of each search.
        epochs: epochs of each of its trials, whose schedules stay those of the finals; None for
            all that finals are trained for.
        space: name of the losses' spaces that are searched.
        tune: training hyperparameters that are searched besides.
        order: ``deterministic`` makes suggestions independent of which trial ends first.
        lag: in deterministic order, suggestion i knows the outcomes of suggestions 0 to i - lag.
        repeats: searches of each block, loss and protocol.
        shared_configs: whether all protocols and repeats of a block and loss try the same configs;
            only of samplers that do not learn.
        splits: ``fresh`` gives each repeat a split seed of its own, ``same`` gives all the
            protocol's.
        max_concurrent: maximum number of trials of a search at a time; None for no limit.
        population: members of a population at most, for trials that can be members of one; 1 has
            every trial run alone.
    """

    sampler: SamplerName = "tpe"
    trials: Trials = 20
    epochs: Annotated[StrictInt, Field(ge=1)] | None = None
    space: Text = "joint"
    tune: Different[Tunable] = ("learning_rate",)
    early_stopping: EarlyStopping = field(default_factory=EarlyStopping)
    order: Literal["asynchronous", "deterministic"] = "asynchronous"
    lag: Trials = 2
    repeats: Repeats = 1
    shared_configs: StrictBool = False
    splits: Splits = "same"
    warm_start: WarmStart | None = None
    max_concurrent: Trials | None = None
    population: Annotated[StrictInt, Field(ge=1, le=10_000)] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalSettings:
    """Winner and published default of each search, retrained with fresh seeds, then tested once.

    Attributes:
        protocol: protocol of finals on a part of the classes; None for that of the search.
        train_on: ``part``: on the training classes of ``protocol``, tested at the best epoch by
            validation;
            ``all``: on every training class, for as many epochs as the search selected.
    """

    seeds: Repeats = 3
    protocol: ProtocolSettings | None = None
    train_on: Several[TrainOn] = ("part",)


@dataclass(frozen=True, slots=True)
class StudyLoss:
    """A loss of the study, with what the study file states for it alone.

    Attributes:
        name: canonical name (`trainables.settings.loss_expression`).
        space: what is searched; None for its space called ``search.space``. What ``search.tune``
            names joins either.
        values: hyperparameters; searches start from them, and use them for what they do not
            search.
        label: what readers see of its name; "" for the usual.
    """

    name: str
    _: KW_ONLY
    space: Space | None = None
    values: Mapping[str, HyperparameterValue] = field(default_factory=dict)
    label: str = ""

    @property
    def own_parameters(self) -> Mapping[str, Real | Int | Choice]:
        """What its own space searches; nothing without one."""
        return {} if self.space is None else self.space.parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyTraining:
    """A recipe by name (`trainables.recipes`), and settings that the study overrides.

    The resulting training depends on data set, backbone and loss:
    `orchestrator.study.configs.training_of`.
    """

    recipe: str = "fast"
    overrides: Mapping[str, HyperparameterValue] = field(default_factory=dict)

    @property
    def transform(self) -> str:
        """Code of one's own that changes training images; empty for none."""
        return str(self.overrides.get("transform", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceSettings:
    """What one trial occupies, and for how long it may.

    Attributes:
        gpus_per_trial: GPUs of a trial; fractions share one.
        trial_hours: a trial whose attempts take longer together fails; None for no limit.
        stuck_minutes: an attempt that reports nothing for so long is killed and repeated; None
            for never.
        checkpoint_minutes: after an epoch a trial saves its state, if it last did so long ago; 0
            for every epoch.
    """

    cpus_per_trial: Cpus = 1.0
    gpus_per_trial: Gpus = 0.0
    trial_hours: Hours | None = None
    stuck_minutes: Hours | None = 60.0
    checkpoint_minutes: Annotated[StrictFloat, Field(ge=0, le=1e6)] = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetSettings:
    """What all runs of the study may spend together (`orchestrator.study.blocks`); None: no limit.

    Attributes:
        gpu_hours: GPU hours of all attempts at all trials.
        wall_hours: hours from the start to the end of each run, summed.
        trials: trials of all stages; searches get equal shares.
    """

    gpu_hours: GpuHours | None = None
    wall_hours: Hours | None = None
    trials: Annotated[StrictInt, Field(ge=1, le=MAX_TRIALS)] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """What the user changes of a study while it runs.

    Attributes:
        max_concurrent: maximum number of trials at a time; None for that of the study.
        cancelled: ids of searches that are to start no other trial, and to have no finals.
        hours: ``gpu_hours`` and ``wall_hours`` of the budget that are changed; None: no limit.
        is_paused: whether no other trial is to start for now.
    """

    max_concurrent: int | None = None
    cancelled: frozenset[str] = frozenset()
    hours: Mapping[str, float | None] = field(default_factory=dict)
    is_paused: bool = False

    def budget(self, given: BudgetSettings) -> BudgetSettings:
        """A budget with the hours that are changed."""
        return BudgetSettings(**{**asdict(given), **self.hours})


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepSettings:
    """What tested trials leave beside their scores (`trainables.trial.fold_artifacts`).

    Weights are those of final trials, embeddings of test images of final trials and baselines.
    """

    models: StrictBool = True
    embeddings: StrictBool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """One resolved study file; owns one results folder.

    Attributes:
        backbones: no two of one name.
        image_sizes: height and width in pixels of the network's input, for data sets of image
            files; empty if all images have a size of their own.
        protocols: how configs are validated; no two of one label. Each has searches of its own.
        quarantine: ``record`` scores the test classes in trials of searches too, by Recall@K;
            ``record_all`` by all metrics. No search reads these scores: they serve to study
            protocols and to compare configs with published ones.
        warm_starts: configs by block and loss (`orchestrator.study.configs.warm_start_key`) that
            were found in ``search.warm_start`` when the study first started: tried after the
            default. From then on nothing is read there.
        code: import path -> fingerprint of each loss and backbone that is named so, as it was
            when the study first used it (`orchestrator.study.foreign_code`).
        declared_differences: name of what differs between the losses -> why
            (`orchestrator.study.fairness`); changes no number.
        expect: published results to compare those of the study with; changes no number.
        log: tools that get every trial as a run of theirs, where the run names none.
        ks: values of K of the metrics; the first is the primary one.
    """

    name: str
    datasets: AtLeastOne[DatasetSettings]
    backbones: AtLeastOne[BackboneSettings]
    embedding_dims: Dims = (32,)
    losses: AtLeastOne[StudyLoss]
    protocols: AtLeastOne[ProtocolSettings]
    search: SearchSettings
    final: FinalSettings
    training: StudyTraining
    resources: ResourceSettings = field(default_factory=ResourceSettings)
    budget: BudgetSettings = field(default_factory=BudgetSettings)
    image_sizes: Sizes = ()
    warm_starts: Mapping[str, tuple[Mapping[str, HyperparameterValue], ...]] = field(
        default_factory=dict
    )
    code: Mapping[str, str] = field(default_factory=dict)
    declared_differences: Mapping[str, str] = field(default_factory=dict)
    tournament: TournamentRules = field(default_factory=TournamentRules)
    expect: Expected | None = None
    keep: KeepSettings = field(default_factory=KeepSettings)
    log: Different[LogTool] = ()
    quarantine: Quarantine = "none"
    ks: Ks = (1, 2, 4, 8)
    seed: Seed = 0
    storage: Text = "podium-results"

    @property
    def tests_searches(self) -> bool:
        """Whether trials of searches are scored on test classes."""
        return self.quarantine != "none"

    @property
    def loss_names(self) -> tuple[str, ...]:
        """Names of the losses, in their order."""
        return tuple(loss.name for loss in self.losses)

    def loss(self, name: str) -> StudyLoss:
        """The loss of that name, which must be one of the study's."""
        return next(loss for loss in self.losses if loss.name == name)


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class Block:
    """Data set x backbone x embedding dimension x image size: what losses are ranked within.

    ``image_size`` is None where images have a size of their own, ``embedding_dim`` where the
    features of the backbone are scored, which have no embedding layer.
    """

    dataset: str
    backbone: str
    embedding_dim: int | None
    image_size: int | None = None

    @property
    def factors(self) -> tuple[str, ...]:
        """Names and sizes that make up the label; no size that is None."""
        dim = () if self.embedding_dim is None else (str(self.embedding_dim),)
        size = () if self.image_size is None else (f"{self.image_size}px",)
        return (self.dataset, self.backbone, *dim, *size)

    @property
    def label(self) -> str:
        """``glyphs-latin/conv_small/32``, ``cub200/resnet50/512/224px``."""
        return "/".join(self.factors)


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class Search:
    """One search: block x loss x protocol (its label) x repeat.

    Attributes:
        id: a name safe in paths, such as ``glyphs-latin.conv_small.32.contrastive.fixed.0``; its
            folder has it too. Made once: it is asked for many times with every trial.
    """

    block: Block
    loss: str
    protocol: str
    repeat: int
    id: str = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Make the id."""
        parts = (*self.block.factors, self.loss, self.protocol, str(self.repeat))
        object.__setattr__(self, "id", ".".join(map(_without_signs, parts)))


def _without_signs(part: str) -> str:
    """The name of a loss or network without signs that a folder name should not have."""
    for sign, word in (("+", "-and-"), (">", "-then-"), (":", "-"), ("/", "-")):
        part = part.replace(sign, word)
    return part
