"""A pod that is read as far as nodes count it takes of its node what the whole pod does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from conformance.test_scheduling import worlds

from kubectl_kres.model.scheduling import SchedulingPod
from kubectl_kres.model.scheduling_views import CountedPod
from kubectl_kres.scheduling.node_info import bind, gather_pods

_REQUESTS = {"requests": {"cpu": "250m", "memory": "64Mi"}, "limits": {"cpu": "1"}}
_GIVEN = {"name": "app", "resources": {"requests": {"cpu": "2"}}, "allocatedResources": {"memory": "1Gi"}}
PODS: Mapping[str, Mapping[str, Any]] = {
    "plain": {"spec": {"nodeName": "n", "containers": [{"name": "app", "resources": _REQUESTS}]}},
    "nothing": {"spec": {"nodeName": "n", "containers": [{"name": "app", "resources": None}, {"name": "b"}]}},
    "resized": {
        "spec": {"nodeName": "n", "containers": [{"name": "app", "resources": _REQUESTS}]},
        "status": {"containerStatuses": [_GIVEN]},
    },
    "infeasible": {
        "spec": {"nodeName": "n", "containers": [{"name": "app", "resources": {"requests": {"cpu": "9"}}}]},
        "status": {
            "conditions": [{"type": "PodResizePending", "reason": "Infeasible"}],
            "containerStatuses": [_GIVEN],
        },
    },
    "sidecar": {
        "spec": {
            "nodeName": "n",
            "initContainers": [
                {"name": "s", "restartPolicy": "Always", "resources": _REQUESTS, "ports": [{"hostPort": 80}]},
                {"name": "i", "resources": {"requests": {"cpu": "3"}}, "ports": [{"hostPort": 81}]},
            ],
            "containers": [{"name": "app", "resources": _REQUESTS, "ports": [{"hostPort": 82, "protocol": "UDP"}]}],
        },
        "status": {"initContainerStatuses": [{"name": "s", "resources": {"requests": {"cpu": "4"}}}]},
    },
    "level": {
        "spec": {
            "nodeName": "n",
            "resources": {"requests": {"cpu": "2"}},
            "overhead": {"cpu": "10m"},
            "containers": [{"name": "app", "resources": _REQUESTS}],
        },
        "status": {"resources": {"requests": {"cpu": "3"}}, "allocatedResources": {"cpu": "2500m"}},
    },
    "fraction": {"spec": {"nodeName": "n", "containers": [{"name": "a", "resources": {"requests": {"cpu": 0.25}}}]}},
    "promised": {"status": {"nominatedNodeName": "n"}, "spec": {"priority": 7, "containers": []}},
}


def read(pods: Any, struct: Any) -> list[Any]:
    return msgspec.json.Decoder(list[struct], float_hook=str).decode(msgspec.json.encode(pods))


@pytest.mark.parametrize("name", PODS)
def test_a_pod_counts_the_same(name: str):
    pods = [{"metadata": {"name": name, "namespace": "here"}, **PODS[name]}] * 2
    whole, counted = read(pods, SchedulingPod), read(pods, CountedPod)
    assert bind(counted[0]) == bind(whole[0])
    assert gather_pods([counted]) == gather_pods([whole])


def test_pods_are_told_apart():
    """The fields that decide, each altered: what is known of one pod is not taken for another."""
    plain, resized = PODS["plain"], PODS["resized"]
    other = {
        "spec": {"nodeName": "n", "containers": [{"name": "x", "resources": _REQUESTS}]},
        "status": resized["status"],
    }
    pods = [{"metadata": {"name": f"p{place}"}, **each} for place, each in enumerate((plain, resized, other))]
    found = gather_pods([read(pods, CountedPod)]).on_nodes["n"]
    assert [pod.requests["cpu"] for pod in found] == [250, 2000, 250]


def test_pods_of_recorded_worlds_count_the_same():
    pods = [pod for world in worlds() for pod in world["pods"]]
    if not pods:
        pytest.skip("the chosen folder holds no worlds")
    assert gather_pods([read(pods, CountedPod)]) == gather_pods([read(pods, SchedulingPod)])


@pytest.mark.parametrize("resources", [5, "x", [], {"requests": 5}, {"requests": {"cpu": "many"}}])
def test_what_no_server_stores_counts_as_nothing(resources: Any):
    pods = [
        {"metadata": {"name": "p"}, "spec": {"nodeName": "n", "containers": [{"name": "a", "resources": resources}]}}
    ]
    assert gather_pods([read(pods, CountedPod)]).on_nodes["n"][0].requests == {}
