"""What a cluster has, and what is refused on one that cannot grow; no Ray is started."""

from types import SimpleNamespace

import pytest

from podium.errors import PodiumError
from podium.orchestrator.executors.ray_cluster import RayCluster
from podium.orchestrator.study.resource_demand import Demand

NODES = (Demand(cpus=2.0, gpus=1.0), Demand(cpus=2.0, gpus=0.0))
TRIAL = Demand(cpus=1.0, gpus=0.0)


def cluster_of(address, max_concurrent=None):
    cluster = RayCluster(address, max_concurrent)
    cluster._watch = SimpleNamespace(nodes=NODES)
    return cluster


@pytest.mark.parametrize(
    ("most", "told"),
    [
        (
            Demand(cpus=5.0, gpus=0.0),
            "more CPUs than Ray finds on this machine: 5 of 4. Request",
        ),
        (
            Demand(cpus=1.0, gpus=1.5),
            "more GPUs than Ray finds on this machine: 1.5 of 1. Request",
        ),
    ],
)
def test_what_a_cluster_that_cannot_grow_lacks_is_reported_by_what_a_trial_asks_for(most, told):
    with pytest.raises(PodiumError, match=told):
        cluster_of(None).check_fits(most)
    cluster_of("one:1").check_fits(most)


@pytest.mark.parametrize(("max_concurrent", "places"), [(None, 4), (9, 4), (3, 3)])
def test_a_cluster_that_may_grow_is_asked_for_more_than_it_has_places(max_concurrent, places):
    capacity = cluster_of("one:1", max_concurrent).capacity(TRIAL).at_most(max_concurrent)
    assert capacity.num_fitting(TRIAL) == places
    asked = 5 if max_concurrent is None else max_concurrent
    assert capacity.fits({TRIAL: asked})
    assert not capacity.fits({TRIAL: asked + 1})
