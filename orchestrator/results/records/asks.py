"""Asks: what each suggestion of a search became, written before its trial starts.

An ask is the lease on a trial, and what a search is rebuilt from after a restart.
"""

import math
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import PlainValidator
from pydantic.dataclasses import dataclass

from orchestrator.results.records.json_records import LARGEST, STRICT, Count, FileName

AskSource = Literal["default", "given", "sampler"]


def _value(value: object) -> object:
    if type(value) not in (bool, int, float, str):
        raise ValueError("must be a plain bool, int, float or str")
    if isinstance(value, int) and abs(value) > LARGEST:
        raise ValueError("is out of bounds")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("must be a finite number")
    return value


Value = Annotated[bool | int | float | str, PlainValidator(_value)]
"""A hyperparameter, which comes back from JSON with the type it had."""


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Ask:
    """The index-th suggestion of a search.

    Attributes:
        search: id of the search.
        index: number of the suggestion within its search, from 0.
        trial_id: trial that the suggestion became.
        config_hash: hash of its config.
        hyperparameters: plain bool, int, float and str; each comes back with the type it had.
        source: ``default`` for the published default, ``given`` for a config of the study's, and
            ``sampler`` for what a sampler drew.
    """

    search: FileName
    index: Count
    trial_id: FileName
    config_hash: str
    hyperparameters: Mapping[str, Value]
    source: AskSource
