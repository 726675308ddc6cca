"""What could not be read: said, and never taken for missing; and what nobody would write."""

from __future__ import annotations

from typing import Any

import pytest
from kueue.recorded import state_of, store_of
from msgspec import structs

from kubectl_kres.kueue import model
from kubectl_kres.kueue.reports.account import account_of
from kubectl_kres.kueue.reports.needs import held_needs
from kubectl_kres.kueue.rules.capacity import Capacity
from kubectl_kres.kueue.text.causes import state_text
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef, decode_object
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.system import turn_of
from kubectl_kres.store.store import Coverage, ReadRequest, Store

DENIED = Coverage("denied", 'clusterqueues.kueue.x-k8s.io is forbidden: User "jane" cannot list', 403, "Forbidden")


def job(name: str, space: str) -> Subject:
    return Subject(ObjectRef("Job", name, space), BY_KIND["Job"])


def account(store: Store, name: str = "delta", space: str = "s101x016-team") -> Any:
    found = account_of(store, job(name, space))
    assert found is not None
    return found


def test_a_cluster_queue_that_may_not_be_read_is_named_and_not_missing():
    store = store_of(state_of("s101x016/0"), unread=("ClusterQueue",))
    store.cover(ReadRequest("ClusterQueue", required=False), DENIED)
    found = account(store)
    assert found.cause == "unknown"
    assert [each.kind for each in found.unread] == ["ClusterQueue"]
    assert found.says.startswith("couldn't assign flavors")
    turn = turn_of(store, job("delta", "s101x016-team"))
    assert turn is not None
    assert turn.fixes == ()


def test_a_local_queue_that_may_not_be_read_is_not_missing():
    store = store_of(state_of("s101x016/0"), unread=("LocalQueue",))
    store.cover(ReadRequest("LocalQueue", "s101x016-team", required=False), DENIED)
    assert account(store).cause == "unknown"


def test_without_all_workloads_the_use_is_what_kueue_counted():
    whole = account(store_of(state_of("s101x026/0")), "alpha", "s101x026-team")
    store = store_of(state_of("s101x026/0"), unread=("Workload",))
    for raw in state_of("s101x026/0")["objects"]:
        if raw["kind"] == "Workload" and raw["metadata"]["name"].startswith("job-alpha"):
            store.add("Workload", decode_object(raw, model.KueueWorkload))
    found = account(store, "alpha", "s101x026-team")
    assert [row.used for row in found.flavors] == [row.used for row in whole.flavors]
    assert found.place == 0


def test_nothing_more_is_asked_where_kueue_is_not_served():
    store = store_of(state_of("s101x016/0"), unread=("Workload",))
    reads = held_needs(store, job("delta", "s101x016-team"), listed=False)
    assert next(reads) == ReadRequest("Workload", "s101x016-team", required=False)
    store.cover(ReadRequest("Workload", "s101x016-team", required=False), Coverage("absent"))
    assert list(held_needs(store, job("delta", "s101x016-team"), listed=False))[1:] == []


def test_nothing_is_asked_of_an_object_without_a_queue():
    store = store_of(state_of("s101x016/0"))
    item = store.get("Job", "delta", "s101x016-team")
    store.add("Job", structs.replace(item, metadata=structs.replace(item.metadata, labels={"app": "x"})))
    assert list(held_needs(store, job("delta", "s101x016-team"), listed=False)) == []


def test_a_sentence_of_another_version_is_quoted():
    store = store_of(state_of("s101x016/0"))
    for item in tuple(store.all("Workload")):
        told = tuple(
            structs.replace(each, message="Something new", reason="Newer") if each.type == model.RESERVED else each
            for each in item.status.conditions or ()
        )
        store.add("Workload", structs.replace(item, status=structs.replace(item.status, conditions=told)))
    found = account(store)
    assert (found.cause, state_text(found)) == ("quoted", "Something new")


@pytest.mark.parametrize("levels", [2, 60])
def test_cohorts_above_themselves_end(levels: int):
    cohorts = [
        decode_object({"metadata": {"name": f"c{at}"}, "spec": {"parentName": f"c{(at + 1) % levels}"}}, model.Cohort)
        for at in range(levels)
    ]
    queue = decode_object({"metadata": {"name": "q"}, "spec": {"cohortName": "c0"}}, model.ClusterQueue)
    assert "c0" in Capacity([queue], cohorts, {}).broken


def test_a_long_chain_of_cohorts_is_not_walked_twice():
    """Each level asks for the sum of the one below: without a memory that doubles with each level."""
    cohorts = [
        decode_object({"metadata": {"name": f"c{at}"}, "spec": {"parentName": f"c{at + 1}"}}, model.Cohort)
        for at in range(40)
    ]
    spec = {
        "cohortName": "c0",
        "resourceGroups": [
            {
                "coveredResources": ["cpu"],
                "flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": "4"}]}],
            }
        ],
    }
    queue = decode_object({"metadata": {"name": "q"}, "spec": spec}, model.ClusterQueue)
    capacity = Capacity([queue], cohorts, {"q": {("f", "cpu"): 1000}})
    assert (capacity.most("q", ("f", "cpu")), capacity.left("q", ("f", "cpu"))) == (4000, 3000)


def test_a_count_beyond_reason_never_fits():
    store = store_of(state_of("s101x016/0"))
    item = store.get("Workload", "job-delta-c00c7", "s101x016-team")
    assert item is not None
    pod_set = structs.replace(item.spec.pod_sets[0], count=2**62)
    store.add("Workload", structs.replace(item, spec=structs.replace(item.spec, pod_sets=(pod_set,))))
    assert account(store).cause == "ExceedsMaxQuota"
