"""What a real server answered and did: replicas below zero, and claims that go with their pods."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_kres.admission.base.server import Server
from kubectl_kres.simulate.change import Apply, Delete, ScaleStep, Step, WaitForControllers
from kubectl_kres.simulate.moves import Kubelet, State
from kubectl_kres.simulate.simulation import NamespaceSimulation
from kubectl_kres.simulate.state import World

QUOTA = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "q"},
    "spec": {"hard": {"persistentvolumeclaims": "10", "requests.storage": "100Gi"}},
}


def stateful_set(replicas: int, **policy: str) -> dict[str, Any]:
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "s"},
        "spec": {
            "replicas": replicas,
            "serviceName": "s",
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
            "volumeClaimTemplates": [{"metadata": {"name": "d"}, "spec": claim}],
            **({"persistentVolumeClaimRetentionPolicy": policy} if policy else {}),
        },
    }


def after(*steps: Step) -> tuple[NamespaceSimulation, State]:
    world = World.from_objects([QUOTA])
    namespace = NamespaceSimulation(Server(), world, steps)
    ends = namespace.after([namespace.empty(world)], steps, Kubelet(), between=False)
    (state,) = ends.states
    return namespace, state


@pytest.mark.parametrize(
    ("policy", "scaled", "deleted"),
    [
        ({}, {"d-s-0", "d-s-1", "d-s-2"}, {"d-s-0", "d-s-1", "d-s-2"}),
        ({"whenScaled": "Delete"}, {"d-s-0"}, {"d-s-0", "d-s-1", "d-s-2"}),
        ({"whenDeleted": "Delete"}, {"d-s-0", "d-s-1", "d-s-2"}, set()),
        ({"whenDeleted": "Delete", "whenScaled": "Delete"}, {"d-s-0"}, set()),
        ({"whenDeleted": "Retain", "whenScaled": "Retain"}, {"d-s-0", "d-s-1", "d-s-2"}, {"d-s-0", "d-s-1", "d-s-2"}),
    ],
)
def test_claims_go_as_the_retention_policy_says(policy: dict[str, str], scaled: set[str], deleted: set[str]):
    made = Apply(stateful_set(3, **policy))
    for last, claims in ((ScaleStep("StatefulSet", "s", 1), scaled), (Delete("StatefulSet", "s"), deleted)):
        namespace, state = after(made, WaitForControllers(), last)
        assert set(state.claims) == claims
        (quota,) = namespace.describe_final_state(state).quotas
        assert quota.used["persistentvolumeclaims"] == str(len(claims))
        assert quota.used["requests.storage"] in {f"{len(claims)}Gi", "0"}


def test_scale_below_zero_names_the_scale():
    namespace, state = after(Apply(stateful_set(1)), ScaleStep("StatefulSet", "s", -1))
    answer = namespace.requests.answers[state.answers[-1]]
    assert (answer.code, answer.message) == (
        422,
        'Scale.autoscaling "s" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    )
