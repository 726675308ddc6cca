"""Kinds of which a server has only the older version that is read, too."""

from __future__ import annotations

from kubectl_kres.cluster.read import discovery, fill_store
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.store.store import Origin, ReadRequest, Store

QUEUE = BY_KIND["ClusterQueue"]
OLD, NEW = "/apis/kueue.x-k8s.io/v1beta1", "/apis/kueue.x-k8s.io/v1beta2"
ITEM = {"metadata": {"name": "team"}, "spec": {"cohort": "all", "admissionChecks": ["review"]}}
READS = (ReadRequest("ClusterQueue"), ReadRequest("LocalQueue", "a"), ReadRequest("ClusterQueue", name="team"))


def filled(connection):
    store = Store(Origin("cluster"))
    fill_store.fill(connection, store, READS)
    return store


def test_the_older_version_is_read_where_there_is_no_other(server, connection):
    server.on(f"{OLD}/clusterqueues", {"kind": "ClusterQueueList", "items": [ITEM]})
    server.on(f"{OLD}/clusterqueues/team", {"kind": "ClusterQueue", **ITEM})
    server.on(f"{OLD}/namespaces/a/localqueues", {"kind": "LocalQueueList", "items": []})
    store = filled(connection)
    assert {coverage.state for coverage in store.coverages().values()} == {"read"}
    queue = store.get("ClusterQueue", "team")
    assert (queue.cohort, queue.spec.admission_checks) == ("all", ("review",))
    asked = len(server.asked())
    filled(connection)
    assert [path for path in server.asked()[asked:] if path.startswith(NEW)] == []


def test_a_server_with_the_newer_version_is_asked_for_no_other(server, connection):
    server.on(f"{NEW}/clusterqueues", {"kind": "ClusterQueueList", "items": [ITEM]})
    filled(connection)
    filled(connection)
    assert f"{OLD}/clusterqueues" not in server.asked()


def test_without_any_version_the_kind_is_absent(server, connection):
    server.refuse(f"{NEW}/clusterqueues", 404, "the server could not find the requested resource", "NotFound")
    assert filled(connection).covered(READS[0]).state == "absent"


def test_the_older_version_counts_as_served(server, connection):
    group = {"name": "kueue.x-k8s.io", "versions": [{"groupVersion": OLD[6:], "version": "v1beta1"}]}
    server.on("/apis", {"kind": "APIGroupList", "groups": [group]})
    resource = {"name": "clusterqueues", "kind": "ClusterQueue"}
    server.on(OLD, {"kind": "APIResourceList", "resources": [resource]})
    server.on("/api", {"kind": "APIVersions", "versions": []})
    assert discovery.is_served(connection, QUEUE)
    assert discovery.find_served_kinds(connection, [QUEUE]) == (QUEUE,)
