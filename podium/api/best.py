"""The configs that won the searches of a loss."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from analysis.scores.final_scores import final_trials
from analysis.wording import counted
from orchestrator.results.records.metric_columns import known_test_columns, metric_label
from orchestrator.results.trial_files.reader import Reader
from podium.api.answer import Answer, frame_of
from podium.errors import PodiumError
from podium.terminal.printing import Row, table_text

_HP = "hp."
_PLACE = ("block", "protocol", "repeat")


@dataclass(frozen=True, slots=True, kw_only=True)
class BestConfig:
    """The config that won one search.

    Attributes:
        loss: name of the loss.
        block: data set, backbone, embedding dimension, and image size if it varies.
        protocol: label of the validation protocol.
        repeat: number of the search among those of its block, loss and protocol, from 0.
        trial_id: id of the search trial by which it won.
        hyperparameters: its hyperparameters by name.
        validation: score of that trial on validation classes, from 0 to 1.
        test: mean test score of its final trials over seeds and folds, from 0 to 1, by the same
            metric; None before any ended.
        test_std: sample standard deviation of these; None with fewer than two.
        final_trial_ids: ids of these final trials, whose networks `podium.Results.model` loads.
    """

    loss: str
    block: str
    protocol: str
    repeat: int
    trial_id: str
    hyperparameters: Mapping[str, float | int | str | bool]
    validation: float
    test: float | None
    test_std: float | None
    final_trial_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class BestConfigs(Answer):
    """The configs that won the searches of a loss: one for each block, protocol and repeat.

    Attributes:
        loss: name of the loss.
        metric: label of the scores, such as ``Recall@1``.
        configs: the winners, by block, protocol and repeat.
    """

    loss: str
    metric: str
    configs: tuple[BestConfig, ...]

    @property
    def headline(self) -> str:
        """How many searches have a winner."""
        searches = counted(len(self.configs), "search", "searches")
        return f"{self.loss}: what won {searches} by validation {self.metric}"

    @property
    def frame(self) -> pl.DataFrame:
        """One row per search; hyperparameters are the columns ``hp.*``, scores from 0 to 1."""
        return frame_of(self._rows())

    def to_dict(self) -> dict[str, Any]:
        """Loss, metric and configs."""
        return asdict(self)

    def shown_rows(self) -> Sequence[Row]:
        """Where it won, hyperparameters that differ in nothing but digits, and scores."""
        return [
            {
                name.removeprefix(_HP): value
                for name, value in row.items()
                if name not in ("loss", "trial_id")
            }
            for row in self._rows()
        ]

    def __str__(self) -> str:
        rows = self.shown_rows()
        return f"{self.headline}\n\n{table_text(rows, columns=list(rows[0]))}"

    def _rows(self) -> list[dict[str, Any]]:
        names = dict.fromkeys(name for config in self.configs for name in config.hyperparameters)
        return [
            {
                "loss": config.loss,
                **{name: getattr(config, name) for name in _PLACE},
                "trial_id": config.trial_id,
                **{f"{_HP}{name}": config.hyperparameters.get(name) for name in names},
                "validation": config.validation,
                "test": config.test,
                "test_std": config.test_std,
            }
            for config in self.configs
        ]


def best_configs(reader: Reader, loss: str) -> BestConfigs:
    """The winners of a loss: see `podium.Results.best`."""
    study = reader.study()
    if loss not in study["losses"]:
        known = ", ".join(sorted(study["losses"]))
        raise PodiumError(f"loss must be one of {known}; got {loss!r}")
    trials = reader.trials().filter(pl.col("loss") == loss).collect()
    finals = final_trials(trials.lazy()).filter(pl.col("finalist") == "winner")
    ended = trials.filter(pl.col("stage") == "search", pl.col("state") == "COMPLETE")
    if ended.is_empty():
        raise PodiumError(f"no search of {loss} has a complete trial yet")
    searches = ended.partition_by("search", as_dict=True, maintain_order=True)
    found = [
        _best(searched, finals.filter(pl.col("search") == search))
        for (search,), searched in searches.items()
    ]
    return BestConfigs(
        loss=loss,
        metric=metric_label(reader.objective, study["ks"][0]),
        configs=tuple(sorted(found, key=lambda it: (it.block, it.protocol, it.repeat))),
    )


def _best(searched: pl.DataFrame, finals: pl.DataFrame) -> BestConfig:
    """The config with finals; before there are any, the best so far, the earliest on ties."""
    picked = searched.filter(pl.col("config_hash").is_in(finals["config_hash"].implode()))
    ranked = (searched if picked.is_empty() else picked).sort(
        "objective", "index", descending=[True, False]
    )
    row = ranked.row(0, named=True)
    tested = finals.filter(pl.col("state") == "COMPLETE")
    scores = tested[next(iter(known_test_columns(finals.columns)))].drop_nulls()
    return BestConfig(
        **{name: row[name] for name in ("loss", *_PLACE, "trial_id")},
        hyperparameters={
            name.removeprefix(_HP): value
            for name, value in row.items()
            if name.startswith(_HP) and value is not None
        },
        validation=row["objective"],
        test=_number(scores.mean()),
        test_std=_number(scores.std()),
        final_trial_ids=tuple(tested["trial_id"]),
    )


def _number(value: object) -> float | None:
    return value if isinstance(value, float) else None
