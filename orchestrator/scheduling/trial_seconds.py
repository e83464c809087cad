"""What trials cost by what they have cost so far: seconds of an epoch, and of all around epochs.

Pure: times come in as seconds. A trial costs its epochs at the rate of its block and loss, times a
factor of its stage, and what its stage costs besides: start, test, writing.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from orchestrator.study.study import Block

_KEPT = 0.99  # what is known of a block and loss counts so much less after each epoch
_EPOCHS_OF_TEST = 1.0  # what a test takes, in epochs, before a final has ended


class TrialKind(NamedTuple):
    """Trials that cost alike.

    Attributes:
        stage: ``search``, ``part`` or ``all`` of finals by what they train on, or ``baseline``.
        block: their block.
        loss: their loss.
    """

    stage: str
    block: Block
    loss: str


@dataclass(frozen=True, slots=True)
class _Mean:
    """Replaced whole: the thread that estimates may read while the one that learns adds."""

    total: float
    weight: float

    @property
    def value(self) -> float:
        return self.total / self.weight


@dataclass(slots=True)
class TrialSeconds:
    """Estimates of what trials cost, learnt from epochs and trials as they end."""

    _rates: dict[tuple[Block, str], _Mean] = field(default_factory=dict)
    _similar: dict[Block | None, _Mean] = field(default_factory=dict)  # of a block, and of all
    _factors: dict[str, _Mean] = field(default_factory=dict)
    _around: dict[str, _Mean] = field(default_factory=dict)

    @property
    def num_rates(self) -> int:
        """Number of blocks x losses of which an epoch has been trained."""
        return len(self._rates)

    def learn_epochs(self, kind: TrialKind, number: int, seconds: float) -> None:
        """So many epochs of one trial took so many seconds together."""
        if not number:
            return
        pair = (kind.block, kind.loss)
        if kind.stage == "search" or pair not in self._rates:
            self._set_rate(pair, _plus(self._rates.get(pair), seconds, number, _KEPT**number))
        elif rate := self._rate(pair):
            stage = kind.stage
            self._factors[stage] = _plus(self._factors.get(stage), seconds, number * rate)

    def learn_around(self, kind: TrialKind, seconds: float, number: int = 1) -> None:
        """So many trials took so many seconds together besides their epochs."""
        if number:
            self._around[kind.stage] = _plus(self._around.get(kind.stage), seconds, number)

    def of_epochs(self, kind: TrialKind, number: float) -> float:
        """Seconds of so many epochs; 0 while nothing is known."""
        factor = self._factors.get(kind.stage)
        return number * self._rate((kind.block, kind.loss)) * (factor.value if factor else 1.0)

    def around(self, kind: TrialKind) -> float:
        """Seconds of a trial besides its epochs."""
        known = self._around.get(kind.stage)
        if known is not None:
            return known.value
        search = self._around.get("search")
        start = search.value if search else 0.0
        return start if kind.stage == "search" else start + self.of_epochs(kind, _EPOCHS_OF_TEST)

    def _rate(self, pair: tuple[Block, str]) -> float:
        """Seconds of an epoch: of the block and loss, or the mean of its block, or of all."""
        known = self._rates.get(pair) or self._similar.get(pair[0]) or self._similar.get(None)
        return known.value if known else 0.0

    def _set_rate(self, pair: tuple[Block, str], rate: _Mean) -> None:
        before = self._rates.get(pair)
        more, num_more = (rate.value, 1) if before is None else (rate.value - before.value, 0)
        self._rates[pair] = rate
        for key in (pair[0], None):
            self._similar[key] = _plus(self._similar.get(key), more, num_more)


def _plus(mean: _Mean | None, total: float, weight: float, kept: float = 1.0) -> _Mean:
    """The mean with more values; what it was before counts by ``kept``."""
    if mean is None:
        return _Mean(total, weight)
    return _Mean(mean.total * kept + total, mean.weight * kept + weight)
