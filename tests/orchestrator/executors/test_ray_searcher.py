"""Workers of a real Ray cluster find what one process finds, and what they cannot read is said."""

import psutil
import pytest
from torch import Tensor

from orchestrator.executors.ray_searcher import RaySearcher
from podium.errors import PodiumError
from tests.trainables.embedding_files import written
from tests.trainables.metrics.ranking_oracle import as_list, clustered, oracle_ranks_between
from trainables.device import trial_device
from trainables.errors import TrialInputError
from trainables.saved_models import gallery_search
from trainables.saved_models.embedding_rows import open_rows
from trainables.saved_models.gallery_search import OwnSearcher

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("default")]

QUERIES, GALLERY = clustered(40, 8, 6, noise=1.0), clustered(90, 8, 6, noise=1.0)


def test_two_workers_rank_as_the_slow_oracle_does(tmp_path, monkeypatch):
    monkeypatch.setitem(gallery_search._PART_BYTES, trial_device().type, 7 * 6 * 4)
    queries = open_rows(*written(tmp_path, "queries", *QUERIES))
    gallery = [open_rows(*written(tmp_path, "gallery", *GALLERY))]
    broken = GALLERY[0].clone()
    broken[33] = float("nan")
    broken_gallery = [open_rows(*written(tmp_path, "broken", broken, GALLERY[1]))]
    with RaySearcher(queries, num_workers=2) as searcher:
        ranks = gallery_search.ranks_in_gallery(queries, gallery, searcher)
        with pytest.raises(TrialInputError, match=r"row 33 of .*broken.npy holds NaN"):
            gallery_search.ranks_in_gallery(queries, broken_gallery, searcher)
    assert as_list(ranks, 40) == oracle_ranks_between(*QUERIES, *GALLERY)


def test_parts_of_a_worker_that_is_killed_are_searched_again(tmp_path):
    queries = open_rows(*written(tmp_path, "queries", *QUERIES))
    parts = list(open_rows(*written(tmp_path, "gallery", *GALLERY)).parts(5))
    with RaySearcher(queries, num_workers=2) as searcher:
        found = []
        for count, (_, best_Q) in enumerate(searcher.best_positives(parts)):
            found.append(best_Q)
            if count in (1, 8):
                kill_a_worker()
    alone = [best_Q for part in parts for _, best_Q in OwnSearcher(queries).best_positives([part])]
    assert sorted(map(Tensor.tolist, found)) == sorted(map(Tensor.tolist, alone))


def kill_a_worker():
    below = psutil.Process().children(recursive=True)
    searching = [process for process in below if process.cmdline()[:1] == ["ray::Worker"]]
    searching[0].kill()


def test_queries_that_workers_cannot_read_are_an_error(tmp_path):
    files = written(tmp_path, "queries", *QUERIES)
    queries = open_rows(*files)
    files[0].unlink()
    with (
        RaySearcher(queries, num_workers=1) as searcher,
        pytest.raises(PodiumError, match=r"a worker cannot search the gallery: .*queries.npy"),
    ):
        list(searcher.best_positives([queries]))


def test_more_workers_than_this_machine_has_cpus_are_refused(tmp_path):
    queries = open_rows(*written(tmp_path, "queries", *QUERIES))
    with (
        pytest.raises(PodiumError, match="more CPUs than Ray finds on this machine"),
        RaySearcher(queries, num_workers=10_000),
    ):
        pass
