"""Record what Tekton's controller says of runs whose pods end or wait, before a real kube-apiserver: see README.md."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "controlplane"))
sys.path.insert(0, str(HERE))

import build  # noqa: E402, the path is set above
import yaml  # noqa: E402
from controlplane import BASIC_CONTROLLERS, ControlPlane  # noqa: E402
from settling import send, until  # noqa: E402
from worlds import World, worlds  # noqa: E402

MODULE = "github.com/tektoncd/pipeline@v1.15.0"
OUT = HERE / "recorded.json"
SYSTEM = "tekton-pipelines"
RUNS = "/apis/tekton.dev/v1/namespaces"
_IMAGES = ("entrypoint", "nop", "sidecarlogresults", "workingdirinit", "shell", "shell-image-win")
#: Seconds: until a run has a condition, and until what is said of it stays.
_SEEN, _STAYS = 30, 2.5
_MERGE = "application/merge-patch+json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--controller", type=Path, help="a binary that was built before")
    parser.add_argument("--only", default="", help="worlds whose name begins with this; they are printed, not kept")
    options = parser.parse_args()
    source = Path(json.loads(run("go", "mod", "download", "-json", MODULE))["Dir"])
    binary = options.controller or built(source)
    with ControlPlane(build.locate(), controllers=BASIC_CONTROLLERS, controller_args=["--kube-api-qps=200"]) as plane:
        install(plane, source)
        with controlling(plane, binary):
            played = [(name, world) for name, world in worlds() if name.startswith(options.only)]
            for number, (_, world) in enumerate(played):
                begin(plane, number, world)
            cases = [{"name": name, **play(plane, number, world)} for number, (name, world) in enumerate(played)]
        version = plane.request("GET", "/version")[1]["gitVersion"]
    if options.only:
        print(json.dumps(cases, indent=1))
        return
    head = json.dumps({"tekton": MODULE.partition("@")[2], "server": {"version": version}})[:-1]
    lines = ",\n".join(json.dumps(case) for case in cases)
    OUT.write_text(f'{head}, "cases": [\n{lines}\n]}}\n')


def run(*words: str, **options: Any) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True, **options).stdout


def built(source: Path) -> Path:
    """Build the controller inside a copy of Tekton's module."""
    folder = Path(tempfile.mkdtemp(prefix="tekton-"))
    shutil.copytree(source, folder / "pipeline")
    for path in (folder / "pipeline", *(folder / "pipeline").rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    shutil.rmtree(folder / "pipeline" / "vendor", ignore_errors=True)  # of old versions the list alone is there
    run("go", "build", "-mod=mod", "-o", str(folder / "controller"), "./cmd/controller", cwd=folder / "pipeline")
    return folder / "controller"


def install(plane: ControlPlane, source: Path) -> None:
    """The definitions of v1 alone, since no webhook converts here, and the configuration as it is shipped."""
    for file in sorted((source / "config" / "300-crds").glob("*.yaml")):
        definition = yaml.safe_load(file.read_text())
        definition["spec"].pop("conversion", None)
        versions = definition["spec"]["versions"]
        stored = [each for each in versions if each["storage"]]
        definition["spec"]["versions"] = stored
        send(plane, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
    until(lambda: plane.request("GET", "/apis/tekton.dev/v1/taskruns?limit=1")[0] == 200, _SEEN)
    send(plane, "POST", "/api/v1/namespaces", {"metadata": {"name": SYSTEM}})
    for file in sorted((source / "config").glob("config-*.yaml")):
        for item in yaml.safe_load_all(file.read_text()):
            if item and item["kind"] == "ConfigMap":
                send(plane, "POST", f"/api/v1/namespaces/{SYSTEM}/configmaps", item)


@contextmanager
def controlling(plane: ControlPlane, binary: Path) -> Iterator[None]:
    environment = {
        **os.environ, "KUBECONFIG": str(plane.kubeconfig), "SYSTEM_NAMESPACE": SYSTEM,
        "KUBERNETES_MIN_VERSION": "v1.28.0",
        "CONFIG_LOGGING_NAME": "config-logging", "CONFIG_OBSERVABILITY_NAME": "config-observability",
        "CONFIG_LEADERELECTION_NAME": "config-leader-election-controller", "METRICS_DOMAIN": "tekton.dev/pipeline",
        "PROBES_PORT": "0",
    }  # fmt: skip
    images = [word for name in _IMAGES for word in
              (f"-{name}-image" if not name.endswith("win") else f"-{name}", "example.com/own")]  # fmt: skip
    with (
        (plane.folder / "tekton.log").open("wb") as log,
        subprocess.Popen(
            [str(binary), "-kubeconfig", str(plane.kubeconfig), "-disable-ha", *images], stdout=log, stderr=log,
            env=environment,
        ) as process,
    ):  # fmt: skip
        try:
            yield
        except BaseException:
            print((plane.folder / "tekton.log").read_text()[-4000:], file=sys.stderr)
            raise
        finally:
            process.kill()


def begin(plane: ControlPlane, number: int, world: World) -> None:
    space = f"w{number}"
    level = {"pod-security.kubernetes.io/enforce": world["level"]} if "level" in world else {}
    send(plane, "POST", "/api/v1/namespaces", {"metadata": {"name": space, "labels": level}})
    account = {"metadata": {"name": "default"}}
    path = f"/api/v1/namespaces/{space}/serviceaccounts"
    until(
        lambda: plane.request("GET", f"{path}/default")[0] == 200 or plane.request("POST", path, account)[0] == 201, 9
    )
    for kind, plural, specs in (
        ("LimitRange", "limitranges", world.get("ranges", ())),
        ("ResourceQuota", "resourcequotas", world.get("quotas", ())),
    ):
        for place, each in enumerate(specs):
            body = {"apiVersion": "v1", "kind": kind, "metadata": {"name": f"{kind[0].lower()}{place}"}, "spec": each}
            send(plane, "POST", f"/api/v1/namespaces/{space}/{plural}", body)
    quotas = f"/api/v1/namespaces/{space}/resourcequotas"
    until(lambda: all(each.get("status") for each in plane.request("GET", quotas)[1]["items"]), _SEEN)
    body = {"apiVersion": "tekton.dev/v1", "kind": "TaskRun", "metadata": {"name": "run"}, "spec": world["spec"]}
    send(plane, "POST", f"{RUNS}/{space}/taskruns", body)


def play(plane: ControlPlane, number: int, world: World) -> dict[str, Any]:
    """Tell of the pod what the kubelet would, and return the run and its pod once nothing more is said of them."""
    space = f"w{number}"
    path = f"{RUNS}/{space}/taskruns/run"

    def stored() -> dict[str, Any]:
        return plane.request("GET", path)[1]

    until(lambda: stored().get("status", {}).get("conditions") or world["spec"].get("status"), _SEEN)
    for _ in range(1 + world["spec"].get("retries", 0)):
        if "pod" not in world:
            break
        until(lambda: stored()["status"].get("podName"), _SEEN)
        if stored()["status"]["conditions"][0]["status"] == "Unknown":
            tell(plane, space, stored()["status"]["podName"], world["pod"])
        settle(stored)
    if "then" in world:
        plane.request("PATCH", path, world["then"], content_type=_MERGE)
    if "timeout" in world["spec"]:
        until(lambda: stored()["status"]["conditions"][0]["status"] != "Unknown", _SEEN)
    found = settle(stored)
    pods = plane.request("GET", f"/api/v1/namespaces/{space}/pods")[1]["items"]
    items = [
        *((kind, each) for kind, plural in (("LimitRange", "limitranges"), ("ResourceQuota", "resourcequotas"))
          for each in plane.request("GET", f"/api/v1/namespaces/{space}/{plural}")[1]["items"]),
        *(("Pod", each) for each in pods),
    ]  # fmt: skip
    space_item = plane.request("GET", f"/api/v1/namespaces/{space}")[1]
    condition = next(iter(found.get("status", {}).get("conditions", ())), {})
    return {
        "given": [pruned("Namespace", space_item), pruned("TaskRun", found),
                  *(pruned(kind, each) for kind, each in items)],
        "expect": {"condition": {key: condition.get(key, "") for key in ("status", "reason", "message")}},
    }  # fmt: skip


def settle(stored: Any) -> dict[str, Any]:
    """Return the run once it stays as it is."""
    found, since = stored(), time.monotonic()
    while time.monotonic() - since < _STAYS:
        time.sleep(0.3)
        now = stored()
        if now.get("status", {}).get("conditions") != found.get("status", {}).get("conditions"):
            since = time.monotonic()
        found = now
    return found


def tell(plane: ControlPlane, space: str, name: str, told: dict[str, Any]) -> None:
    path = f"/api/v1/namespaces/{space}/pods/{name}"
    pod = plane.request("GET", path)[1]
    states = told.get("states", {})

    def status(container: dict[str, Any], otherwise: dict[str, Any]) -> dict[str, Any]:
        state = states.get(container["name"], otherwise)
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        if "terminated" in state:
            state = {"terminated": {"startedAt": stamp, "finishedAt": stamp, **state["terminated"]}}
        return {
            "name": container["name"], "image": container["image"], "imageID": "", "ready": "running" in state,
            "restartCount": 0, "state": state,
        }  # fmt: skip

    begun = told["phase"] != "Pending" or "states" in told
    inits = pod["spec"].get("initContainers", ())
    killed_early = any(each["name"] in states for each in inits)
    body = {"status": {key: told[key] for key in ("phase", "reason", "message", "conditions") if key in told}}
    if begun and "states" in told:
        waiting = {"waiting": {"reason": "PodInitializing"}}
        done = {"terminated": {"exitCode": 0, "reason": "Completed"}}
        body["status"]["initContainerStatuses"] = [status(each, done) for each in inits]
        body["status"]["containerStatuses"] = [
            status(each, waiting if killed_early else done) for each in pod["spec"]["containers"]
        ]
    answer = plane.request("PATCH", f"{path}/status", body, content_type=_MERGE)
    assert answer[0] == 200, answer


def pruned(kind: str, one: dict[str, Any]) -> dict[str, Any]:
    kept = ("name", "namespace", "labels", "annotations", "uid", "creationTimestamp", "ownerReferences")
    metadata = {key: one["metadata"][key] for key in kept if key in one["metadata"]}
    metadata.pop("annotations", None)
    rest = {key: one[key] for key in ("spec", "status") if key in one}
    if kind == "Namespace":
        rest = {"status": {"phase": "Active"}}
    if kind == "TaskRun":
        rest["status"].pop("provenance", None) if "status" in rest else None
    return {"apiVersion": one.get("apiVersion") or "v1", "kind": kind, "metadata": metadata, **rest}


if __name__ == "__main__":
    main()
