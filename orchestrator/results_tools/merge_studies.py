"""Merges results folders of several groups into one study, if their numbers are comparable.

The merged study has the blocks and losses of all. Each source must be able to grow into it: what
a running study may not change (`orchestrator.study.resolved_study`), sources may not differ in.
Budgets may not differ either, though a study may raise them while it runs.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from orchestrator.folder_names import NAME, NAME_RULE
from orchestrator.results.records.expected_values import Expected, expected_of, expected_record
from orchestrator.results.records.metric_columns import known_columns
from orchestrator.results.records.study_snapshot import MERGED_FROM
from orchestrator.results.records.trial_schema import HyperparameterType, trial_schema
from orchestrator.results.storage.locations import (
    Place,
    is_inside_folder,
    is_local_file,
    resolve_links,
)
from orchestrator.results.trial_files.merge_trials import (
    Source,
    data_problems,
    read_source,
    write_merged,
)
from orchestrator.study.fairness import fairness
from orchestrator.study.resolved_study import study_from_resolved
from orchestrator.study.study_changes import compare
from podium.errors import PodiumError, StudyError
from trainables.errors import TrialInputError
from trainables.settings.trial_settings import DatasetSettings

_EQUAL = ("numerics_version", "clustering")
_BUDGET = (("search", "trials"), ("search", "repeats"), ("final", "seeds"), ("final", "train_on"))
_OF_LOSSES = ("spaces", "values", "try_first", "warm_starts", "declared_differences")
_OWN = {"code", "command", "fairness", "loss_kinds", "spaces", MERGED_FROM}
_TYPES: dict[pa.DataType, HyperparameterType] = {
    pa.float64(): "float",
    pa.int64(): "int",
    pa.bool_(): "bool",
    pa.string(): "str",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What a merge made.

    Attributes:
        folder: folder of the merged results.
        trials: number of trials in it.
        num_shared: number of duplicate trials, which several sources had and which are kept once.
        losses: losses of the merged study.
        num_blocks: number of blocks with trials.
    """

    folder: Path
    trials: int
    num_shared: int
    losses: tuple[str, ...]
    num_blocks: int


def merge_studies(folders: Sequence[Place], output: Path) -> Merged:
    """Make one results folder of several, whose order does not matter.

    Args:
        folders: results folders, at least two; they stay as they are.
        output: the new folder, which names the merged study; it must not exist.

    Raises:
        PodiumError: fewer than two different folders, a bad name, or the results are not
            comparable; then every reason is given.
        CorruptFileError: a trial of a source cannot be read.
        StoreError: the folder cannot be written; then nothing is left of it.
    """
    _check_arguments(folders, output)
    sources = [read_source(folder) for folder in folders]
    for folder in folders:
        if is_inside_folder(folder, output):
            raise PodiumError(
                f"the merged results must not lie in a folder that is merged; got {output} in"
                f" {folder}"
            )
    return merge_sources(sources, output)


def merge_sources(sources: Sequence[Source], output: Path, *, with_weights: bool = True) -> Merged:
    """Make one results folder of sources that were read, whose order does not matter.

    Args:
        sources: what the folders hold, each once.
        output: the new folder, which names the merged study.
        with_weights: whether the weights of trials are copied too; reports need none.

    Raises:
        PodiumError: the results are not comparable, with every reason, or were changed since
            they were read.
        StoreError: the folder cannot be written; then nothing is left of it.
    """
    sources = sorted(sources, key=_canonical)
    study = _union(sources, output.name)
    if problems := _problems(sources, study):
        lines = "\n".join(f"  {problem}" for problem in problems)
        raise PodiumError(f"these results cannot be merged:\n{lines}")
    schema, _ = _schema(sources)
    assert schema is not None, "without problems there is a schema"
    trials = write_merged(
        sources,
        output,
        name=output.name,
        study=study,
        provenance=_provenance(sources, study),
        schema=schema,
        with_weights=with_weights,
    )
    blocks = {block for source in sources for block in source.facts["block"]}
    return Merged(
        folder=output,
        trials=trials,
        num_shared=sum(len(source.facts) for source in sources) - trials,
        losses=tuple(study["losses"]),
        num_blocks=len(blocks),
    )


def _problems(sources: Sequence[Source], study: Mapping[str, Any]) -> list[str]:
    return [*_study_problems(sources, study), *data_problems(sources), *_schema(sources)[1]]


def _check_arguments(folders: Sequence[Place], output: Path) -> None:
    if not NAME.fullmatch(output.name):
        raise PodiumError(f"the merged study is named after its folder: {NAME_RULE}; got {output}")
    if output.exists():
        raise PodiumError(f"{output} exists already; results are merged into a new folder")
    for folder in folders:
        if is_local_file(folder):
            raise PodiumError(f"only results folders can be merged; {folder} is not one")
    different = {resolve_links(folder) for folder in folders}
    if len(different) < 2 or len(different) < len(folders):
        raise PodiumError(
            "merging takes at least two different results folders; got"
            f" {', '.join(map(str, folders))}"
        )


def _canonical(source: Source) -> str:
    """An order of sources that does not depend on where they lie or how they were given."""
    values = [source.study, source.provenance, source.facts["trial_id"].to_list()]
    return json.dumps(values, sort_keys=True)


def _union(sources: Sequence[Source], name: str) -> dict[str, Any]:
    """The union of the sources; where they differ in what does not matter, the first counts."""
    studies = [source.study for source in sources]
    merged: dict[str, Any] = {}
    for study in reversed(studies):
        merged |= study
    merged["name"] = name
    merged["datasets"] = _by_name(studies, "datasets", lambda item: DatasetSettings(**item).label)
    merged["backbones"] = _by_name(studies, "backbones", lambda item: str(item["name"]))
    for key in ("embedding_dims", "image_sizes", "losses"):
        merged[key] = sorted({item for study in studies for item in study[key]})
    for key in _OF_LOSSES:
        merged[key] = {}
        for study in reversed(studies):
            merged[key] |= study.get(key, {})
    code = {path: it for study in studies for path, it in study.get("code", {}).items()}
    merged |= {"code": code} if code else {}
    merged["expect"] = _expected(studies)
    return merged


def _by_name(
    studies: Sequence[Mapping[str, Any]], key: str, name_of: Any
) -> list[Mapping[str, Any]]:
    """The items of all, each name once, sorted."""
    found = {name_of(item): item for study in reversed(studies) for item in study[key]}
    return [found[name] for name in sorted(found)]


def _expected(studies: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """All that is expected; a value that two expect differently is that of the first."""
    found = [expected for expected in map(expected_of, studies) if expected is not None]
    if not found:
        return None
    values = {
        (v.block, v.loss, v.protocol, v.finalist, v.train_on, v.k): v
        for expected in reversed(found)
        for v in expected.values
    }
    ranks: dict[str, float] = {}
    for expected in reversed(found):
        ranks |= expected.ranks
    merged = Expected(
        source="; ".join(dict.fromkeys(expected.source for expected in found)),
        values=tuple(values[key] for key in sorted(values)),
        num_elsewhere=min(expected.num_elsewhere for expected in found),
        ranks=ranks,
        rank_tolerance=found[0].rank_tolerance,
    )
    return expected_record(merged)


def _study_problems(sources: Sequence[Source], merged: Mapping[str, Any]) -> Iterator[str]:
    for key in _EQUAL:
        yield from _differences(key, [(source, source.provenance.get(key)) for source in sources])
    for section, key in _BUDGET:
        values = [(source, source.study[section][key]) for source in sources]
        yield from _differences(f"{section}.{key}", values)
    yield from _code_problems(sources)
    for source in sources:
        own = {**source.study, "name": merged["name"], "code": merged.get("code", {})}
        for difference in compare(own, merged).forbidden:
            yield f"{source.label} differs from the others in {difference}"


def _code_problems(sources: Sequence[Source]) -> Iterator[str]:
    """What sources name by import path must be the same code in all."""
    for path in sorted({path for source in sources for path in source.study.get("code", {})}):
        naming = [source for source in sources if path in source.study.get("code", {})]
        recorded = [(source, source.study["code"][path]) for source in naming]
        yield from _differences(f"the code of {path}", recorded)


def _differences(what: str, values: Sequence[tuple[Source, Any]]) -> Iterator[str]:
    texts = [json.dumps(value, sort_keys=True) for _, value in values]
    if len(set(texts)) > 1:
        sides = "; ".join(
            f"{text} in {source.label}" for (source, _), text in zip(values, texts, strict=True)
        )
        yield f"{what} differs: {sides}"


def _schema(sources: Sequence[Source]) -> tuple[pa.Schema | None, list[str]]:
    """The columns of all sources, or why they are not compatible."""
    problems = [
        *_differences(
            "metrics", [(source, [m.name for m in source.metrics]) for source in sources]
        ),
        *_differences(
            "metrics.k",
            [(source, list(known_columns(source.schema.names)[1])) for source in sources],
        ),
    ]
    types: dict[str, HyperparameterType] = {}
    for source in sources:
        for column in source.schema:
            if not column.name.startswith("hp."):
                continue
            name, kind = column.name.removeprefix("hp."), _TYPES[column.type]
            known = types.setdefault(name, kind)
            if {known, kind} == {"int", "float"}:
                types[name] = "float"
            elif known != kind:
                problems.append(f"{column.name} is {kind} in {source.label}, {known} elsewhere")
    if problems:
        return None, problems
    ks = known_columns(sources[0].schema.names)[1]
    return trial_schema(ks, types, sources[0].metrics), []


def _provenance(sources: Sequence[Source], study: Mapping[str, Any]) -> dict[str, Any]:
    """Provenance that all sources share, all values where they differ, and the sources."""
    origin = {
        key: value
        for key, value in _common([source.provenance for source in sources]).items()
        if key not in _OWN
    }
    spaces: dict[str, list[Any]] = {}
    for source in sources:
        for loss, items in source.provenance.get("spaces", {}).items():
            own = spaces.setdefault(loss, [])
            own += [item for item in items if item not in own]
    code = {
        path: it for source in sources for path, it in source.provenance.get("code", {}).items()
    }
    kinds: dict[str, str] = {}
    for source in reversed(sources):
        kinds |= source.provenance.get("loss_kinds", {})
    found = _fairness(sources, study)
    return {
        **origin,
        **({"code": code} if code else {}),
        **({"fairness": found} if found else {}),
        **({"spaces": spaces} if spaces else {}),
        **({"loss_kinds": kinds} if kinds else {}),
        MERGED_FROM: [_origin(source) for source in sources],
    }


def _origin(source: Source) -> str:
    """``thesis-cub (1204 trials, losses contrastive, margin)``; paths are left out."""
    losses = ", ".join(source.study["losses"])
    return f"{source.name} ({len(source.facts)} trials, losses {losses})"


def _common(values: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Equal values as they are; of others the list of all there are, as text."""
    merged: dict[str, Any] = {}
    for key in sorted({key for value in values for key in value}):
        given = [value.get(key) for value in values]
        if all(isinstance(item, Mapping) for item in given):
            merged[key] = _common(given)  # type: ignore[arg-type]
        elif all(item == given[0] for item in given):
            merged[key] = given[0]
        else:
            merged[key] = sorted({str(item) for item in given if item is not None})
    return merged


def _fairness(sources: Sequence[Source], study: Mapping[str, Any]) -> dict[str, Any] | None:
    """Of the merged study, if this podium still says of the sources what they say themselves."""
    try:
        for source in sources:
            if _plain_fairness(source.study) != source.provenance.get("fairness"):
                return None
        return _plain_fairness(study)
    except (TrialInputError, StudyError):  # of a data set, network or loss that is not here
        return None


def _plain_fairness(study: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(json.dumps(fairness(study_from_resolved(study)).to_dict()))
    return values
