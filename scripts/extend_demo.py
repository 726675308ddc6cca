#!/usr/bin/env python3
"""Add to the bundled demo without making it anew: scripts/demo/added/, and what the scheduler looks at.

    KUBEBUILDER_ASSETS=DIR python scripts/extend_demo.py
    python scripts/extend_demo.py --stored              only scripts/demo/stored/; needs no server

A real API server with controllers and the real kube-scheduler plays the added files beside nodes that are as full as
those of the demo. Of what comes of it the objects of the added namespaces are put into the file, their times moved to
just before the demo was read. The objects of stored/ are put into the file as they stand, with the status that their
controllers give them. All other objects stay as they are. Running it again replaces what was added.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import msgspec

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "scripts" / "demo"), str(ROOT / "tests" / "controlplane"), str(ROOT)]

import build
import make_demo
import statuses
from controlplane import BASIC_CONTROLLERS, WORKLOAD_CONTROLLERS, ControlPlane
from kube import Kube, Object, documents

from kubectl_kres.cluster.connection import connect
from kubectl_kres.cluster.kubeconfig.current_context import ConnectOptions, load
from kubectl_kres.cluster.read.fill_store import fill
from kubectl_kres.model import scheduling
from kubectl_kres.model.kinds import BY_KIND, is_view
from kubectl_kres.model.objects import BOUND_PODS, decode_object
from kubectl_kres.model.scheduling import SchedulingNode, SchedulingPod
from kubectl_kres.scheduling.node_info import gather_pods
from kubectl_kres.snapshot.format import FORMAT, PAGE
from kubectl_kres.snapshot.read import read
from kubectl_kres.snapshot.scheduling import find_views
from kubectl_kres.snapshot.write import write
from kubectl_kres.store.store import Origin, ReadRequest, Store

ADDED = sorted((ROOT / "scripts" / "demo" / "added").glob("*.yaml"))
SPACES = {
    document["metadata"]["name"] for file in ADDED for document in documents(file) if document["kind"] == "Namespace"
}
VIEWS = (scheduling.NODES, scheduling.POD, BOUND_PODS)
STORED = [item for file in sorted((ROOT / "scripts" / "demo" / "stored").glob("*.yaml")) for item in documents(file)]
STORED_KEYS = {(one["kind"], one["metadata"].get("namespace", ""), one["metadata"]["name"]) for one in STORED}
#: Kinds that came after the demo was made, of whose objects it has none.
NEWER = (
    *("DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "RuleStatus", "VerticalPodAutoscaler"),
    *("Workload", "LocalQueue", "ClusterQueue", "ResourceFlavor", "Cohort", "AdmissionCheck", "WorkloadPriorityClass"),
)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def main() -> int:
    if sys.argv[1:] == ["--stored"]:
        whole = make_demo.OUT.read_bytes().splitlines(keepends=True)[:-1]
        pages = merged([], whole[1:], kept=lambda kind, item: not is_stored(kind, item))
        views_from = next((at for at, line in enumerate(pages) if is_view(json.loads(line)["kind"])), len(pages))
        lines = merged(pages[:views_from], stored(whole[0]))
        make_demo.OUT.write_bytes(joined([whole[0], *lines, *pages[views_from:]]))
        return 0
    old = kept_lines(make_demo.OUT.read_bytes())
    make_demo.OUT.write_bytes(joined(old))
    store = read(str(make_demo.OUT))
    new = Store(store.origin)
    with ControlPlane(build.locate(), controllers=(*BASIC_CONTROLLERS, *WORKLOAD_CONTROLLERS), scheduler=True) as plane:
        with Kube(build.kubectl(build.locate()), plane.kubeconfig) as kube:
            play(kube, store)
        add(new, make_demo.read(plane.kubeconfig), views(plane.kubeconfig))
    look(store, new)
    make_demo.OUT.write_bytes(joined([old[0], *merged(old[1:], [*stored(old[0]), *written(new)])]))
    return 0


def written(store: Store) -> list[bytes]:
    """The pages of a store as a snapshot has them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "added.kres"
        write(store, str(path))
        return path.read_bytes().splitlines(keepends=True)[1:-1]


def stored(head: bytes) -> list[bytes]:
    """Pages of the objects that are put in as they stand; one without a time was made when the demo was read."""
    store = Store(Origin("snapshot"))
    for item in STORED:
        made = {"creationTimestamp": json.loads(head)["time"], "uid": uid(item["kind"], item["metadata"])}
        metadata = {**made, **item["metadata"]}
        for owner in metadata.get("ownerReferences", ()):
            space = metadata["namespace"] if BY_KIND[owner["kind"]].namespaced else ""
            owner["uid"] = uid(owner["kind"], {**owner, "namespace": space})
        if "involvedObject" in item:
            item["involvedObject"]["uid"] = uid(item["involvedObject"]["kind"], item["involvedObject"])
        store.add(item["kind"], decode_object({**item, "metadata": metadata}, BY_KIND[item["kind"]].detail))
    return written(store)


def uid(kind: str, named: Object) -> str:
    return str(uuid5(NAMESPACE_URL, f"{kind}/{named.get('namespace', '')}/{named['name']}"))


def kept_lines(data: bytes) -> list[bytes]:
    """The header and the pages of the file without what was added before."""
    head, *pages = data.splitlines(keepends=True)[:-1]
    return [head, *merged([], pages, kept=lambda kind, item: not is_view(kind) and not is_added(kind, item))]


def is_added(kind: str, item: Object) -> bool:
    metadata = item["metadata"]
    return (metadata["name"] if kind == "Namespace" else metadata.get("namespace")) in SPACES or is_stored(kind, item)


def is_stored(kind: str, item: Object) -> bool:
    metadata = item.get("metadata", {})
    return (kind, metadata.get("namespace", ""), metadata.get("name")) in STORED_KEYS


def merged(
    first: Sequence[bytes], second: Sequence[bytes], kept: Callable[[str, Object], bool] = lambda _kind, _item: True
) -> list[bytes]:
    """Pages of both, each kind once and in the order of its names, as a server lists it."""
    kinds: dict[tuple[str, bool], list[Object]] = {}
    for page in map(json.loads, (*first, *second)):
        items = [item for item in page["items"] if kept(page["kind"], item)]
        kinds.setdefault((page["kind"], "managed" in page), []).extend(items)
    lines = []
    for (kind, managed), items in kinds.items():
        items.sort(
            key=lambda item: (item.get("metadata", item).get("namespace", ""), item.get("metadata", item)["name"])
        )
        for page in batched(items):
            marks = {"managed": True} if managed else {}
            text = json.dumps({"kind": kind, **marks, "items": page}, separators=(",", ":"), ensure_ascii=False)
            lines.append(text.encode() + b"\n")
    return lines


def batched(items: Sequence[Object]) -> Iterator[Sequence[Object]]:
    for start in range(0, len(items), PAGE):
        yield items[start : start + PAGE]


def joined(lines: Sequence[bytes]) -> bytes:
    """The file, its header with what is known and counted, and an end."""
    head = {**json.loads(lines[0]), "format": FORMAT, "counts": {}}
    pages = [json.loads(line) for line in lines[1:]]
    for page in pages:
        if not is_view(page["kind"]):
            head["counts"][page["kind"]] = head["counts"].get(page["kind"], 0) + len(page["items"])
    known = [each for each in head["coverage"] if not is_view(each["need"]["kind"])]
    known += [
        {"need": {"kind": kind}, "coverage": {"state": "read"}} for kind in NEWER if kind not in map(kind_of, known)
    ]
    seen = [kind for kind in VIEWS if any(page["kind"] == kind for page in pages)]
    covered = [{"need": {"kind": kind, "required": False}, "coverage": {"state": "read"}} for kind in seen]
    head["counts"], head["coverage"] = dict(sorted(head["counts"].items())), [*known, *covered]
    body = b"".join([json.dumps(head, separators=(",", ":")).encode() + b"\n", *lines[1:]])
    end = b'{"end":true,"objects":%d,"coverage":null,"crc32":' % sum(head["counts"].values())
    return body + end + b"%d}\n" % zlib.crc32(end, zlib.crc32(body))


def kind_of(covered: Object) -> str:
    kind: str = covered["need"]["kind"]
    return kind


def play(kube: Kube, store: Store) -> None:
    """The nodes with what runs on them, then the added files; what starts is shown before it runs."""
    kube.apply(
        [one for one in documents(make_demo.DEMO / "cluster.yaml") if one["kind"] == "PriorityClass"], "terraform"
    )
    kube.apply([{**raw("Node", node), "status": {}} for node in store.all("Node")], "terraform")
    full = [{**raw("Node", node), "status": msgspec.to_builtins(node.status)} for node in store.all("Node")]
    kube.put_status(full, "kubelet")
    kube.run("taint", "nodes", "--all", "node.kubernetes.io/not-ready-")
    kube.apply(fillers(store), "terraform")
    for file in ADDED:
        make_demo.apply_file(kube, file, "argocd-controller")
    make_demo.until("the scheduler has looked at every pod", lambda: all(map(looked_at, added_pods(kube))))
    kube.put_status([creating(pod) for pod in added_pods(kube) if statuses.node_of(pod)], "kubelet")


def raw(kind: str, item: Any) -> Object:
    """What can be applied of an object of the demo."""
    metadata = {"name": item.metadata.name, "labels": item.metadata.labels or {}}
    return {"apiVersion": BY_KIND[kind].api_version, "kind": kind, "metadata": metadata}


def fillers(store: Store) -> Iterator[Object]:
    """For each pod on a node one that asks for the same."""
    pods = gather_pods([[msgspec.convert(msgspec.to_builtins(pod), SchedulingPod) for pod in store.all("Pod")]])
    for node, placed in pods.on_nodes.items():
        for number, pod in enumerate(placed):
            asked = {"cpu": f"{pod.requests.get('cpu', 0)}m", "memory": str(pod.requests.get("memory", 0))}
            container = {"name": "filler", "image": "example.com/filler", "resources": {"requests": asked}}
            yield {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": f"filler-{node}-{number}", "namespace": "default"},
                "spec": {"nodeName": node, "containers": [container]},
            }


def added_pods(kube: Kube) -> list[Object]:
    return [pod for pod in kube.items("pods") if pod["metadata"]["namespace"] in SPACES]


def looked_at(pod: Object) -> bool:
    return statuses.condition(pod, "PodScheduled") is not None


def creating(pod: Object) -> Object:
    """A pod whose node is about to start its containers."""
    waiting = {"waiting": {"reason": "ContainerCreating"}}
    containers = [
        {
            "name": each["name"],
            "image": each["image"],
            "imageID": "",
            "ready": False,
            "restartCount": 0,
            "state": waiting,
        }
        for each in pod["spec"]["containers"]
    ]
    unready = [statuses.stated(name, "False", "ContainersNotReady") for name in ("Ready", "ContainersReady")]
    status = {**pod["status"], "containerStatuses": containers, "conditions": [*pod["status"]["conditions"], *unready]}
    return {**pod, "status": status}


def views(kubeconfig: Path) -> Store:
    """The added pods as the scheduler sees them."""
    options = ConnectOptions(kubeconfig=str(kubeconfig))
    store = Store(Origin("cluster"))
    fill(connect(load(options), options), store, [ReadRequest(scheduling.POD)])
    return store


def add(store: Store, played: Store, seen: Store) -> None:
    """The objects of the added namespaces, as if they had been made just before the demo was read."""
    newest = max(pod.metadata.creation_timestamp or "" for pod in played.all("Pod"))
    shift = moment(store.origin.time) - moment(newest) - timedelta(seconds=15)
    for source in (played, seen):
        for kind in source.kinds():
            for item in source.all(kind):
                if (kind != "ServiceAccount" and item.metadata.namespace in SPACES) or (
                    kind == "Namespace" and item.metadata.name in SPACES
                ):
                    store.add(kind, shifted(item, shift))


def shifted(item: Any, by: timedelta) -> Any:
    """The object with all its times moved."""
    text = msgspec.json.encode(item).decode()
    return msgspec.json.decode(_TIME.sub(lambda found: stamp(moment(found[0]) + by), text), type=type(item))


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def stamp(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def look(store: Store, new: Store) -> None:
    """What the scheduler looks at: of what the demo held before, its structs have all of it."""
    own = list(new.all(scheduling.POD))
    new.forget(scheduling.POD)
    for node in store.all("Node"):
        new.add(scheduling.NODES, msgspec.convert(msgspec.to_builtins(node), SchedulingNode))
    pods = [*own, *(msgspec.convert(msgspec.to_builtins(pod), SchedulingPod) for pod in store.all("Pod"))]
    for pod in dict(find_views("Pod", pods, everywhere=False))[scheduling.POD]:
        new.add(scheduling.POD, pod)
    new.add(BOUND_PODS, gather_pods([pods]))


if __name__ == "__main__":
    sys.exit(main())
