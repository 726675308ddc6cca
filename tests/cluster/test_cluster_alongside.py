"""Lists that are read as far as somebody else has come."""

import pytest

from kubectl_kres.cluster.read.shared_lists import Alongside
from kubectl_kres.errors import ClusterError, Unreachable
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.store.store import READ, Origin, ReadRequest, Store

SETS = "/apis/apps/v1/replicasets"
#: In the order of their keys in etcd, which is not that of (namespace, name).
KEYS = [("a-b", "web"), ("a.b", "web"), ("a", "web"), ("a", "web-1"), ("b", "db"), ("b", "web"), ("c", "x")]


def replica_set(namespace, name):
    return {"metadata": {"namespace": namespace, "name": name}, "spec": {}}


def page(keys, token=""):
    items = [replica_set(*key) for key in keys]
    return {"kind": "ReplicaSetList", "apiVersion": "apps/v1", "metadata": {"continue": token}, "items": items}


def need(namespace):
    return ReadRequest("ReplicaSet", namespace, required=False)


def held(store):
    return set(store.keys("ReplicaSet"))


@pytest.fixture
def store():
    return Store(Origin("cluster"))


@pytest.fixture
def along(connection, store):
    return Alongside(connection, store, BY_KIND, 2)


def test_no_more_is_read_than_was_asked_for(server, along, store):
    server.on(SETS, page(KEYS[:2], "one")).on(SETS, page(KEYS[2:4], "two")).on(SETS, page(KEYS[4:6], "three"))
    server.on(SETS, page(KEYS[6:]))
    along.fill([need("a-b")])
    assert held(store) == set(KEYS[:2])
    assert store.covered(ReadRequest("ReplicaSet", "a-b", "other", required=False)) == READ
    assert store.should_read(need("a"))
    along.fill([need("a")])
    # A namespace is whole when an object of the next one has come.
    assert held(store) == set(KEYS[:6])
    assert len(server.requests) <= 4


def test_namespaces_that_were_left_are_dropped(server, along, store):
    server.on(SETS, page(KEYS[:2], "one")).on(SETS, page(KEYS[2:4], "two")).on(SETS, page(KEYS[4:]))
    along.fill([need("a-b")])
    along.fill([need("a")])
    along.fill([need("c")])
    assert held(store) == set(KEYS[2:])
    assert store.should_read(need("a-b"))
    assert not store.should_read(need("a"))
    assert len(server.requests) == 3


def test_what_was_left_is_read_again_by_itself(server, along, store):
    server.on(SETS, page(KEYS))
    server.on("/apis/apps/v1/namespaces/a-b/replicasets", page(KEYS[:1]))
    for namespace in ("a-b", "a", "c"):
        along.fill([need(namespace)])
    along.fill([need("a-b")])
    assert KEYS[0] in held(store)
    assert not store.should_read(need("a-b"))


def test_of_a_list_in_another_order_no_namespace_is_whole_before_its_end(server, along, store):
    server.on(SETS, page([("b", "web"), ("a", "web")], "one")).on(SETS, page([("c", "x"), ("a", "late")]))
    along.fill([need("a")])
    assert held(store) == {("b", "web"), ("a", "web"), ("c", "x"), ("a", "late")}


def test_an_object_that_cannot_be_decoded_makes_its_namespace_uncertain(server, along, store):
    broken = page(KEYS[:2], "one")
    broken["items"].append({"metadata": {"namespace": "a-b", "name": "bad"}, "spec": 1})
    server.on(SETS, broken).on(SETS, page(KEYS[2:]))
    along.fill([need("a-b")])
    covered = store.covered(need("a-b"))
    assert covered.state == "failed"
    assert "a-b/bad" in covered.message
    assert held(store) == set(KEYS)
    along.fill([need("c")])
    assert store.covered(need("c")).state == "read"
    assert len(server.requests) == 2


def test_what_may_not_be_read_is_recorded_once(server, along, store):
    server.refuse(SETS, 403, "replicasets is forbidden", "Forbidden")
    along.fill([need("a")])
    assert store.covered(need("b")).state == "denied"
    assert list(store.gaps()) == [ReadRequest("ReplicaSet", required=False)]
    along.fill([need("b")])
    assert len(server.requests) == 1


def test_what_was_read_before_a_failure_stays_read(server, along, store):
    server.on(SETS, page(KEYS[:3], "one")).refuse(SETS, 500, "no more", "InternalError")
    along.fill([need("a-b")])
    along.fill([need("b")])
    assert KEYS[0] in held(store)
    assert store.covered(need("a-b")) == READ
    assert store.covered(need("b")).state == "failed"


def test_a_server_that_is_gone_ends_the_reading(opened, store):
    along = Alongside(opened("http://127.0.0.1:9"), store, BY_KIND)
    with pytest.raises(Unreachable):
        along.fill([need("a")])


JOBS = "/apis/batch/v1/jobs"
BOTH = (ReadRequest("ReplicaSet"), ReadRequest("Job"))


def jobs(keys, token=""):
    return {**page(keys, token), "kind": "JobList", "apiVersion": "batch/v1"}


def together(along, store, needs=BOTH):
    """Each namespace with what is in the store of it when it is given out."""
    return {
        space: {(need.kind, name) for need in needs for at, name in store.keys(need.kind, space) if at == space}
        for space in along.namespaces(needs)
    }


def test_namespaces_come_one_after_the_other_with_all_of_their_objects(server, along, store):
    server.on(SETS, page(KEYS[:3], "one")).on(SETS, page(KEYS[3:5], "two")).on(SETS, page(KEYS[5:]))
    server.on(JOBS, jobs([("a", "run"), ("aa", "run")], "one")).on(JOBS, jobs([("b", "run"), ("d", "run")]))
    given = together(along, store)
    assert list(given) == ["a-b", "a.b", "a", "aa", "b", "c", "d"]
    assert given["a"] == {("ReplicaSet", "web"), ("ReplicaSet", "web-1"), ("Job", "run")}
    assert given["b"] == {("ReplicaSet", "db"), ("ReplicaSet", "web"), ("Job", "run")}
    assert given["d"] == {("Job", "run")}
    assert len(server.requests) == 5


def test_of_namespaces_that_were_given_out_nothing_is_kept(server, along, store):
    server.on(SETS, page(KEYS[:3], "one")).on(SETS, page(KEYS[3:5], "two")).on(SETS, page(KEYS[5:]))
    server.on(JOBS, jobs([]))
    kept = [set(store.namespaces("ReplicaSet")) for _ in along.namespaces(BOTH)]
    assert kept[-1] <= {"b", "c"}


def test_a_kind_that_may_not_be_read_is_a_gap_and_the_others_go_on(server, along, store):
    server.on(SETS, page(KEYS)).refuse(JOBS, 403, "jobs is forbidden", "Forbidden")
    assert set(together(along, store)) == {namespace for namespace, _ in KEYS}
    assert {need: coverage.state for need, coverage in store.gaps().items()} == {ReadRequest("Job"): "denied"}


def test_nothing_at_all_gives_no_namespace(server, along, store):
    server.on(SETS, page([])).on(JOBS, jobs([]))
    assert together(along, store) == {}


def test_a_list_in_no_order_is_told(server, along):
    server.on(SETS, page([("b", "web"), ("a", "web")], "one")).on(SETS, page([("c", "x"), ("a", "late")]))
    server.on(JOBS, jobs([]))
    with pytest.raises(ClusterError, match="is not in the order of namespaces"):
        list(along.namespaces(BOTH))
