#!/usr/bin/env python3
"""Record what Tekton's own controller makes of workspaces' claims and affinity assistants on a real API server.

    git clone or `go mod download` github.com/tektoncd/pipeline@v1.15.0, then in its folder
    go build -o /tmp/controller ./cmd/controller
    python scripts/record_tekton_claims.py --controller /tmp/controller --source FOLDER OUT.json

Control plane: that of tests/controlplane (``KUBEBUILDER_ASSETS``). Only loopback is used. Tekton's webhooks do not run,
so objects are stored as they are sent. Nothing schedules pods.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "controlplane"))

import build
from controlplane import BASIC_CONTROLLERS, WORKLOAD_CONTROLLERS, ControlPlane, free_port

Raw = dict[str, Any]
SPACE = "tekton-pipelines"
NAMES = (
    "config-defaults",
    "config-logging",
    "config-observability",
    "config-spire",
    "config-leader-election-controller",
)
CONFIGS = (
    *NAMES,
    "feature-flags",
    "config-events",
    "config-tracing",
    "config-wait-exponential-backoff",
    "config-registry-cert",
    "pipelines-info",
)
#: Seconds in which nothing may change any more, and the longest that is waited for it.
STILL, LONGEST = 3.0, 25.0


def quota(name: str, **hard: str) -> Raw:
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name}, "spec": {"hard": hard}}


def limits(kind: str, **item: Raw) -> Raw:
    spec = {"limits": [{"type": kind, **item}]}
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "lr"}, "spec": spec}


def filler(name: str, storage: str = "1Gi", **spec: Any) -> Raw:
    own = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}, **spec}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": own}


def template(storage: str = "1Gi", name: str = "", **spec: Any) -> Raw:
    own = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}, **spec}
    return {**({"metadata": {"name": name}} if name else {}), "spec": own}


GOLD = "gold.storageclass.storage.k8s.io/"
#: By name: the objects of the namespace, and the claim templates of the run's workspaces.
POLICIES: dict[str, tuple[list[Raw], list[Raw]]] = {
    "free": ([], [template()]),
    "count-full": ([quota("q", persistentvolumeclaims="1"), filler("old")], [template()]),
    "count-room": ([quota("q", persistentvolumeclaims="2"), filler("old")], [template()]),
    "count-of-objects": ([quota("q", **{"count/persistentvolumeclaims": "0"})], [template()]),
    "storage-short": ([quota("q", **{"requests.storage": "2Gi"}), filler("old")], [template("1536Mi")]),
    "storage-never": ([quota("q", **{"requests.storage": "1Gi"})], [template("2Gi", "data")]),
    "class-count": ([quota("q", **{f"{GOLD}persistentvolumeclaims": "0"})], [template(storageClassName="gold")]),
    "class-storage": ([quota("q", **{f"{GOLD}requests.storage": "1Gi"})], [template("3Gi", storageClassName="gold")]),
    "class-other": ([quota("q", **{f"{GOLD}requests.storage": "1Gi"})], [template("3Gi", storageClassName="lead")]),
    "range-max": ([limits("PersistentVolumeClaim", max={"storage": "500Mi"})], [template()]),
    "range-min": ([limits("PersistentVolumeClaim", min={"storage": "2Gi"})], [template()]),
    "range-and-quota": (
        [limits("PersistentVolumeClaim", max={"storage": "500Mi"}), quota("q", persistentvolumeclaims="0")],
        [template()],
    ),
    "two-quotas": ([quota("q", persistentvolumeclaims="0"), quota("r", **{"requests.storage": "1"})], [template()]),
    "two-of-one": ([quota("q", persistentvolumeclaims="1")], [template(), template("2Gi", "second")]),
    "no-mode": ([], [{"spec": {"resources": {"requests": {"storage": "1Gi"}}}}]),
}
STEP = {"name": "s", "image": "alpine", "command": ["sh"]}
RESTRICTED = {
    "allowPrivilegeEscalation": False, "runAsNonRoot": True, "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}  # fmt: skip


def pipeline_run(workspaces: list[Raw], context: Raw | None = None, **spec: Any) -> Raw:
    names = [{"name": workspace["name"]} for workspace in workspaces]
    step = {**STEP, **({"securityContext": context} if context else {})}
    task = {"name": "t", "workspaces": names[:1], "taskSpec": {"workspaces": names[:1], "steps": [step]}}
    spec = {"workspaces": workspaces, "pipelineSpec": {"workspaces": names, "tasks": [task]}, **spec}
    return {"apiVersion": "tekton.dev/v1", "kind": "PipelineRun", "metadata": {"name": "run"}, "spec": spec}


def task_run(workspaces: list[Raw], **spec: Any) -> Raw:
    names = [{"name": workspace["name"]} for workspace in workspaces]
    spec = {"workspaces": workspaces, "taskSpec": {"workspaces": names, "steps": [STEP]}, **spec}
    return {"apiVersion": "tekton.dev/v1", "kind": "TaskRun", "metadata": {"name": "run"}, "spec": spec}


def bound(templates: list[Raw]) -> list[Raw]:
    return [{"name": f"w{index}", "volumeClaimTemplate": one} for index, one in enumerate(templates)]


def worlds() -> Iterator[Raw]:
    """Each with its name, flags, labels of the namespace, the objects that are there, and the run."""

    def world(name: str, given: list[Raw], run: Raw, flags: Raw | None = None, labels: Raw | None = None) -> Raw:
        return {"name": name, "flags": flags or {}, "labels": labels or {}, "given": given, "run": run}

    for name, (given, templates) in POLICIES.items():
        for mode in ("workspaces", "disabled", "pipelineruns"):
            yield world(f"pipelinerun-{mode}-{name}", given, pipeline_run(bound(templates)), {"coschedule": mode})
        if name != "two-of-one":
            yield world(f"taskrun-{name}", given, task_run(bound(templates)), {"coschedule": "disabled"})
    given, templates = POLICIES["two-of-one"]
    yield world("taskrun-two-of-one", given, task_run(bound(templates)), {"coschedule": "disabled"})
    given, templates = POLICIES["count-full"]
    yield world("taskrun-retries", given, task_run(bound(templates), retries=1), {"coschedule": "disabled"})
    shared = [{"name": name, "persistentVolumeClaim": {"claimName": "old"}} for name in ("w0", "w1")]
    yield world("two-workspaces-one-claim", [filler("old")], pipeline_run(shared))
    claim = shared[:1]
    low = limits("Container", min={"cpu": "100m", "memory": "128Mi"}, defaultRequest={"cpu": "100m", "memory": "128Mi"})
    yield world("assistant-below-min", [filler("old"), low], pipeline_run(claim))
    yield world("assistant-no-pods", [filler("old"), quota("q", pods="0")], pipeline_run(claim))
    yield world("assistant-no-cpu", [filler("old"), quota("q", **{"limits.cpu": "20m"})], pipeline_run(claim))
    for level in ("restricted", "baseline"):
        labels = {"pod-security.kubernetes.io/enforce": level}
        for flag in ("false", "true"):
            flags = {"set-security-context": flag}
            run = pipeline_run(claim, RESTRICTED)
            yield world(f"assistant-{level}-{flag}", [filler("old")], run, flags, labels)
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    nobody = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    run = pipeline_run(claim, RESTRICTED, taskRunTemplate={"podTemplate": {"securityContext": nobody}})
    yield world("assistant-restricted-template", [filler("old")], run, {"set-security-context": "false"}, labels)
    yield world("taskrun-pending", [], task_run([], status="TaskRunPending"))
    yield world("pipelinerun-pending", [], pipeline_run([], status="PipelineRunPending"))


class Recorder:
    """A control plane with Tekton's controller beside it."""

    def __init__(self, plane: ControlPlane, source: Path) -> None:
        self.plane, self.source = plane, source

    def call(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Any:
        code, answer = self.plane.request(method, path, body, content_type=content_type)
        if code >= 300:
            raise SystemExit(f"{method} {path}: {code} {answer}")
        return answer

    def install(self) -> None:
        """Tekton's definitions and ConfigMaps, without its webhooks."""
        self.call("POST", "/api/v1/namespaces", {"metadata": {"name": SPACE}})
        for path in sorted((self.source / "config" / "300-crds").glob("*.yaml")):
            raw = yaml.safe_load(path.read_text())
            raw["spec"].pop("conversion", None)
            self.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", raw)
        there = set()
        for path in sorted((self.source / "config").glob("config-*.yaml")):
            for raw in yaml.safe_load_all(path.read_text()):
                if raw and raw["kind"] == "ConfigMap":
                    raw["metadata"]["namespace"] = SPACE
                    there.add(raw["metadata"]["name"])
                    self.call("POST", f"/api/v1/namespaces/{SPACE}/configmaps", raw)
        for name in set(CONFIGS) - there:
            self.call("POST", f"/api/v1/namespaces/{SPACE}/configmaps", {"metadata": {"name": name}, "data": {}})
        for name in ("gold", "lead"):
            raw = {"metadata": {"name": name}, "provisioner": "example.org/none"}
            self.call("POST", "/apis/storage.k8s.io/v1/storageclasses", raw)
        time.sleep(3)

    def flags(self, data: Raw) -> None:
        flags = {"coschedule": "workspaces", "set-security-context": "false", **data}
        path = f"/api/v1/namespaces/{SPACE}/configmaps/feature-flags"
        self.call("PATCH", path, {"data": flags}, "application/merge-patch+json")
        time.sleep(3)

    def prepare(self, world: Raw, space: str) -> None:
        self.call("POST", "/api/v1/namespaces", {"metadata": {"name": space, "labels": world["labels"]}})
        claims = [raw for raw in world["given"] if raw["kind"] == "PersistentVolumeClaim"]
        for raw in [*claims, *(raw for raw in world["given"] if raw not in claims)]:
            self.call("POST", f"/api/v1/namespaces/{space}/{raw['kind'].lower()}s", raw)

    def counted(self, space: str) -> bool:
        """Whether the quotas of a namespace are counted, and its service account is there."""
        items = self.call("GET", f"/api/v1/namespaces/{space}/resourcequotas")["items"]
        ready = all((item.get("status") or {}).get("used", {}).keys() == item["spec"]["hard"].keys() for item in items)
        return ready and self.plane.request("GET", f"/api/v1/namespaces/{space}/serviceaccounts/default")[0] == 200

    def start(self, world: Raw, space: str) -> None:
        items = self.call("GET", f"/api/v1/namespaces/{space}/resourcequotas")["items"]
        world["quotas"] = {item["metadata"]["name"]: item["status"]["used"] for item in items}
        raw = world["run"]
        path = f"/apis/tekton.dev/v1/namespaces/{space}/{raw['kind'].lower()}s"
        world["uid"] = self.call("POST", path, raw)["metadata"]["uid"]

    def seen(self, world: Raw, space: str) -> Raw:
        """What has become of the run."""
        kind = world["run"]["kind"].lower()
        run = self.call("GET", f"/apis/tekton.dev/v1/namespaces/{space}/{kind}s/run")
        conditions = [one for one in run.get("status", {}).get("conditions", []) if one["type"] == "Succeeded"]
        condition = {key: conditions[0].get(key, "") for key in ("status", "reason", "message")} if conditions else {}
        claims = self.call("GET", f"/api/v1/namespaces/{space}/persistentvolumeclaims")["items"]
        pods = self.call("GET", f"/api/v1/namespaces/{space}/pods")["items"]
        sets = self.call("GET", f"/apis/apps/v1/namespaces/{space}/statefulsets")["items"]
        runs = self.call("GET", f"/apis/tekton.dev/v1/namespaces/{space}/taskruns")["items"]
        events = self.call("GET", f"/api/v1/namespaces/{space}/events")["items"]
        failed = {
            event["message"]
            for event in events
            if event["reason"] == "FailedCreate" and event["involvedObject"]["kind"] == "StatefulSet"
        }
        old = {raw["metadata"]["name"] for raw in world["given"]}
        return {
            "condition": {key: text.replace(space, "case") for key, text in condition.items()},
            "retries": len(run.get("status", {}).get("retriesStatus") or []),
            "claims": sorted(one["metadata"]["name"] for one in claims if one["metadata"]["name"] not in old),
            "statefulSets": sorted(one["metadata"]["name"] for one in sets),
            "pods": sorted(one["metadata"]["name"] for one in pods),
            "taskRuns": sorted(one["metadata"]["name"] for one in runs) if kind == "pipelinerun" else [],
            "failedCreate": sorted(text.replace(space, "case") for text in failed),
        }


def record(recorder: Recorder) -> list[Raw]:
    groups: dict[str, list[Raw]] = {}
    for world in worlds():
        groups.setdefault(json.dumps(world["flags"], sort_keys=True), []).append(world)
    cases = []
    number = 0
    for flags, group in groups.items():
        recorder.flags(json.loads(flags))
        spaces = {}
        for world in group:
            number += 1
            spaces[world["name"]] = f"case-{number}"
            recorder.prepare(world, spaces[world["name"]])
        for world in group:
            deadline = time.monotonic() + 30
            while not recorder.counted(spaces[world["name"]]) and time.monotonic() < deadline:
                time.sleep(0.2)
            recorder.start(world, spaces[world["name"]])
        last: Raw = {}
        begun = changed = time.monotonic()
        while time.monotonic() - changed < STILL and time.monotonic() - begun < LONGEST:
            time.sleep(1)
            now = {world["name"]: recorder.seen(world, spaces[world["name"]]) for world in group}
            if now != last:
                last, changed = now, time.monotonic()
        cases += [{**world, "expect": last[world["name"]]} for world in group]
        print(f"{len(cases)} worlds", file=sys.stderr)
    return cases


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--controller", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    controllers = (*BASIC_CONTROLLERS, *WORKLOAD_CONTROLLERS)
    with ControlPlane(build.locate(), controllers=controllers) as plane:
        recorder = Recorder(plane, args.source)
        recorder.install()
        images = {name: f"example.org/{name}" for name in ("entrypoint", "nop", "sidecarlogresults", "workingdirinit")}
        flags = [f"--{name}-image={image}" for name, image in images.items()]
        flags += ["--shell-image=example.org/shell", "--shell-image-win=example.org/shell", "--disable-ha"]
        environment = {
            **os.environ, "SYSTEM_NAMESPACE": SPACE, "PROBES_PORT": str(free_port()), "METRICS_DOMAIN": "tekton.dev",
            "CONFIG_DEFAULTS_NAME": "config-defaults", "CONFIG_FEATURE_FLAGS_NAME": "feature-flags",
            "CONFIG_LOGGING_NAME": "config-logging", "CONFIG_OBSERVABILITY_NAME": "config-observability",
            "CONFIG_LEADERELECTION_NAME": "config-leader-election-controller", "CONFIG_SPIRE": "config-spire",
            "KUBERNETES_MIN_VERSION": "v1.28.0", "KUBECONFIG": str(plane.kubeconfig),
        }  # fmt: skip
        command = [args.controller, f"--kubeconfig={plane.kubeconfig}", "--kube-api-qps=200", "--kube-api-burst=400"]
        log = Path("/tmp") / f"tekton-controller-{os.getpid()}.log"
        with (
            log.open("wb") as out,
            subprocess.Popen([*command, *flags], env=environment, stdout=out, stderr=out) as run,
        ):
            try:
                time.sleep(8)
                if run.poll() is not None:
                    raise SystemExit(f"the controller ended: {log.read_text()[-3000:]}")
                cases = record(recorder)
                version = plane.request("GET", "/version")[1]["gitVersion"]
            finally:
                run.terminate()
        text = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
        head = json.dumps({"tekton": "v1.15.0", "kubernetes": version})[:-1]
        args.out.write_text(f'{head}, "cases": [\n{text}\n]}}\n')


if __name__ == "__main__":
    main()
