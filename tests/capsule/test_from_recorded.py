"""The cases once more, from the state that was recorded before their steps instead of from nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from conformance import capsule as adapter
from conformance.cases import Case, cases
from conformance.compare import faults

from kubectl_kres.capsule.model import ResourcePool, ResourcePoolClaim
from kubectl_kres.capsule.replay.reconcile import reconcile
from kubectl_kres.capsule.replay.world import PoolWorld, build_pool_world
from kubectl_kres.model.objects import Namespace, ResourceQuota
from kubectl_kres.model.pod import Pod

CASES = [pytest.param(case, id=case.id) for case in cases("capsule") if "expect_before_steps" in case.data]


def recorded(case: Case) -> PoolWorld:
    """The objects as they were given, with the status that was seen before the first step."""
    given, state = case.data["given"], case.data["expect_before_steps"]
    pods = [msgspec.convert(item, Pod) for item in given.get("pods", ())]
    spaces = [msgspec.convert(item, Namespace) for item in given["namespaces"]]
    return build_pool_world(
        spaces,
        [_pool(item, state) for item in given.get("pools", ())],
        [_claim(item, state) for item in given.get("claims", ())],
        [_quota(key, item) for key, item in state["resourceQuotas"].items()],
        {one.metadata.name: [pod for pod in pods if pod.metadata.namespace == one.metadata.name] for one in spaces},
    )


def _pool(item: Mapping[str, Any], state: Mapping[str, Any]) -> ResourcePool:
    name = item["metadata"]["name"]
    seen = state["pools"][name]
    metadata = {**item["metadata"], "uid": f"uid:ResourcePool/{name}", "generation": seen["generation"]}
    return msgspec.convert({"metadata": metadata, "spec": item["spec"], "status": seen["status"]}, ResourcePool)


def _claim(item: Mapping[str, Any], state: Mapping[str, Any]) -> ResourcePoolClaim:
    key = f"{item['metadata']['namespace']}/{item['metadata']['name']}"
    seen = state["claims"][key]
    own = {name: seen[name] for name in ("ownerReferences", "annotations", "labels", "generation") if name in seen}
    metadata = {**item["metadata"], **own, "uid": f"uid:ResourcePoolClaim/{key}"}
    spec = {**item["spec"], "pool": seen["spec.pool"]}
    return msgspec.convert({"metadata": metadata, "spec": spec, "status": seen["status"]}, ResourcePoolClaim)


def _quota(key: str, seen: Mapping[str, Any]) -> ResourceQuota:
    space, name = key.split("/")
    owners = [{k: v for k, v in one.items() if k != "blockOwnerDeletion"} for one in seen["ownerReferences"]]
    metadata = {"name": name, "namespace": space, "labels": seen["labels"], "ownerReferences": owners}
    return msgspec.convert({"metadata": metadata, "spec": seen["spec"], "status": seen["status"]}, ResourceQuota)


@pytest.mark.parametrize("case", CASES)
def test_steps_from_the_recorded_state_end_as_recorded(case: Case):
    world = recorded(case)
    uids = {one.metadata.uid: 1 for one in (*world.pools.values(), *world.claims.values())}
    answers = adapter.answers(case.data)
    for answer in answers:
        answer.pop("before", None)
    ends = adapter.ended([adapter.Run(world, uids=uids)], case.data)
    optional = adapter.OPTIONAL
    loose = adapter.loose(case.data, case.file)
    found = faults(answers, ends, adapter.COMPARED, complete=False, optional=optional, loose=loose)
    assert not found, "\n".join(["", *found])


@pytest.mark.parametrize("case", [case for case in CASES if case.values[0].data["given"].get("pools")])
def test_a_recorded_state_is_at_rest(case: Case):
    world = recorded(case)
    for name in world.pools:
        after = reconcile(world, name)
        assert after.world.claims == world.claims
        assert after.allocation.settled
        assert not after.faults
        assert after.world.pools[name].status.allocation.available == world.pools[name].status.allocation.available
        assert after.world.pools[name].status.claims == world.pools[name].status.claims
        assert {key: quota.spec for key, quota in after.world.quotas.items()} == {
            key: quota.spec for key, quota in world.quotas.items()
        }
