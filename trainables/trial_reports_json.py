"""Reports as JSON text and back, exactly."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from trainables.trial_reports import (
    ClassHits,
    EpochReport,
    Neighbour,
    Retrieval,
    Score,
    TestReport,
)

__all__ = ["reports_from_json", "reports_to_json"]

Report = EpochReport | TestReport


def reports_to_json(reports: Sequence[Report]) -> str:
    """Floats are written so that they read back as the same numbers; pictures as base64."""
    return json.dumps([asdict(report) for report in reports], default=_text, allow_nan=False)


def reports_from_json(text: str) -> tuple[Report, ...]:
    """The inverse of `reports_to_json`."""
    return tuple(_report(values) for values in json.loads(text))


def _text(png: object) -> str:
    assert isinstance(png, bytes), "reports hold plain values and pictures"
    return base64.b64encode(png).decode("ascii")


def _report(values: Mapping[str, Any]) -> Report:
    plain = {
        **values,
        "scores": tuple(Score(**score) for score in values["scores"]),
        "class_hits": tuple(_class_hits(hits) for hits in values["class_hits"]),
    }
    if "retrievals" not in values:
        return EpochReport(**plain)
    return TestReport(
        **{**plain, "retrievals": tuple(_retrieval(found) for found in values["retrievals"])}
    )


def _class_hits(values: Mapping[str, Any]) -> ClassHits:
    return ClassHits(
        role=values["role"],
        k=values["k"],
        class_ids=tuple(values["class_ids"]),
        queries=tuple(values["queries"]),
        hits=tuple(values["hits"]),
    )


def _retrieval(values: Mapping[str, Any]) -> Retrieval:
    return Retrieval(
        class_name=values["class_name"],
        png=base64.b64decode(values["png"]),
        neighbours=tuple(
            Neighbour(**{**neighbour, "png": base64.b64decode(neighbour["png"])})
            for neighbour in values["neighbours"]
        ),
    )
