"""One object with a quantity that is none, in a snapshot and from a server: named, and all else is answered."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from cli.apiserver import Api, kubeconfig
from hostile.hostile_world import World

from kubectl_kres import api
from kubectl_kres.cli.main import entry
from kubectl_kres.errors import KresError
from kubectl_kres.mcp.tools import answer_tool
from kubectl_kres.model.kinds import BY_KIND, is_view

Raw = dict[str, Any]
BAD = {"cpu": "bad!"}
POD, SPACE = "banner-mm87j", "shop"


def spoil_spec(item: Raw) -> None:
    item["spec"]["containers"][0]["resources"] = {"requests": BAD}


def spoil_status(item: Raw) -> None:
    item["status"]["containerStatuses"][0]["allocatedResources"] = BAD


def spoil_overhead(item: Raw) -> None:
    item["spec"]["overhead"] = BAD


def spoil_limits(item: Raw) -> None:
    item["spec"]["limits"][0]["max"] = BAD


def spoil_use(item: Raw) -> None:
    item["status"]["used"] = BAD


def spoil_claim(item: Raw) -> None:
    item["status"]["allocatedResources"] = {"storage": [1]}


def spoil_node(item: Raw) -> None:
    item["status"]["allocatable"] = BAD


PODS = ("spec", "status", "overhead")
#: What is spoilt: kind, name or none for the first one, and how.
SPOILT: dict[str, tuple[str, str, Callable[[Raw], None]]] = {
    "spec": ("Pod", POD, spoil_spec),
    "status": ("Pod", POD, spoil_status),
    "overhead": ("Pod", POD, spoil_overhead),
    "limits": ("LimitRange", "", spoil_limits),
    "quota": ("ResourceQuota", "", spoil_use),
    "claim": ("PersistentVolumeClaim", "", spoil_claim),
    "node": ("Node", "", spoil_node),
}
#: Commands that look at pods of all namespaces.
OF_PODS = (
    "explain pods -A",
    "check -A",
    "overview -A",
    "qos -A",
    "qos -A --summary",
    "diff pods -A",
    "quota -A --recount",
    "quota -A --recount --by workload",
    f"quota -n {SPACE} --by value",
    f"simulate --scale deploy/cart=9 -n {SPACE}",
    "simulate --kube-version 1.36 -A",
    "timeline -A",
)
#: Those that look at other things, or at pods of others.
OTHERS = (
    "explain pods -n ci",
    "explain deploy/cart -n shop",
    "explain limits -A",
    "quota -A",
    "claims -A",
    "quota --recount -n ci",
)


def call_odd(item: Raw) -> None:
    item |= {"kind": "Odd", "apiVersion": "x.y/v1"}


def key_in_etcd(item: Raw) -> tuple[str, str]:
    return f"{item['metadata'].get('namespace', '')}/", item["metadata"]["name"]


class Cluster:
    """The demo with one spoilt object: ``ref`` is its plural and key, as lines name it."""

    def __init__(self, what: str, folder: Path) -> None:
        kind, name, spoil = SPOILT[what]
        world = World("")
        items = next(page["items"] for page in world.pages if page["kind"] == kind)
        item = next(item for item in items if name in {"", item["metadata"]["name"]})
        spoil(item)
        key = "/".join(filter(None, (item["metadata"].get("namespace"), item["metadata"]["name"])))
        self.ref = f"{BY_KIND[kind].plural} {key}"
        self.server = Api()
        self.server.version = {"gitVersion": "v1.37.2"}
        self.server.objects = [
            {"apiVersion": BY_KIND[page["kind"]].api_version, "kind": page["kind"], **item}
            for page in world.pages
            if not is_view(page["kind"]) and "." not in page["kind"]
            for item in sorted(page["items"], key=key_in_etcd)
        ]
        self.snapshot = folder / "spoilt.kres"
        self.snapshot.write_bytes(world.snapshot())
        self.kubeconfig = kubeconfig(folder, self.server.url)


@pytest.fixture
def spoilt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Cluster]]:
    servers: list[Api] = []

    def build(what: str) -> Cluster:
        cluster = Cluster(what, tmp_path)
        servers.append(cluster.server)
        Thread(target=cluster.server.serve_forever, daemon=True).start()
        monkeypatch.setenv("KUBECONFIG", cluster.kubeconfig)
        return cluster

    yield build
    for server in servers:
        with closing(server.socket):
            server.shutdown()


def run(words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["kubectl-kres", *words.split()])
    code = entry()
    out, err = capsys.readouterr()
    assert "Traceback" not in err, (words, err)
    return code, out, err


@pytest.mark.one_in(5)
@pytest.mark.parametrize("source", ["snapshot", "server"])
@pytest.mark.parametrize("what", SPOILT)
def test_all_else_is_answered(
    what: str,
    source: str,
    spoilt: Callable[[str], Cluster],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    cluster = spoilt(what)
    flags = f" --snapshot {cluster.snapshot}" if source == "snapshot" else ""
    named = 0
    for command in (*OF_PODS, *OTHERS) if what == "spec" else (*OF_PODS[:3], *OF_PODS[6::4], *OTHERS[1:4]):
        code, out, err = run(f"{command}{flags}", monkeypatch, capsys)
        assert out and code in {0, 1, 4}, (command, code, err)
        # What check could do without is a finding of its own, KRES901, which overview counts.
        assert (cluster.ref in err or cluster.ref in out) if code == 4 else cluster.ref not in err, (command, code, err)
        named += code == 4
        if what in PODS:
            assert (code == 4) == (command in OF_PODS), (command, code, err)
    assert named or what in {"claim", "node"}


@pytest.mark.parametrize("source", ["snapshot", "server"])
def test_only_the_object_is_missing(
    source: str,
    spoilt: Callable[[str], Cluster],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    cluster = spoilt("spec")
    flags = f" --snapshot {cluster.snapshot}" if source == "snapshot" else ""
    _, out, _ = run(f"explain pods -A -o json{flags}", monkeypatch, capsys)
    names = {(item["subject"]["namespace"], item["subject"]["name"]) for item in json.loads(out)["items"]}
    pods = {
        (item["metadata"]["namespace"], item["metadata"]["name"])
        for item in cluster.server.objects
        if item["kind"] == "Pod"
    }
    assert names == pods - {(SPACE, POD)}
    code, out, err = run(f"explain pod/{POD} -n {SPACE}{flags}", monkeypatch, capsys)
    assert (code, out) == (3, "") and POD in err and "requests[cpu]: quantities must match" in err
    # Of a namespace whose pods are not all known no use is recounted; of others it is, and who uses it is said of all.
    _, out, _ = run(f"quota -A --recount --by workload -o json{flags}", monkeypatch, capsys)
    items = json.loads(out)["items"]
    for item in items:
        here = item["subject"]["namespace"] == SPACE
        assert item.get("complete", True) != here, item["subject"]
        unknown = [use["name"] for use in item["uses"] if use.get("unread") == "pods"]
        assert bool(unknown) == here
    assert any(item["shares"] for item in items if item["subject"]["namespace"] == SPACE)


@pytest.mark.parametrize("source", ["snapshot", "server"])
def test_python_and_agents_are_told(source: str, spoilt: Callable[[str], Cluster]) -> None:
    cluster = spoilt("spec")
    opened = api.open_snapshot(cluster.snapshot) if source == "snapshot" else api.open_cluster()
    with pytest.raises(KresError, match=POD):
        api.explain(f"pod/{POD}", cluster=opened, namespace=SPACE)
    recounts = api.quota(opened, all_namespaces=True, recount=True, by="workload")
    assert {answer.report.subject.namespace for answer in recounts if not answer.complete} == {SPACE}
    assert all(POD in line for answer in recounts for line in answer.missing)
    scaled = api.simulate(cluster=opened, namespace=SPACE, scale={"deploy/cart": 9})
    assert not scaled.complete and any(POD in line for line in scaled.missing)
    assert api.explain("deploy/cart", cluster=opened, namespace=SPACE).complete
    found = answer_tool("overview", {"context": "c", "namespace": SPACE}, lambda _: opened, ("c",))
    assert found["fullQuotas"]
    changed = answer_tool("simulate", {"context": "c", "namespace": SPACE, "scale": "deploy/cart=9"},
                          lambda _: opened, ("c",))  # fmt: skip
    assert POD in json.dumps(changed)


WAITING = "explain pod/gallery-548c4c8fb4-qc2kw -n previews"


@pytest.mark.parametrize("what", ["spec", "status", "overhead"])
def test_a_pod_on_a_node_is_not_counted_as_nothing(
    what: str,
    spoilt: Callable[[str], Cluster],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Of pods on nodes only what nodes count is decoded: what a node has left is said as far as seen."""
    cluster = spoilt(what)
    _, out, _ = run(f"{WAITING} -o json", monkeypatch, capsys)
    (item,) = json.loads(out)["items"]
    assert not item["scheduling"]["complete"] and item["scheduling"]["notRead"] == ["Pod"]
    assert cluster.ref in json.dumps(item["unread"])
    cluster.server.objects = [item for item in cluster.server.objects if item["metadata"]["name"] != POD]
    _, out, _ = run(f"{WAITING} -o json", monkeypatch, capsys)
    (item,) = json.loads(out)["items"]
    assert item["scheduling"].get("complete", True)


@pytest.mark.parametrize("words", ["explain deploy -n previews", "explain pods -n previews", "overview -n previews"])
def test_a_list_says_that_nodes_may_not_be_read(
    words: str,
    spoilt: Callable[[str], Cluster],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    spoilt("claim").server.denied.add("nodes")
    _, out, _ = run(words, monkeypatch, capsys)
    assert "the nodes could not be read" in " ".join(out.split())


def test_a_list_for_python_and_agents_names_what_it_lacks(spoilt: Callable[[str], Cluster]) -> None:
    cluster = spoilt("quota")
    opened = api.open_cluster()
    answers = api.quota(opened, all_namespaces=True)
    assert answers and all(answer.complete for answer in answers)
    assert not answers.complete and [cluster.ref in line for line in answers.missing] == [True]
    assert api.claims(opened, all_namespaces=True).complete
    found = answer_tool("overview", {"context": "c"}, lambda _: opened, ("c",))
    assert found["fullQuotas"] and cluster.ref in json.dumps(found["notRead"])


@pytest.mark.one_in(5)
@pytest.mark.parametrize("source", ["snapshot", "server"])
@pytest.mark.parametrize("kind", ["RuntimeClass", "PriorityClass", "Pod", "ResourceQuota", "Deployment"])
def test_an_object_that_says_another_kind_is_of_its_list(
    kind: str,
    source: str,
    spoilt: Callable[[str], Cluster],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(SPOILT, "odd", (kind, "", call_odd))
    cluster = spoilt("odd")
    if source == "server":
        # What is filed under its own kind cannot be listed under another one.
        cluster.server.objects = [
            item if item["kind"] != "Odd" else Misfiled(item, kind) for item in cluster.server.objects
        ]
    flags = f" --snapshot {cluster.snapshot}" if source == "snapshot" else ""
    for command in ("simulate --scale deploy/cart=9 -n shop", "explain deploy -A", "check -A", "quota -A --denied"):
        code, _, err = run(f"{command}{flags}", monkeypatch, capsys)
        assert code in {0, 1, 4}, (command, code, err)


class Misfiled(dict[str, Any]):
    """An object that the test's server lists as of ``kind``, and sends as it is."""

    def __init__(self, item: Raw, kind: str) -> None:
        super().__init__(item)
        self.kind = kind

    def __getitem__(self, key: str) -> Any:
        return self.kind if key == "kind" else super().__getitem__(key)


@pytest.mark.thorough
def test_containers_without_a_name_end_no_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No server stores them; a proxy, or a snapshot that was edited, can hold them."""
    world = World("")
    for page in world.pages:
        for item in page["items"]:
            spec = item.get("spec") or {}
            for holder in (spec, (spec.get("template") or {}).get("spec") or {}):
                for container in holder.get("containers") or ():
                    container.pop("name", None)
    file = tmp_path / "nameless.kres"
    file.write_bytes(world.snapshot())
    commands = (
        "explain pods -A", "check -A", "overview -A", "explain deploy,sts,ds,jobs -A -o json", "diff deploy -A",
        "explain deploy/gateway -n payments --all", "simulate --evict vpa/gateway -n payments",
        "simulate --rollouts 3 -n shop", "quota --fit deploy/cart -n shop", "explain taskruns -A", "qos --open -A",
    )  # fmt: skip
    for words in commands:
        code, out, err = run(f"{words} --snapshot {file}", monkeypatch, capsys)
        assert code in {0, 1, 4} and (out or err), (words, code, err)
