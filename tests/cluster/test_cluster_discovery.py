import ast
import subprocess
import sys

import pytest
from architecture.modules import trees

from kubectl_kres.cluster.read.discovery import find_kind
from kubectl_kres.errors import ClusterError, Forbidden
from kubectl_kres.model.kinds import BY_KIND, Kind
from kubectl_kres.model.workload import Workload


def served(resource, kind, *short, singular="", scope="Namespaced"):
    return {
        "resource": resource,
        "responseKind": {"group": "", "version": "", "kind": kind},
        "scope": scope,
        "singularResource": singular,
        "shortNames": list(short),
        "verbs": ["get", "list"],
        "subresources": [{"subresource": "status"}],
    }


def group(name, **versions):
    items = [
        {"version": version, "resources": resources, "freshness": "Current"} for version, resources in versions.items()
    ]
    return {"metadata": {"name": name} if name else {}, "versions": items}


AGGREGATED = {
    "/api": [
        group("", v1=[served("pods", "Pod", "po", singular="pod"), served("widgets", "Widget", "wi", scope="Cluster")])
    ],
    "/apis": [
        group("apps", v1=[served("deployments", "Deployment", "deploy", singular="deployment")]),
        group("argoproj.io", v1alpha1=[served("rollouts", "Rollout", "ro"), served("wi", "Odd")]),
        group(
            "serving.knative.dev",
            v1=[served("services", "Service", "kservice", "ksvc")],
            v1beta1=[served("services", "Service")],
        ),
        group("empty.io"),
        {"metadata": {"name": "down.io"}, "versions": [{"version": "v1", "resources": None, "freshness": "Stale"}]},
    ],
}
#: The same, in the form of servers before 1.26.
LEGACY = {
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/apis": {
        "kind": "APIGroupList",
        "groups": [
            {
                "name": entry["metadata"]["name"],
                "versions": [{"version": version["version"]} for version in entry["versions"]],
            }
            for entry in AGGREGATED["/apis"]
        ],
    },
}


@pytest.fixture(params=["aggregated", "legacy"])
def asked(request, server, connection):
    if request.param == "aggregated":
        for path, items in AGGREGATED.items():
            server.on(path, {"kind": "APIGroupDiscoveryList", "items": items})
        return connection
    for path, body in LEGACY.items():
        server.on(path, body)
    for entry in [*AGGREGATED["/api"], *AGGREGATED["/apis"]]:
        name = entry["metadata"].get("name")
        for version in entry["versions"]:
            resources = [
                {
                    "name": found["resource"],
                    "kind": found["responseKind"]["kind"],
                    "singularName": found["singularResource"],
                    "namespaced": found["scope"] == "Namespaced",
                    "shortNames": found["shortNames"] or None,
                }
                for found in version["resources"] or ()
            ]
            resources += [{**found, "name": found["name"] + "/status"} for found in resources]
            root = f"/apis/{name}/{version['version']}" if name else f"/api/{version['version']}"
            if name == "down.io":
                server.refuse(root, 503, "unavailable")
            else:
                server.on(root, {"kind": "APIResourceList", "resources": resources})
    return connection


ROLLOUT = Kind("Rollout", ("rollouts", "rollout", "ro"), "argoproj.io", "v1alpha1", struct=Workload)
WIDGET = Kind("Widget", ("widgets", "widget", "wi"), namespaced=False, struct=Workload)
KSERVICE = Kind("Service", ("services", "service", "kservice", "ksvc"), "serving.knative.dev", struct=Workload)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rollouts", ROLLOUT),
        ("Rollout", ROLLOUT),
        ("RO", ROLLOUT),
        ("rollouts.argoproj.io", ROLLOUT),
        ("rollout.v1alpha1.argoproj.io", ROLLOUT),
        ("rollouts.argo", ROLLOUT),
        ("widgets", WIDGET),
        ("widget.v1.", WIDGET),
        ("wi", Kind("Odd", ("wi", "odd"), "argoproj.io", "v1alpha1", struct=Workload)),
        ("ksvc", KSERVICE),
        ("services.serving.knative.dev", KSERVICE),
        (
            "services.v1beta1.serving.knative.dev",
            Kind("Service", ("services", "service"), "serving.knative.dev", "v1beta1", struct=Workload),
        ),
        ("deployments.app", BY_KIND["Deployment"]),
    ],
)
def test_a_type_is_found_by_any_of_its_names(asked, text, expected):
    assert find_kind(asked, text) == expected


@pytest.mark.parametrize(
    "text", ["zz", "pods.nope", "rollouts.v2.argoproj.io", "rollouts.v1.argoproj.io.more", "status", ""]
)
def test_an_unknown_type_is_refused_in_kubectls_words(asked, text):
    with pytest.raises(ClusterError) as caught:
        find_kind(asked, text)
    assert caught.value.message == f'the server doesn\'t have a resource type "{text}"'
    assert caught.value.exit_code == 3


def test_kinds_that_we_know_need_no_request(server, connection):
    assert find_kind(connection, "deploy.apps") == BY_KIND["Deployment"]
    assert server.requests == []


def test_the_aggregated_form_takes_two_requests(server, connection):
    for path, items in AGGREGATED.items():
        server.on(path, {"kind": "APIGroupDiscoveryList", "items": items})
    find_kind(connection, "rollouts")
    assert server.asked() == ["/api", "/apis"]
    assert server.requests[0].headers["accept"] == (
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
        "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
    )


def test_discovery_that_fails_is_said(server, connection):
    server.on("/api", b"[]")
    with pytest.raises(ClusterError, match=r"^the server's list of resource types could not be decoded: "):
        find_kind(connection, "rollouts")


def test_discovery_that_is_forbidden_is_said(server, connection):
    server.on("/api", {"kind": "APIVersions", "versions": []}).refuse("/apis", 403, "no")
    with pytest.raises(Forbidden, match=r"^no$"):
        find_kind(connection, "rollouts")


#: Six readers that ask for what a server serves at the same moment, as those of kinds that are not installed do.
_AT_ONCE = """
import json, sys, threading
from kubectl_kres.cluster.read import discovery
sys.setswitchinterval(1e-6)
resource = {"resource": "widgets", "responseKind": {"kind": "Widget"}, "scope": "Namespaced", "shortNames": ["wi"]}
group = {"metadata": {"name": "apps"}, "versions": [{"version": "v1", "resources": [resource] * 50}]}
answer = json.dumps({"kind": "APIGroupDiscoveryList", "items": [group] * 20}).encode()
barrier = threading.Barrier(6)
def read():
    barrier.wait()
    discovery._decode(answer, discovery._Directory)
threads = [threading.Thread(target=read) for _ in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


@pytest.mark.parametrize("attempt", range(5))
def test_readers_may_ask_what_is_served_at_once(attempt):
    """The first use of a struct by two threads ends the interpreter, unless its decoder is built by one of them."""
    ended = subprocess.run([sys.executable, "-c", _AT_ONCE], check=False, timeout=60)
    assert ended.returncode == 0, attempt


def test_no_reader_describes_a_struct_by_itself():
    """Decoders are built under a lock (``lists.decoder``), or while a module is loaded, which is one as well."""
    described = [
        (path, node.lineno)
        for path, tree in trees().items()
        if path.startswith("kubectl_kres/cluster/")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("json.decode")
        for keyword in node.keywords
        if keyword.arg == "type" and not ast.unparse(keyword.value).startswith("dict")
    ]
    assert described == []
