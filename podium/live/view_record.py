"""A view of a study as plain values for the page, and what of them changed."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from orchestrator.scheduling.study_progress import SearchProgress
from podium.live.study_view import LearningCurve, StudyView

_DIGITS = 4


def view_record(view: StudyView) -> dict[str, Any]:
    """The sections of the page; ``searches`` by id, all else as the page draws it."""
    progress = view.progress
    return {
        "study": {
            "name": view.name,
            "folder": view.folder,
            "state": view.state,
            "running_on": view.running_on,
            "score": progress.score,
            "is_over": view.is_over,
            "has_report": view.has_report,
        },
        "totals": {
            "done": progress.trials_done,
            "planned": progress.trials_planned,
            "running": progress.running,
            "failed": progress.failed,
            "slots": view.slots,
            "gpus": round(sum(curve.gpus for curve in view.curves), 2),
            "nodes": _nodes(view),
        },
        "seconds_left": progress.seconds_left and round(progress.seconds_left),
        "searches": {
            search_id: _search(search)
            for search_id, search in zip(view.search_ids, progress.searches, strict=True)
        },
        "budget": [
            {"what": use.what, "used": round(use.used, _DIGITS), "limit": use.limit}
            for use in progress.budget
        ],
        "spent": [
            [
                round(it.at.timestamp()),
                it.trials,
                round(it.trial_hours, _DIGITS),
                round(it.gpu_hours, _DIGITS),
            ]
            for it in view.spent
        ],
        "curves": [_curve(curve) for curve in view.curves],
        "failures": [
            {**asdict(failure), "ended_at": failure.ended_at.timestamp()}
            for failure in view.failures
        ],
        "causes": list(progress.failures),
        "control": {
            "max_concurrent": view.control.max_concurrent,
            "is_paused": view.control.is_paused,
            "text": view.control_text,
        },
        "problem": view.problem,
    }


def changed_part(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """The sections that differ, and of the searches those that do; empty if nothing does.

    Args:
        before: the record that is known.
        now: the present one; sections that it lacks stay as they were.
    """
    changed = {name: value for name, value in now.items() if before.get(name) != value}
    if "searches" in changed:
        known = before.get("searches", {})
        changed["searches"] = {
            search_id: row
            for search_id, row in now["searches"].items()
            if known.get(search_id) != row
        }
    return changed


def _nodes(view: StudyView) -> list[dict[str, Any]]:
    """Machines on which trials run: how many, and the GPUs that these occupy."""
    nodes: dict[str, dict[str, Any]] = {}
    for curve in view.curves:
        if curve.node is not None:
            node = nodes.setdefault(curve.node, {"node": curve.node, "trials": 0, "gpus": 0.0})
            node["trials"] += 1
            node["gpus"] = round(node["gpus"] + curve.gpus, 2)
    return [nodes[name] for name in sorted(nodes)]


def _search(search: SearchProgress) -> dict[str, Any]:
    return {
        "name": search.name,
        "planned": search.planned,
        "done": search.done,
        "running": search.running,
        "pruned": search.pruned,
        "failed": search.failed,
        "best": search.best and round(search.best, _DIGITS),
        "finals_done": search.finals_done,
        "finals_planned": search.finals_planned,
        "is_cancelled": search.is_cancelled,
    }


def _curve(curve: LearningCurve) -> dict[str, Any]:
    return {
        "trial_id": curve.trial_id,
        "search": curve.search,
        "stage": curve.stage,
        "state": curve.state,
        "node": curve.node,
        "device": curve.device,
        "scores": [
            [fold, epoch, round(score, _DIGITS)]
            for (fold, epoch), score in sorted(curve.scores.items())
        ],
    }
