"""Asks every node of a joined cluster whether it sees the study's results."""

import hashlib
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from podium.errors import StoreError
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.files import read_bytes

_ANSWER_SECONDS = 60.0


def check_all_nodes_see(paths: StudyPaths) -> None:
    """Refuse a cluster in which some nodes could not write what others read.

    Raises:
        StoreError: some nodes see other results at that path, or none, or cannot read it.
    """
    expected = _fingerprint(paths)
    answers = {
        _ask(node["NodeID"], paths): node["NodeManagerAddress"]
        for node in ray.nodes()  # type: ignore[no-untyped-call]
        if node["Alive"] and (node["Resources"].get("CPU") or node["Resources"].get("GPU"))
    }
    problems = {
        address: problem
        for answer, address in answers.items()
        if (problem := _problem(answer, expected)) is not None
    }
    if problems:
        lines = "\n".join(f"- {address}: {problem}" for address, problem in problems.items())
        raise StoreError(
            f"{len(problems)} of the {len(answers)} nodes that take trials cannot use the results "
            f"at {paths.folder}:\n{lines}\nUse a folder that all of them see under the same name, "
            "or a store such as s3://bucket/folder, with --storage"
        )


def _ask(node_id: str, paths: StudyPaths) -> Any:
    there = NodeAffinitySchedulingStrategy(node_id=node_id, soft=False)
    task: Any = ray.remote(_fingerprint)
    asked = task.options(num_cpus=0, max_retries=0, scheduling_strategy=there)
    return asked.remote(paths)


def _fingerprint(paths: StudyPaths) -> str | None:
    """Hash of the file that identifies the study; None if there is none."""
    content = read_bytes(paths.store)
    return None if content is None else hashlib.sha256(content).hexdigest()


def _problem(answer: Any, expected: str | None) -> str | None:
    try:
        found = ray.get(answer, timeout=_ANSWER_SECONDS)
    except GetTimeoutError:
        return f"no answer within {_ANSWER_SECONDS:.0f} seconds"
    except (RayError, StoreError) as error:
        return str(error).strip().splitlines()[-1]
    if found is None:
        return "nothing is there"
    return None if found == expected else "another study, or an older copy of it, is there"
