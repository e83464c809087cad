"""How a study names a loss: alone, inside another, summed with others, or after a pre-training.

    multi_similarity                     a loss of podium
    ./folder/mine.py:Class               a loss in a file of one's own; then mine.py:Class
    package.module:Class                 a loss of another library, by import path
    memory:contrastive                   a pair loss with a cross-batch memory
    matryoshka:contrastive               a loss summed over prefixes of the embedding
    multi_similarity+softmax             a weighted sum
    softmax>multi_similarity+softmax     the first alone for some epochs, then the rest

A loss alone keeps the names of its hyperparameters; where there are several terms each name is
preceded by that of its term: ``softmax.weight``. No torch.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from podium.trainables.errors import TrialInputError, did_you_mean
from podium.trainables.other_names import PML_NAMES
from podium.trainables.own_files import AROUND, class_in_file
from podium.trainables.registry import names
from podium.trainables.settings.legal_ranges import Interval, Parameter, Whole
from podium.trainables.settings.training_settings import HyperparameterValue

MEMORY = {
    "memory_size": Parameter(1024, Whole(1, 10_000_000), unit="images", source="own"),
    "memory_weight": Parameter(1.0, Interval(0.0, 1e6), source="own"),
    "memory_start_epoch": Parameter(2, Whole(1, 1_000_000), unit="epoch", source="own"),
}
"""Hyperparameters of a cross-batch memory."""
_SMALLEST = 8
MATRYOSHKA = {
    "smallest_prefix": Parameter(
        _SMALLEST, Whole(1, 1_000_000), unit="dimensions", source="Kusupati et al. 2022"
    ),
}
"""Hyperparameter of a loss over prefixes: the embedding is halved down to at least this length."""
WEIGHT = {"weight": Parameter(1.0, Interval(0.0, 1e6), source="own")}
"""Hyperparameter of a term of a sum."""
PRETRAINING = {
    "pretraining_epochs": Parameter(1, Whole(0, 1_000_000), unit="epochs", source="own")
}
"""Hyperparameter of a pre-training."""

_MEMORY, _MATRYOSHKA = AROUND
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_IMPORT_PATH = re.compile(r"(?!(?:memory|matryoshka):)[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class LossTerm:
    """One loss of an expression.

    Attributes:
        name: name of one of podium's losses, ``package.module:Class``, or ``mine.py:Class`` of a
            class in a file, without the path of the file.
        has_memory: whether its anchors also meet the samples of earlier batches.
        has_prefixes: whether it is summed over prefixes of the embedding.
    """

    name: str
    has_memory: bool = False
    has_prefixes: bool = False

    @property
    def is_external(self) -> bool:
        """Whether the loss is named by import path, or by the path of a file."""
        return ":" in self.name

    @property
    def prefix(self) -> str:
        """What its hyperparameters are called after: its name, without the path."""
        return self.name.rpartition(":")[2]

    def __str__(self) -> str:
        around = _MEMORY if self.has_memory else _MATRYOSHKA if self.has_prefixes else ""
        return f"{around}{self.name}"


@dataclass(frozen=True, slots=True)
class LossExpression:
    """A parsed name of a loss; ``str`` gives its one canonical spelling.

    Attributes:
        terms: losses that are summed; one term is a loss alone.
        pretraining: loss that is trained alone for the first epochs; None if there is none.
    """

    terms: tuple[LossTerm, ...]
    pretraining: LossTerm | None = None

    @property
    def is_single(self) -> bool:
        """Whether hyperparameters keep their names."""
        return len(self.terms) == 1 and self.pretraining is None

    @property
    def all_terms(self) -> tuple[LossTerm, ...]:
        """The different terms, the pre-training first; one that is in both parts is there once."""
        pretraining = () if self.pretraining is None else (self.pretraining,)
        return tuple(dict.fromkeys((*pretraining, *self.terms)))

    def own(
        self, term: LossTerm, hyperparameters: Mapping[str, HyperparameterValue]
    ) -> dict[str, HyperparameterValue]:
        """The hyperparameters of one term, under the names the loss itself gives them."""
        if self.is_single:
            return dict(hyperparameters)
        start = f"{term.prefix}."
        return {
            name.removeprefix(start): value
            for name, value in hyperparameters.items()
            if name.startswith(start)
        }

    def __str__(self) -> str:
        total = "+".join(map(str, self.terms))
        return total if self.pretraining is None else f"{self.pretraining}>{total}"


@lru_cache(maxsize=1024)  # plans and checks ask for the same names thousands of times
def parse_loss(text: str) -> LossExpression:
    """Parse the name of a loss. Whether its parts exist is not checked.

    Raises:
        TrialInputError: the text is no expression, or two terms have the same name.
    """
    before, then, after = text.rpartition(">")
    pretraining = _term(before, text) if then else None
    expression = LossExpression(tuple(_term(part, text) for part in after.split("+")), pretraining)
    for terms in (expression.terms, expression.all_terms):
        prefixes = [term.prefix for term in terms]
        if twice := {prefix for prefix in prefixes if prefixes.count(prefix) > 1}:
            raise TrialInputError(
                f"the terms of a loss must differ in name, but {min(twice)!r} occurs twice in"
                f" {text!r}"
            )
    return expression


def prefix_lengths(
    loss: str, hyperparameters: Mapping[str, HyperparameterValue], embedding_dim: int
) -> tuple[int, ...]:
    """Lengths of the prefixes that a loss is summed over, the whole embedding first.

    Empty without ``matryoshka:``; of several such terms those of any.

    Raises:
        TrialInputError: the embedding is too short to have a shorter prefix.
    """
    parsed, found = parse_loss(loss), set[int]()
    for term in parsed.all_terms:
        if term.has_prefixes:
            smallest = parsed.own(term, hyperparameters).get("smallest_prefix", _SMALLEST)
            found.update(halves(embedding_dim, int(smallest)))
    return tuple(sorted(found, reverse=True))


def halves(embedding_dim: int, smallest: int) -> tuple[int, ...]:
    """The dimension, its half, the half of that, and so on down to at least ``smallest``.

    Raises:
        TrialInputError: the half is shorter already.
    """
    if smallest > embedding_dim // 2:
        raise TrialInputError(
            f"smallest_prefix must be at most {embedding_dim // 2}, half of the embedding's"
            f" {embedding_dim} dimensions; got {smallest}"
        )
    lengths = (embedding_dim >> power for power in range(embedding_dim.bit_length()))
    return tuple(length for length in lengths if length >= smallest)


def _term(part: str, whole: str) -> LossTerm:
    part = part.strip()
    around = next((it for it in AROUND if part.startswith(it)), "")
    name = part.removeprefix(around)
    has_memory, has_prefixes = around == _MEMORY, around == _MATRYOSHKA
    if in_file := class_in_file(name):
        return LossTerm(in_file, has_memory, has_prefixes)
    if name in PML_NAMES and name.endswith("Loss"):
        here = PML_NAMES[name]
        raise TrialInputError(
            f"{name} of pytorch-metric-learning {f'is {here}' if here else 'has no name'} here; "
            f"that library's own is pytorch_metric_learning.losses:{name}"
        )
    if not _NAME.fullmatch(name) and not _IMPORT_PATH.fullmatch(name):
        raise TrialInputError(
            "a loss is a name, a class in a file ./mine.py:Class, an import path"
            " package.module:Class, memory:LOSS, matryoshka:LOSS, LOSS+LOSS or LOSS>LOSS;"
            f" got {part!r} in {whole!r}{did_you_mean(name, names('losses'))}"
        )
    return LossTerm(name, has_memory, has_prefixes)
