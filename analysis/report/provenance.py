"""Where the numbers come from: versions, code, seeds, splits, hardware, study file."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from podium.analysis.figures.series import Series
from podium.analysis.hyperparameters.searched_ranges import searched_range_text, space_ranges
from podium.analysis.page.html_page import Fold, Section, fragment
from podium.analysis.page.tables import Column, Table, table
from podium.analysis.scores.protocol_runs import test_readings
from podium.analysis.study_results.study_results import StudyResults
from podium.analysis.wording import MISSING, MOST_NAMED, listed
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.files import read_bytes

_MOST_HASHES = 12


def provenance(results: StudyResults, series: Mapping[str, Series]) -> Section:
    """The section: what was recorded at the start, what the trials say, hashes, and the study."""
    del series  # it has no figure
    recorded = results.reader.provenance()
    # Fairness and networks are told by other sections, and spaces have lines of their own.
    told = ("fairness", "networks", "spaces")
    others = {name: value for name, value in recorded.items() if name not in told}
    at_start = (*_at_start(others), *_searched(recorded))
    facts = (
        *_recorded(results.trials),
        *_seeds(results),
        ("test classes scored", _readings(results)),
    )
    text = read_bytes(StudyPaths(results.folder).study) or b""
    study = fragment("code.html.j2", text=text.decode())
    return Section(
        name="provenance",
        title="Provenance",
        parts=(
            fragment("facts.html.j2", facts=facts),
            Fold(
                summary="Recorded when the study started",
                parts=(fragment("facts.html.j2", facts=at_start),),
            ),
            Fold(summary="Hashes by setting", parts=(_hashes(results.trials),)),
            Fold(summary="The study, resolved", parts=(study,)),
        ),
    )


def _searched(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The search space of each loss: a line, or one for each group of blocks that differs."""
    for loss, items in sorted(values.get("spaces", {}).items()):
        for item in items:
            where = f" in {listed(item['blocks'], most=MOST_NAMED)}" if len(items) > 1 else ""
            ranges = space_ranges(item["parameters"])
            texts = [f"{name} {searched_range_text(range_)}" for name, range_ in ranges.items()]
            yield f"searched of {loss}{where}", "; ".join(texts) or "nothing"


def _at_start(values: Mapping[str, Any], prefix: str = "") -> tuple[tuple[str, str], ...]:
    """What was recorded when the study started, nested names joined by a blank."""
    facts: list[tuple[str, str]] = []
    for name, value in sorted(values.items()):
        label = f"{prefix}{name.replace('_', ' ')}"
        if isinstance(value, Mapping) and all(isinstance(v, str) for v in value.values()):
            facts.append((label, ", ".join(f"{k} {v}" for k, v in sorted(value.items()))))
        elif isinstance(value, Mapping):
            facts.extend(_at_start(value, prefix=f"{label} "))
        elif value is not None:
            facts.append((label, _text(value)))
    return tuple(facts)


def _recorded(trials: pl.DataFrame) -> tuple[tuple[str, str], ...]:
    """What the trials themselves say, where it may differ from the start."""
    columns = {
        "nodes": "node",
        "devices": "device",
        "podium of the trials": "podium_version",
        "torch of the trials": "torch_version",
        "code of the trials": "git_commit",
        "selection rule": "selection_rule",
    }
    return tuple(
        (label, listed(trials[column].drop_nulls().unique().sort().to_list()) or MISSING)
        for label, column in columns.items()
    )


def _seeds(results: StudyResults) -> tuple[tuple[str, str], ...]:
    finals = results.finals.filter(pl.col("stage") == "final")
    seeds = finals.select("seed_index", "seed").unique().sort("seed_index", "seed")
    return (
        ("study seed", _text(results.study.get("seed"))),
        ("final seeds", ", ".join(str(seed) for seed in seeds["seed"]) or MISSING),
    )


def _readings(results: StudyResults) -> str:
    """How often test classes were scored, in all and by trials that were selected by them."""
    found = test_readings(results.trials)
    stages = [
        f"{stage} {readings:,}"
        for stage, readings in found.group_by("stage")
        .agg(pl.col("readings").sum())
        .sort("stage")
        .iter_rows()
    ]
    total = f"{int(found['readings'].sum()):,} times"
    leaking = int(found.filter("leaks")["readings"].sum())
    text = f"{total} ({', '.join(stages)})" if stages else total
    return f"{text}; {leaking:,} of them by trials that leak" if leaking else text


def _hashes(trials: pl.DataFrame) -> Table:
    blocks = (
        trials.group_by("block")
        .agg(pl.col("test_hash", "protocol_hash", "split_hash").drop_nulls().unique().sort())
        .sort("block")
    )

    def hashes(label: str, name: str) -> Column:
        return Column.text(label, lambda row: _some(row[name]))

    return table(
        blocks,
        (
            Column.text("Setting", "block"),
            hashes("Test classes and images", "test_hash"),
            hashes("Protocol", "protocol_hash"),
            hashes("Splits", "split_hash"),
        ),
        name="hashes",
        caption="Hashes of what was compared, by setting",
    )


def _some(hashes: Sequence[str]) -> str:
    """The first hashes, or all if they are few: random splits are as many as configs."""
    shown = ", ".join(hashes[:_MOST_HASHES]) or MISSING
    more = len(hashes) - _MOST_HASHES
    return f"{shown} and {more} more" if more > 0 else shown


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or MISSING
    return MISSING if value is None else str(value)
