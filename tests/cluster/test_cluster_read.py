import threading

import pytest

from kubectl_kres.cluster.read import fill_store
from kubectl_kres.errors import (
    ClusterError,
    Expired,
    Forbidden,
    NotFound,
    TimedOut,
    Unauthenticated,
    Unreachable,
    UsageError,
)
from kubectl_kres.model.kinds import BY_KIND, Kind
from kubectl_kres.model.pod import ManagedPod, Pod
from kubectl_kres.store.store import Coverage, LeftOut, Origin, ReadRequest, Store, partly_read

POD, QUOTA = BY_KIND["Pod"], BY_KIND["ResourceQuota"]
PODS = "/api/v1/pods"
#: In the order of their keys in etcd, which is not that of (namespace, name).
KEYS = [("a-b", "web"), ("a.b", "web"), ("a", "web"), ("a", "web-1"), ("b", "db"), ("b", "web"), ("c", "x")]


SERVICES = {"kind": "ServiceList", "items": [{"metadata": {"name": "s", "namespace": "a"}}, {"spec": 1}]}


def pod(namespace, name):
    return {"metadata": {"namespace": namespace, "name": name}}


def page(keys, token=""):
    return {"kind": "PodList", "metadata": {"continue": token}, "items": [pod(*key) for key in keys]}


def expired(server, token=""):
    metadata = {"continue": token} if token else {}
    server.refuse(PODS, 410, "The provided continue parameter is too old", "Expired", metadata=metadata)


def keys_of(pages):
    return [(item.metadata.namespace, item.metadata.name) for items in pages for item in items]


def queries(server):
    return [request.query for request in server.requests]


def test_a_list_is_read_page_by_page(server, connection):
    server.on(PODS, page(KEYS[:3], "one"), packed=True).on(PODS, page([], "two")).on(PODS, page(KEYS[3:]))
    need = ReadRequest("Pod", label_selector="a=b", field_selector="status.phase!=Succeeded")
    assert keys_of(fill_store.pages(connection, POD, need, 3)) == KEYS
    asked = {"labelSelector": "a=b", "fieldSelector": "status.phase!=Succeeded", "limit": "3"}
    assert queries(server) == [asked, {**asked, "continue": "one"}, {**asked, "continue": "two"}]


def test_without_a_chunk_size_one_request_is_made(server, connection):
    server.on("/api/v1/namespaces/a/pods", page(KEYS))
    assert len(keys_of(fill_store.pages(connection, POD, ReadRequest("Pod", "a"), 0))) == len(KEYS)
    assert queries(server) == [{}]


def test_the_default_is_500(server, connection):
    server.on(PODS, {"kind": "PodList", "items": None})
    assert list(fill_store.pages(connection, POD, ReadRequest("Pod"))) == []
    assert queries(server) == [{"limit": "500"}]


def test_one_page_is_read_ahead_and_no_more(server, connection):
    for number, key in enumerate(KEYS[:5]):
        server.on(PODS, page([key], f"token-{number}"))
    pages = fill_store.pages(connection, POD, ReadRequest("Pod"), 1)
    next(pages)
    next(pages)
    pages.close()
    assert len(server.requests) <= 3


def test_an_expired_token_goes_on_where_the_server_says(server, connection):
    server.on(PODS, page(KEYS[:3], "old"))
    expired(server, "inconsistent")
    server.on(PODS, page(KEYS[3:5], "next")).on(PODS, page(KEYS[5:]))
    assert keys_of(fill_store.pages(connection, POD, ReadRequest("Pod"), 3)) == KEYS
    assert [query.get("continue") for query in queries(server)] == [None, "old", "inconsistent", "next"]


@pytest.mark.parametrize("tokens", [[""], ["inconsistent", "inconsistent"], ["inconsistent", ""]])
def test_an_expired_list_is_read_again_in_one_piece_without_repeating(server, connection, tokens):
    server.on(PODS, page(KEYS[:3], "old"))
    for token in tokens:
        expired(server, token)
    server.on(PODS, page([*KEYS[:2], ("a", "new"), *KEYS[3:]]))
    assert keys_of(fill_store.pages(connection, POD, ReadRequest("Pod"), 3)) == KEYS
    assert queries(server)[-1] == {}


def test_a_list_that_expires_whatever_is_done_ends(server, connection):
    server.on(PODS, page(KEYS[:3], "old"))
    expired(server, "")
    server.on(PODS, page(KEYS, "again"))
    expired(server, "")
    pages = fill_store.pages(connection, POD, ReadRequest("Pod"), 3)
    with pytest.raises(Expired, match="too old"):
        keys_of(pages)
    assert len(server.requests) == 4


def test_410_without_a_token_is_the_answer(server, connection):
    expired(server, "inconsistent")
    with pytest.raises(Expired):
        keys_of(fill_store.pages(connection, POD, ReadRequest("Pod")))
    assert len(server.requests) == 1


def test_a_server_that_repeats_its_token_is_left(server, connection):
    server.on(PODS, page(KEYS[:1], "same"))
    with pytest.raises(ClusterError, match="does not advance"):
        keys_of(fill_store.pages(connection, POD, ReadRequest("Pod"), 1))
    assert len(server.requests) <= 3


def test_bad_objects_are_named_and_the_rest_is_given_out(server, connection):
    content = page(KEYS[:2])
    content["items"].insert(1, {"metadata": {"name": "bad", "namespace": "n"}, "spec": 3})
    server.on(PODS, content)
    skipped = []
    assert keys_of(fill_store.pages(connection, POD, ReadRequest("Pod"), skipped=skipped)) == KEYS[:2]
    assert skipped == [LeftOut("pods n/bad: Expected `object`, got `int` - at `$.spec`", "n", "bad")]
    assert keys_of(fill_store.pages(connection, POD, ReadRequest("Pod"))) == KEYS[:2]


def test_one_object(server, connection):
    server.on("/api/v1/namespaces/a/pods/web", {**pod("a", "web"), "kind": "Pod", "spec": {"nodeName": "n"}})
    server.on(
        "/apis/apps/v1/namespaces/a/deployments/web", {**pod("a", "web"), "kind": "Deployment", "apiVersion": "apps/v1"}
    )
    server.on("/api/v1/namespaces/a", {"kind": "Namespace", "metadata": {"name": "a"}})
    found = fill_store.get(connection, POD, "a", "web")
    assert (type(found), found.spec.node_name) == (ManagedPod, "n")
    assert type(fill_store.get(connection, POD, "a", "web", Pod)) is Pod
    assert fill_store.get(connection, BY_KIND["Deployment"], "a", "web").kind == "Deployment"
    assert fill_store.get(connection, BY_KIND["Namespace"], "", "a").metadata.name == "a"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("..", "invalid resource name \"..\": [may not be '..']"),
        (".", "invalid resource name \".\": [may not be '.']"),
        ("a/../b", "invalid resource name \"a/../b\": [may not contain '/']"),
        ("a%2fb", "invalid resource name \"a%2fb\": [may not contain '%']"),
    ],
)
def test_names_that_would_be_other_paths_are_never_sent(server, connection, name, message):
    for namespace, object_name in ((name, "x"), ("x", name)):
        with pytest.raises(UsageError) as caught:
            fill_store.get(connection, POD, namespace, object_name)
        assert caught.value.message == message
    assert server.requests == []


def test_of_each_page_that_is_kept_which_is_wanted(server, connection):
    server.on(PODS, page(KEYS[:3], "more")).on(PODS, page(KEYS[3:]))
    kept = []

    def keep(item):
        kept.append(item.metadata.name)
        return Pod(metadata=item.metadata, api_version="kept")

    store = Store(Origin("cluster", "x"))
    store.lean["Pod"] = keep
    fill_store.fill(connection, store, [ReadRequest("Pod")], chunk_size=3)
    assert kept == [name for _, name in KEYS]
    assert {item.api_version for item in store.all("Pod")} == {"kept"}


def test_odd_names_are_quoted(server, connection):
    with pytest.raises(NotFound):
        fill_store.get(connection, POD, "a b", "x?limit=1#ü")
    assert server.asked() == ["/api/v1/namespaces/a%20b/pods/x%3Flimit%3D1%23%C3%BC"]


def test_an_object_that_cannot_be_decoded(server, connection):
    server.on("/api/v1/namespaces/a/pods/web", {"spec": 3})
    with pytest.raises(ClusterError) as caught:
        fill_store.get(connection, POD, "a", "web")
    assert caught.value.message == 'pods "web" could not be decoded: Expected `object`, got `int` - at `$.spec`'


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ({"body": {"major": "1", "gitVersion": "v1.36.3"}}, "v1.36.3"),
        ({"body": {}}, ""),
        ({"body": b"{"}, ""),
        ({"body": {"kind": "Status", "message": "no"}, "status": 403}, ""),
        ({"body": b"", "status": 404}, ""),
    ],
)
def test_the_version_is_empty_if_it_is_not_told(server, connection, reply, expected):
    server.on("/version", **reply)
    assert fill_store.version(connection) == expected


def test_401_on_the_version_is_an_error(server, connection):
    server.refuse("/version", 401, "Unauthorized")
    with pytest.raises(Unauthenticated):
        fill_store.version(connection)


def filled(connection, *needs, **options):
    store = Store(Origin("cluster"))
    fill_store.fill(connection, store, needs, **options)
    return store


def test_needs_are_read_into_the_store_and_covered(server, connection):
    server.on("/api/v1/namespaces/a/pods", page([("a", "web"), ("a", "db")]))
    server.on("/api/v1/namespaces/a", {"kind": "Namespace", "metadata": {"name": "a"}})
    server.on(
        "/api/v1/namespaces/a/pods/web",
        {"kind": "Pod", "metadata": {**pod("a", "web")["metadata"], "uid": "u"}},
    )
    server.refuse(
        "/api/v1/namespaces/a/pods/gone",
        404,
        'pods "gone" not found',
        "NotFound",
        details={"name": "gone", "kind": "pods"},
    )
    server.refuse("/api/v1/namespaces/a/limitranges", 403, "limitranges is forbidden: no", "Forbidden")
    server.refuse("/apis/x.io/v1/things", 404, "the server could not find the requested resource", "NotFound")
    server.refuse(
        "/apis/x.io/v1/namespaces/a/things/t", 404, "the server could not find the requested resource", "NotFound"
    )
    server.on("/api/v1/namespaces/a/resourcequotas", b"<html>", 502, content_type="text/html")
    server.on("/api/v1/namespaces/a/services", SERVICES)
    server.on("/api/v1/namespaces/a/events", b"{")
    kinds = {**BY_KIND, "Thing": Kind("Thing", ("things", "thing"), "x.io")}
    expected = {
        ReadRequest("Pod", "a"): Coverage("read"),
        ReadRequest("Namespace", name="a"): Coverage("read"),
        ReadRequest("Pod", "a", "web"): Coverage("read"),
        ReadRequest("Pod", "a", "gone"): Coverage("read"),
        ReadRequest("LimitRange", "a"): Coverage("denied", "limitranges is forbidden: no", 403, "Forbidden"),
        ReadRequest("Thing"): Coverage("absent", "the server could not find the requested resource"),
        ReadRequest("Thing", "a", "t"): Coverage("absent", "the server could not find the requested resource"),
        ReadRequest("ResourceQuota", "a"): Coverage(
            "failed", "the server answered 502 with text/html, not a Kubernetes Status", 502
        ),
        ReadRequest("Service", "a"): partly_read(
            [LeftOut("services number 2: Expected `object`, got `int` - at `$.spec`")]
        ),
        ReadRequest("Event", "a"): Coverage(
            "failed", "the list of events could not be decoded: Input data was truncated"
        ),
    }
    store = filled(connection, *expected, *expected, kinds=kinds)
    assert store.coverages() == expected
    assert list(store.coverages()) == list(expected)
    assert [item.metadata.name for item in store.all("Pod")] == ["db", "web"]
    assert type(store.get("Pod", "web", "a")) is ManagedPod
    assert store.get("Service", "s", "a") is not None
    assert len(server.requests) == len(expected)


def test_needs_are_read_side_by_side(server, connection):
    together = threading.Barrier(fill_store.WIDTH)

    needs = [ReadRequest("Pod", f"n{number}") for number in range(fill_store.WIDTH)]
    for need in needs:
        server.on(
            f"/api/v1/namespaces/{need.namespace}/pods",
            {"kind": "PodList", "items": []},
            before=lambda: together.wait(10),
        )
    assert set(filled(connection, *needs).coverages().values()) == {Coverage("read")}


def test_progress_counts_the_objects(server, connection):
    first = page(KEYS[:3], "one")
    first["metadata"]["remainingItemCount"] = 4
    server.on(PODS, first).on(PODS, page(KEYS[3:]))
    heard = []
    filled(connection, ReadRequest("Pod"), chunk_size=3, progress=lambda *told: heard.append(told))
    assert heard == [(ReadRequest("Pod"), 3, 4), (ReadRequest("Pod"), 7, 0)]


def test_objects_read_before_a_failure_stay(server, connection):
    server.on(PODS, page(KEYS[:3], "one")).refuse(PODS, 500, "etcd is slow")
    store = filled(connection, ReadRequest("Pod"))
    assert len(list(store.all("Pod"))) == 3
    assert store.covered(ReadRequest("Pod")) == Coverage("failed", "etcd is slow", 500)


@pytest.mark.parametrize("others", [0, 6])
@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"status": 401, "body": {"kind": "Status", "message": "Unauthorized"}}, Unauthenticated),
        ({"length": 99, "body": {}}, Unreachable),
        ({"stall": 0}, TimedOut),
    ],
)
def test_what_concerns_the_whole_server_is_raised(server, opened, options, kind, others):
    server.on(PODS, **options)
    needs = [ReadRequest("Pod"), *(ReadRequest("Pod", f"n{number}") for number in range(others))]
    with pytest.raises(kind):
        filled(opened(server.url, 0.3), *needs)


def test_nothing_is_asked_for_no_needs(server, connection):
    assert filled(connection).coverages() == {}
    assert server.requests == []


def test_a_list_may_be_forbidden(server, connection):
    server.refuse(PODS, 403, "pods is forbidden", "Forbidden")
    with pytest.raises(Forbidden, match=r"^pods is forbidden$"):
        keys_of(fill_store.pages(connection, POD, ReadRequest("Pod")))
    assert server.asked() == [PODS]
