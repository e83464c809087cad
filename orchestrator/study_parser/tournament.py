"""Checks ``tournament`` of a study: what losses are ranked by, and when they differ."""

from podium.orchestrator.results.records.metric_columns import (
    METRICS_WITHOUT_K,
    RECALL,
    RankedScore,
)
from podium.orchestrator.study.study import Study
from podium.orchestrator.study_parser.problems import Problems

_SECTION = "tournament"
_MIN_NEMENYI_LOSSES = 3
_MIN_GROUPS = 2


def check_tournament(study: Study, problems: Problems) -> None:
    """Note a test that the losses are too few for, a score or a loss that the study has not."""
    _check_test(study, problems)
    _check_score(study, problems)
    _check_groups(study, problems)


def _check_test(study: Study, problems: Problems) -> None:
    if problems.concern("losses", (_SECTION, "test")):
        return
    if study.tournament.test == "nemenyi" and len(study.loss_names) < _MIN_NEMENYI_LOSSES:
        rule = f"nemenyi compares at least {_MIN_NEMENYI_LOSSES} losses; the study has"
        problems.add((_SECTION, "test"), f"{rule} {len(study.loss_names)}")


def _check_score(study: Study, problems: Problems) -> None:
    path, score = (_SECTION, "score"), study.tournament.score
    if score is None or problems.concern(path, "metrics", "search.objectives"):
        return
    metric = study.search.objectives[0]
    without_k = METRICS_WITHOUT_K if metric == RECALL.name else ()
    known = [*(RankedScore(metric, k).name for k in study.ks), *without_k]
    if score not in known:
        rule = "tournament.score must be a score of the study's test classes"
        problems.add(path, rule, got=score, choices=known)


def _check_groups(study: Study, problems: Problems) -> None:
    path, groups = (_SECTION, "groups"), study.tournament.groups
    if groups is None or problems.concern("losses", path):
        return
    if len(groups) < _MIN_GROUPS:
        problems.add(path, f"tournament.groups compares at least {_MIN_GROUPS} groups of losses")
    of_loss: dict[str, str] = {}
    for name, losses in groups.items():
        for index, loss in enumerate(losses):
            item = (*path, name, index)
            if loss not in study.loss_names:
                rule = f"tournament.groups.{name} must hold losses of the study"
                problems.add(item, rule, got=loss, choices=study.loss_names)
            elif (other := of_loss.setdefault(loss, name)) != name:
                problems.add(item, f"{loss} is in the group {other} already", got=loss)
