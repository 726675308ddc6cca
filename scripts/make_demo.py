#!/usr/bin/env python3
"""Make the bundled demo, kubectl_kres/demo/shop.kres, from a real API server with the real controllers.

    python scripts/make_demo.py                                  start a control plane, play the demo, write the file
    python scripts/make_demo.py --apply-only --kubeconfig FILE   only play it, on a control plane that runs

The objects are those of scripts/demo/: first its own files, then those of later/, when the pods of the first are there,
then Capsule's in ml/ and Tekton's in ci/. No scheduler and no kubelet runs: scripts/demo/standin.py writes what they
would. Nor does Capsule or Tekton: pools.py and runs.py write what kres' own engine says that their controllers do, and
the API server answers to it. Another run makes a file that differs in what the server chooses: the ends of pod names,
UIDs, times, and which LimitRange fills the one pod of the shop that is made while there are two.
scripts/extend_demo.py then adds the objects of added/ and what the scheduler looks at.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import yaml

ROOT = Path(__file__).resolve().parents[1]
DEMO = ROOT / "scripts" / "demo"
sys.path[:0] = [str(DEMO), str(ROOT / "tests" / "controlplane"), str(ROOT)]

import build  # found by the line above
import crds
import pools
import runs
import standin
import statuses
from controlplane import BASIC_CONTROLLERS, WORKLOAD_CONTROLLERS, ControlPlane, StartError
from kube import DemoError, Kube, Object, documents
from msgspec.structs import replace

from kubectl_kres.cluster.connection import connect
from kubectl_kres.cluster.kubeconfig.current_context import ConnectOptions, load
from kubectl_kres.cluster.read.fill_store import fill, version
from kubectl_kres.errors import KresError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.snapshot.write import write
from kubectl_kres.store.store import Origin, ReadRequest, Store
from kubectl_kres.tekton.rules.base import config

OUT = ROOT / "kubectl_kres" / "demo" / "shop.kres"
#: Files in the order of applying, with the field manager that stands in the objects' managedFields.
FIRST = {
    "cluster.yaml": "terraform",
    "shop-chart.yaml": "helm",
    "shop.yaml": "argocd-controller",
    "checkout.yaml": "argocd-controller",
    "payments.yaml": "argocd-controller",
    "batch.yaml": "argocd-controller",
    "platform.yaml": "argocd-controller",
    "staging.yaml": "argocd-controller",
    "ci/base.yaml": "terraform",
    "ci/tasks.yaml": "argocd-controller",
    "ml/base.yaml": "terraform",
}
LATER = {
    "later/shop.yaml": "kustomize-controller",
    "later/checkout.yaml": "argocd-controller",
    "later/platform.yaml": "argocd-controller",
}
BY_HAND = DEMO / "later" / "by-hand.yaml"
#: What holds no pod template and is in force before anything that does.
POLICIES = {
    "Namespace", "PriorityClass", "RuntimeClass", "Node", "LimitRange", "ResourceQuota",
    "ValidatingWebhookConfiguration",
}  # fmt: skip
#: Those of batch and staging whose pods a quota or a webhook stops, and those of checkout that each another rule stops.
REFUSED = {"checkout", "fraud-model", "notebook-hub", "receipts", "scanner", "thumbnails", "workers"}
WATCHED = "pods,resourcequotas,deployments,replicasets,statefulsets,daemonsets,jobs,replicationcontrollers"
QUIET, DEADLINE, POLL = 3.0, 900.0, 0.2
"""Seconds: without a change until the cluster counts as settled; until giving up; between two looks."""


def main() -> int:
    options = arguments().parse_args()
    try:
        if options.apply_only:
            refuse_real(options.kubeconfig)
            with Kube(options.kubectl or build.kubectl(build.locate()), options.kubeconfig) as kube:
                apply_all(kube)
            return 0
        assets = build.complete()
        with control_plane(assets) as plane:
            with Kube(options.kubectl or build.kubectl(assets), plane.kubeconfig) as kube:
                apply_all(kube)
            store = read(plane.kubeconfig)
    except (StartError, build.NoBinaryError, DemoError, KresError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    options.out.parent.mkdir(exist_ok=True)
    write(store, str(options.out))
    options.out.chmod(0o644)
    counts = ", ".join(f"{sum(1 for _ in store.all(kind))} {kind}" for kind in store.kinds())
    print(f"{options.out}: {options.out.stat().st_size} bytes; {counts}")
    return 0


def control_plane(assets: Path) -> ControlPlane:
    """A control plane with the controllers of the demo's workloads, and quotas that are counted often."""
    controllers = (*BASIC_CONTROLLERS, *WORKLOAD_CONTROLLERS, "replicationcontroller-controller")
    return ControlPlane(assets, controllers=controllers, controller_args=["--resource-quota-sync-period=1s"])


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Make the bundled demo from a real control plane.")
    parser.add_argument("--out", type=Path, default=OUT, metavar="FILE", help="the snapshot to write")
    parser.add_argument("--apply-only", action="store_true", help="play the demo on a cluster and write no file")
    parser.add_argument("--kubeconfig", type=Path, help="of the cluster, with --apply-only; a throw-away one!")
    parser.add_argument("--kubectl", type=Path, help="default: the one on PATH, else the built one")
    return parser


def refuse_real(kubeconfig: Path | None) -> None:
    """Raise DemoError for a cluster that somebody may use: the demo makes nodes and deletes pods."""
    if kubeconfig is None:
        raise DemoError("--apply-only needs --kubeconfig")
    host = urlsplit(load(ConnectOptions(kubeconfig=str(kubeconfig))).server).hostname or ""
    if host not in {"127.0.0.1", "::1", "localhost"}:
        raise DemoError(f"{host} is not this machine: the demo is only for throw-away control planes")


def apply_all(kube: Kube) -> None:
    """Play the whole demo. Raises DemoError."""
    install(kube)
    for file, manager in FIRST.items():
        apply_file(kube, DEMO / file, manager)
        print(f"applied {file}", flush=True)
        if file == "cluster.yaml":
            kube.put_status(standin.node_statuses(kube.items("nodes")), standin.KUBELET)
            kube.run("taint", "nodes", "--all", "node.kubernetes.io/not-ready-")
    settle(kube)
    change(kube)
    settle(kube)
    share(kube)
    run(kube)
    happen(kube)
    settle(kube)
    until("every refused workload has its event", lambda: refused(kube) >= REFUSED)
    raise_quota(kube)


def raise_quota(kube: Kube) -> None:
    """Give staging room for one more pod: its controller waits between tries, a minute and more by now."""
    patch(kube, "quota/team", "staging", {"spec": {"hard": {"requests.cpu": "170m"}}}, "--field-manager=kubectl-edit")
    until("the quota of staging is in force", lambda: all(map(in_force, kube.items("resourcequotas"))))


def install(kube: Kube) -> None:
    """Make the server know Capsule's and Tekton's kinds."""
    definitions = list(crds.definitions())
    kube.apply(definitions, "helm")
    groups = {definition["spec"]["group"] for definition in definitions}
    kinds = [kind for kind in BY_KIND.values() if kind.group in groups and kind.listed]
    until("the kinds of Capsule and Tekton are served", lambda: all(served(kube, kind.path()) for kind in kinds))


def served(kube: Kube, path: str) -> bool:
    try:
        kube.run("get", "--raw", f"{path}?limit=1")
    except DemoError:
        return False
    return True


def share(kube: Kube) -> None:
    """Capsule's part: pools, claims and what uses them."""
    pools.share(kube)
    apply_file(kube, DEMO / "ml" / "workloads.yaml", "argocd-controller")
    settle(kube)
    pools.go_on(kube)
    apply_file(kube, DEMO / "ml" / "notebooks.yaml", "argocd-controller")
    settle(kube)
    pools.count(kube)


def run(kube: Kube) -> None:
    """Tekton's part: runs that go, end, fail; at last one that has to wait for them."""
    runs.start(kube, "runs.yaml")
    settle(kube)
    runs.follow(kube)
    settle(kube)
    runs.start(kube, "waiting.yaml")


def apply_file(kube: Kube, file: Path, manager: str) -> None:
    """Policies first, the rest when the quotas are in force: before that a quota refuses whatever it would count."""
    found = documents(file)
    policies = [document for document in found if document["kind"] in POLICIES]
    rest = [document for document in found if document["kind"] not in POLICIES]
    if policies:
        kube.apply(policies, manager)
        until("all quotas are in force", lambda: all(map(in_force, kube.items("resourcequotas"))))
    if rest:
        kube.apply(rest, manager)


def in_force(quota: Object) -> bool:
    return bool(quota["spec"].get("hard", {}) == quota.get("status", {}).get("hard", {}))


def change(kube: Kube) -> None:
    """What people and controllers do after the first pods are there."""
    for file, manager in LATER.items():
        apply_file(kube, DEMO / file, manager)
        print(f"applied {file}", flush=True)
    kube.run("apply", "-f", str(BY_HAND))
    edit(kube, "shop", "defaults", "memory", request="192Mi", limit="512Mi")
    edit(kube, "checkout", "bounds", "memory", request="320Mi", limit="640Mi")
    kube.run("create", "job", "nightly-report-by-hand", "--from=cronjob/nightly-report", "-n", "batch")


def edit(kube: Kube, namespace: str, name: str, resource: str, *, request: str, limit: str) -> None:
    """Change a LimitRange's defaults of one resource, as a person with `kubectl edit`."""
    found = json.loads(kube.run("get", "limitrange", name, "-n", namespace, "-o", "json"))
    item = found["spec"]["limits"][0]
    item["defaultRequest"][resource], item["default"][resource] = request, limit
    changed = {"spec": {"limits": [item]}}
    patch(kube, f"limitrange/{name}", namespace, changed, "--field-manager=kubectl-edit")


def happen(kube: Kube) -> None:
    """What goes on at the nodes: pods end, are killed, put out and resized; claims are bound."""
    claims = kube.items("persistentvolumeclaims")
    kube.put_status([{**claim, "status": {"phase": "Bound"}} for claim in claims], standin.KUBELET)
    kube.put_status([statuses.out_of_memory(first(kube, "shop", "app=storefront"), 7)], standin.KUBELET)
    index = "batch.kubernetes.io/job-completion-index=0,batch.kubernetes.io/job-name=import-prices"
    report = "batch.kubernetes.io/job-name=nightly-report-by-hand"
    done = [statuses.succeeded(first(kube, "batch", selector)) for selector in (index, report)]
    kube.put_status(done, standin.KUBELET)
    pod, event = statuses.evicted(first(kube, "shop", "app=recommendations"), "238Mi")
    kube.put_status([pod], standin.KUBELET)
    kube.create([event], standin.KUBELET)
    resize(kube, first(kube, "shop", "app=catalog"), "448Mi", "896Mi")
    resize(kube, first(kube, "payments", "app=ledger-db"), "4Gi", "4Gi")


def first(kube: Kube, namespace: str, selector: str) -> Object:
    """The first of the selected pods by name."""
    for pod in kube.items("pods", "-l", selector):
        if pod["metadata"]["namespace"] == namespace:
            return pod
    raise DemoError(f"no pod {selector} in {namespace}")


def resize(kube: Kube, pod: Object, request: str, limit: str) -> None:
    """Change the memory of a pod's first container while it runs."""
    container = {
        "name": pod["spec"]["containers"][0]["name"],
        "resources": {"requests": {"memory": request}, "limits": {"memory": limit}},
    }
    metadata = pod["metadata"]
    spec = {"spec": {"containers": [container]}}
    patch(kube, f"pod/{metadata['name']}", metadata["namespace"], spec, "--subresource=resize", kind="strategic")


def patch(kube: Kube, name: str, namespace: str, change: Mapping[str, object], *args: str, kind: str = "merge") -> None:
    kube.run("patch", name, "-n", namespace, f"--type={kind}", "-p", yaml.safe_dump(change), *args)


def settle(kube: Kube) -> None:
    """Stand in for scheduler and kubelets until nothing has changed for a while. Raises DemoError."""
    seen: frozenset[str] = frozenset()
    since = time.monotonic()

    def quiet() -> bool:
        nonlocal seen, since
        pods = kube.items("pods")
        play = standin.Play(pods, [node["metadata"]["name"] for node in kube.items("nodes")])
        carry_out(kube, play)
        state = frozenset(
            f"{part['uid']} {part['resourceVersion']}" for part in (item["metadata"] for item in kube.items(WATCHED))
        )
        if play or state != seen:
            seen, since = state, time.monotonic()
        return time.monotonic() - since >= QUIET

    until("nothing changes any more", quiet)


def carry_out(kube: Kube, play: standin.Play) -> None:
    if play.bindings:
        kube.create(play.bindings, standin.SCHEDULER)
    if play.scheduler_statuses:
        kube.put_status(play.scheduler_statuses, standin.SCHEDULER)
    if play.kubelet_statuses:
        kube.put_status(play.kubelet_statuses, standin.KUBELET)
    if play.events:
        kube.create(play.events, standin.SCHEDULER)
    for pod in play.gone:
        name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        kube.run(
            "delete", "pod", name, "-n", namespace, "--force", "--grace-period=0", "--wait=false", "--ignore-not-found"
        )


def refused(kube: Kube) -> set[str]:
    """Names of the workloads whose pods were refused, by the events."""
    about = [event["involvedObject"] for event in kube.items("events", "--field-selector=reason=FailedCreate")]
    return {name for name in REFUSED for entry in about if entry["name"].startswith(name)}


def until(what: str, true: Callable[[], bool]) -> None:
    """Look again and again until it is true. Raises DemoError that says ``what`` did not come about."""
    deadline = time.monotonic() + DEADLINE
    while not true():
        if time.monotonic() > deadline:
            raise DemoError(f"after {DEADLINE:.0f} s it is still not so that {what}")
        time.sleep(POLL)


def read(kubeconfig: Path) -> Store:
    """All that the commands read, by the program's own reader; pods with their field managers."""
    options = ConnectOptions(kubeconfig=str(kubeconfig))
    connection = connect(load(options), options)
    store = Store(Origin("cluster", "scripts/make_demo.py", version(connection), statuses.now(), "demo"))
    warnings = {"Event": "type=Warning"}
    needs = [ReadRequest(name, field_selector=warnings.get(name, "")) for name, kind in BY_KIND.items() if kind.listed]
    needs += [ReadRequest("ConfigMap", config.NAMESPACE, name, required=False) for name in runs.MAPS]
    fill(connection, store, needs, kinds={name: replace(kind, struct=kind.detail) for name, kind in BY_KIND.items()})
    if store.gaps():
        raise DemoError(f"not everything could be read: {store.gaps()}")
    return store


if __name__ == "__main__":
    sys.exit(main())
