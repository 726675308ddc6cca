"""The demo on a real cluster: answers agree with the API server, with the snapshot, and with the user's rights."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest
from controlplane import ControlPlane
from credentials import kubeconfig, write_private
from e2e import audit
from e2e.asking import Asking, answer
from e2e.plugin import Kres
from e2e.saying import stored, unlike, values

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.workload_kinds import WORKLOADS

pytestmark = pytest.mark.e2e

KEYS = ("allowed", "code", "reason", "message", "causes", "warnings")
TEMPLATES = ",".join(BY_KIND[kind].qualified_name for kind in WORKLOADS if kind != "PodTemplate")
ALL = f"{TEMPLATES},pods"
#: Of a list less is read beside the objects, so that all are asked for by their names, too.
_TAKEN = "all.kres.gz"
SPACES = ("batch", "checkout", "payments", "platform", "shop")
COMMANDS = (
    ("explain", ALL, "-A"),
    ("explain", ALL, "-A", "-o", "name"),
    ("explain", "deploy/checkout", "-n", "checkout", "-o", "wide"),
    ("explain", "deploy/checkout", "-n", "checkout", "-o", "yaml"),
    ("diff", TEMPLATES, "-A"),
    ("diff", ALL, "-A", "-o", "name"),
    ("diff", "deploy/cart", "sts/search", "-n", "shop"),
    ("explain", "pods", "-n", "shop", "-l", "app=storefront", "--exit-code"),
    ("explain", "deploy/nobody", "-n", "shop"),
)


@pytest.fixture(scope="module")
def asking(demo: ControlPlane) -> Iterator[Asking]:
    with Asking(demo) as found:
        yield found


def without_source(text: str) -> str:
    """An answer without what says where it is from, and where the commands that it proposes look."""
    text = text.replace(f" --snapshot {_TAKEN}", "")
    if text.startswith("{"):
        document = json.loads(text)
        assert document["metadata"].pop("source") in {"cluster", "snapshot"}
        complete = document["metadata"]["complete"]
        return json.dumps(document | {"metadata": complete}, indent=1)
    head, mark, rest = text.partition("metadata:\n")
    return rest.partition("items:\n")[2] if mark and head.startswith("apiVersion: kres/") else text


AGE = re.compile(r"(?<=for )(?:\d+[smhdy])+|(?<=since )(?:\d+[smhdy])+|\b(?:\d+[smhdy])+(?=\s+ago)")


@pytest.fixture
def no_default_class(asking: Asking) -> Iterator[None]:
    """No PriorityClass is the global default, which is read of a cluster only where a quota or pod asks for a class."""
    path = "/apis/scheduling.k8s.io/v1/priorityclasses/standard"
    standard = dict(asking.send("GET", path).body)
    assert asking.send("PUT", path, standard | {"globalDefault": False}).status == 200
    yield
    current = dict(asking.send("GET", path).body)
    assert asking.send("PUT", path, current | {"globalDefault": True}).status == 200


@pytest.mark.usefixtures("no_default_class")
def test_a_snapshot_answers_like_the_cluster(demo_kres: Kres, asking: Asking) -> None:
    taken = demo_kres("snapshot", "-A", "--out", _TAKEN)
    assert taken.returncode == 0, taken.stderr
    for command in (*COMMANDS, *(line for space in SPACES for line in about_all(asking, space))):
        live, held = demo_kres(*command), demo_kres(*command, "--snapshot", _TAKEN)
        # The cluster is asked a little later than the snapshot was taken.
        texts = (AGE.sub("AGE", without_source(done.stdout)).split() for done in (live, held))
        changed = "\n".join(unified_diff(*texts, "cluster", "snapshot", n=1, lineterm=""))
        assert not changed, f"{command}\n{live.stderr}\n{changed[:5000]}"
        assert (held.returncode, held.stderr) == (live.returncode, live.stderr), command
        assert live.returncode in {0, 1} or "nobody" in command[1], live.stderr
        assert live.stdout or command[1] == "deploy/nobody"


def about_all(asking: Asking, namespace: str) -> Iterator[tuple[str, ...]]:
    """Commands about each workload and pod of a namespace, by its name."""
    words = [
        f"{BY_KIND[kind].qualified_name}/{item['metadata']['name']}"
        for kind in ("Pod", *WORKLOADS)
        for item in asking.send("GET", BY_KIND[kind].path(namespace)).body["items"]
    ]
    assert len(words) > 3
    text, data = (("explain", "--steps"), ("diff",)), (("explain", "-o", "json"), ("diff", "-o", "yaml"))
    for command in (*text, *data) if namespace == "shop" else text:
        yield (*command, *words, "-n", namespace)


def test_templates_get_what_a_dry_run_gets(demo_kres: Kres, asking: Asking) -> None:
    """The next pod of each of the demo's workloads, under the workload's name."""
    items = json.loads(demo_kres("explain", TEMPLATES, "-A", "-o", "json").stdout)["items"]
    assert len(items) > 30
    for item in items:
        subject = item["subject"]
        reply = asking.create(next_pod(asking, **subject), subject["namespace"], dry=True)
        real = answer(reply)
        possible = values(item)
        if "failed calling webhook" in real.get("message", ""):
            assert item["verdict"]["outcome"] == "blocked", subject
            assert "webhook/not-computed" in {one["code"] for one in item["assumptions"]}, subject
            continue
        assert not unlike(real, item, {"metadata": {}}, KEYS), subject
        if real["allowed"]:
            found = stored(real["object"])
            assert {path: found.get(path) in possible[path] for path in {*found, *possible}} == dict.fromkeys(
                possible, True
            ), subject
            assert real["object"]["status"]["qosClass"] == item["qos"]["name"]


def next_pod(asking: Asking, kind: str, name: str, namespace: str) -> Any:
    """The pod that the workload's controller would send."""
    owner = asking.send("GET", BY_KIND[kind].path(namespace, name)).body["spec"]
    template = owner["jobTemplate"]["spec"]["template"] if kind == "CronJob" else owner["template"]
    metadata = {key: value for key, value in template["metadata"].items() if value}
    return {"apiVersion": "v1", "kind": "Pod", **template, "metadata": {**metadata, "name": name}}


def test_failed_creations_are_told(demo_kres: Kres) -> None:
    """What the cluster's own events say stands beside what is predicted."""
    item = json.loads(demo_kres("explain", "deploy/checkout", "-n", "checkout", "-o", "json").stdout)["items"][0]
    events = [fact for fact in item["facts"] if fact["reason"] == "FailedCreate"]
    quota = item["verdict"]["message"].partition("exceeded quota")[2].partition(", used")[0]
    assert quota
    assert any(quota in event["text"] for event in events)


#: What a tenant may read besides; each right is left out once.
RIGHTS = {
    "": ("pods", "limitranges", "resourcequotas", "events", "namespaces"),
    "apps": ("deployments", "replicasets", "controllerrevisions"),
    "scheduling.k8s.io": ("priorityclasses",),
    "node.k8s.io": ("runtimeclasses",),
}


@pytest.fixture
def tenant(demo: ControlPlane, asking: Asking, tmp_path: Path) -> Callable[[str], Path]:
    """Makes a kubeconfig of a user who may read all but one resource."""

    def make(without: str) -> Path:
        name = f"without-{without}"
        rules = [
            {"apiGroups": [group], "resources": [one for one in names if one != without], "verbs": ["get", "list"]}
            for group, names in RIGHTS.items()
            if set(names) != {without}
        ]
        rbac = "/apis/rbac.authorization.k8s.io/v1"
        account = {"kind": "ServiceAccount", "name": name, "namespace": "checkout"}
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
        for path, body in (
            ("/api/v1/namespaces/checkout/serviceaccounts", {"metadata": {"name": name}}),
            (f"{rbac}/clusterroles", {"metadata": {"name": name}, "rules": rules}),
            (f"{rbac}/clusterrolebindings", {"metadata": {"name": name}, "roleRef": role, "subjects": [account]}),
        ):
            assert asking.send("POST", path, body).status == 201
        token = asking.send("POST", f"/api/v1/namespaces/checkout/serviceaccounts/{name}/token", {"spec": {}}).body[
            "status"
        ]["token"]
        config = tmp_path / f"{name}.json"
        write_private(config, kubeconfig(demo.url, token, demo.ca_file.read_bytes()))
        return config

    return make


@pytest.mark.parametrize(
    ("without", "code", "complete"),
    [("limitranges", 4, False), ("resourcequotas", 4, False), ("events", 0, True), ("deployments", 3, None)],
)
def test_rights_that_are_missing(
    tenant: Callable[[str], Path], demo_kres: Kres, without: str, code: int, complete: bool | None
) -> None:
    """Without a policy the answer is partial, in the server's words; without the object there is none."""
    config = str(tenant(without))
    done = demo_kres("explain", "deploy/checkout", "-n", "checkout", "-o", "json", "--kubeconfig", config)
    assert done.returncode == code, done.stderr
    user = f"system:serviceaccount:checkout:without-{without}"
    words = f"{without}{'.apps' if without == 'deployments' else ''} "
    if code:
        assert f"Error from server (Forbidden): {words}" in done.stderr
        assert f'is forbidden: User "{user}" cannot ' in done.stderr
        assert "kubectl auth can-i " in done.stderr
    if complete is None:
        assert done.stdout == ""
        return
    document = json.loads(done.stdout)
    assert document["metadata"]["complete"] is complete
    assert (document["items"][0]["verdict"]["allowed"] is False) == (without != "resourcequotas")
    assert demo_kres(
        "explain", "deploy/checkout", "-n", "checkout", "--kubeconfig", config, "--allow-partial"
    ).returncode == (3 if complete is None else 0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("explain", "deploy/nobody", "-n", "shop"),
            'Error from server (NotFound): deployments.apps "nobody" not found',
        ),
        (("diff", "pod/nobody", "-n", "shop"), 'Error from server (NotFound): pods "nobody" not found'),
        (("explain", "widgets"), 'error: the server doesn\'t have a resource type "widgets"'),
    ],
)
def test_what_is_not_there(demo_kres: Kres, words: tuple[str, ...], said: str) -> None:
    done = demo_kres(*words)
    assert (done.returncode, done.stdout, done.stderr.splitlines()[0]) == (3, "", said)


def test_only_reads_were_sent(demo: ControlPlane, demo_kres: Kres, tmp_path_factory: pytest.TempPathFactory) -> None:
    """All that the plugin sent so far; the fixture looks again in the end."""
    demo_kres("explain", "deploy/checkout", "-n", "checkout")
    folder = audit.folder_of(demo)
    verbs = {verb for verb, _ in audit.sent(folder)}
    assert {"get", "list"} <= verbs
    assert audit.forbidden(folder) == []
    assert not audit.allowed("create", "/api/v1/namespaces/shop/pods?dryRun=All")
    assert not audit.allowed("patch", "/api/v1/namespaces/shop/pods/p")
    assert audit.allowed("create", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews")
