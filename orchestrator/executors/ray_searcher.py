"""Searches a gallery that lies in files by many workers of a Ray cluster, each a part at a time.

Workers are given the names of files and a range of rows, and return a number for each query.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Self

# isort: off
import orchestrator.executors.ray_environment  # noqa: F401 - Ray reads it when it is imported
import ray

# isort: on
from ray.exceptions import RayActorError, RayTaskError
from torch import Tensor

from orchestrator.executors.ray_cluster import RayCluster
from orchestrator.executors.ray_failures import cannot_start
from orchestrator.study.resource_demand import Demand
from podium.errors import PodiumError
from podium.own_packages import FindsFirst
from trainables.metrics.search_in_parts import NegativesAbove
from trainables.saved_models.embedding_rows import EmbeddingRows
from trainables.saved_models.gallery_search import OwnSearcher

# A worker that is lost is replaced, and what it searched is searched again, so many times.
_MAX_LOSSES = 3


class RaySearcher:
    """A `Searcher` of several worker processes; use as a context manager.

    Args:
        queries: files of the queries, which all nodes must see, as those of the gallery.
        num_workers: number of worker processes, one CPU each; None for one a CPU of the cluster.
        address: address of a cluster to join; None starts a private one on this machine.
    """

    def __init__(
        self, queries: EmbeddingRows, num_workers: int | None = None, address: str | None = None
    ) -> None:
        self._queries, self._num_workers = queries, num_workers
        self._cluster = RayCluster(address, None)
        self._workers: list[Any] = []

    def __enter__(self) -> Self:
        """Start or join Ray and start the workers.

        Raises:
            PodiumError: a private cluster has fewer CPUs, or the cluster cannot be joined.
        """
        self._cluster.start()
        try:
            self._cluster.check_fits(Demand(cpus=float(self._num_workers or 1), gpus=0.0))
            cpus = self._cluster.capacity(Demand(cpus=0.0, gpus=0.0)).cpus
            worker: Any = ray.remote(
                num_cpus=1, max_restarts=_MAX_LOSSES, max_task_retries=_MAX_LOSSES
            )(_worker_class())
            self._workers = [
                worker.remote(self._queries) for _ in range(self._num_workers or max(1, int(cpus)))
            ]
        except BaseException:
            self._cluster.leave()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Leave Ray; a private cluster ends."""
        self._workers.clear()
        self._cluster.leave()

    def best_positives(self, parts: Sequence[EmbeddingRows]) -> Iterator[tuple[int, Tensor]]:
        """See `trainables.saved_models.gallery_search.Searcher`."""
        return self._deal("best_positives", parts)

    def negatives_above(
        self, parts: Sequence[EmbeddingRows], best_Q: Tensor
    ) -> Iterator[tuple[int, NegativesAbove]]:
        """See `trainables.saved_models.gallery_search.Searcher`."""
        return self._deal("negatives_above", parts, ray.put(best_Q))

    def _deal(
        self, method: str, parts: Sequence[EmbeddingRows], *arguments: Any
    ) -> Iterator[tuple[int, Any]]:
        """Give every worker a part, and the next one as soon as it has answered."""
        waiting = iter(parts)
        running: dict[Any, tuple[Any, EmbeddingRows]] = {}

        def start(worker: Any) -> None:
            part = next(waiting, None)
            if part is not None:
                running[getattr(worker, method).remote(part, *arguments)] = worker, part

        for worker in self._workers:
            start(worker)
        while running:
            (answer,), _ = ray.wait([*running])
            worker, part = running.pop(answer)
            yield len(part), _received(answer)
            start(worker)


def _received(answer: Any) -> Any:
    try:
        return ray.get(answer)
    except RayTaskError as error:
        if isinstance(error.cause, PodiumError):
            raise error.cause from None
        raise
    except RayActorError as error:
        why = cannot_start(error) or "its processes were lost several times"
        raise PodiumError(f"a worker cannot search the gallery: {why}") from error


def _worker_class() -> type[FindsFirst]:
    class Worker(FindsFirst):
        def __init__(self, queries: EmbeddingRows) -> None:
            self._searcher = OwnSearcher(queries)

        def best_positives(self, part: EmbeddingRows) -> Tensor:
            ((_, best_Q),) = self._searcher.best_positives([part])
            return best_Q

        def negatives_above(self, part: EmbeddingRows, best_Q: Tensor) -> NegativesAbove:
            ((_, above),) = self._searcher.negatives_above([part], best_Q)
            return above

    return Worker
