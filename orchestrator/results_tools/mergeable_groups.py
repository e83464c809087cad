"""Which studies of a storage are comparable, so that they make one leaderboard."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from orchestrator.results.trial_files.merge_trials import Source
from orchestrator.results_tools.merge_studies import merge_problems

_NO_BLOCK = "no block would hold final trials of every loss, so that nothing could be ranked"


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeableGroups:
    """Studies that may be merged with each other.

    Attributes:
        groups: groups of studies, each study once; many are groups of one.
        reasons: folder of a study that is alone -> what keeps it from each other group, and each
            later study from it.
    """

    groups: tuple[tuple[Source, ...], ...]
    reasons: Mapping[str, tuple[str, ...]]


def mergeable_groups(sources: Sequence[Source]) -> MergeableGroups:
    """Group studies so that `podium merge` takes each group, and its losses can be ranked.

    Each study joins the first group that takes it, so equal sources in equal order give equal
    groups.

    Args:
        sources: what the results folders hold.

    Raises:
        PodiumError: a source was changed since it was read.
    """
    groups: list[list[Source]] = []
    refusals: list[tuple[Source, list[Source], str]] = []
    for source in sources:
        for group in groups:
            problem = _problem([*group, source])
            if not problem:
                group.append(source)
                break
            refusals.append((source, group, problem))
        else:
            groups.append([source])
    alone = [group[0] for group in groups if len(group) == 1]
    return MergeableGroups(
        groups=tuple(map(tuple, groups)),
        reasons={
            one.label: tuple(
                why for source, group, why in refusals if one is source or one is group[0]
            )
            for one in alone
        },
    )


def _problem(sources: Sequence[Source]) -> str:
    """The first reason against the group; empty if there is none."""
    return next(iter(merge_problems(sources)), "" if _has_complete_block(sources) else _NO_BLOCK)


def _has_complete_block(sources: Sequence[Source]) -> bool:
    """Whether some block has final trials of every loss that has any."""
    finals = pl.concat(source.facts.filter(pl.col("stage") == "final") for source in sources)
    losses = finals.group_by("block").agg(pl.col("loss").n_unique())["loss"]
    return finals.is_empty() or losses.max() == finals["loss"].n_unique()
