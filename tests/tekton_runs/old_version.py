"""Record the pods that an old version of Tekton makes, whose order of defaults is another: see README.md.

The worlds are few: what config-defaults and a LimitRange say of the same containers, and a whole Task's memory.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import record
from record import HERE, RUNS, built, controlling, install, run, settle
from settling import send, until
from worlds import task

MODULE = "github.com/tektoncd/pipeline@v0.60.0"
OUT = HERE / "recorded_0_60.json"
KEY = "default-container-resource-requirements"
_DEFAULTS = (
    "",
    "default:\n  requests:\n    cpu: 300m\n    memory: 96Mi\n",
    "default:\n  limits:\n    cpu: '1'\nprefix-step:\n  requests:\n    memory: 32Mi\n",
    "prepare:\n  requests:\n    cpu: 70m\n",
)
_RANGES: tuple[dict[str, Any], ...] = (
    {}, {"defaultRequest": {"cpu": "200m"}}, {"min": {"cpu": "150m", "memory": "48Mi"}},
    {"default": {"cpu": "2"}, "defaultRequest": {"cpu": "1", "memory": "1Gi"}},
)  # fmt: skip
_WHOLE = {"requests": {"memory": "1000k", "cpu": "1"}, "limits": {"memory": "2000k", "cpu": "2"}}
_SPECS: tuple[dict[str, Any], ...] = (
    task({}), task({}, {}, {}), task({"limits": {"memory": "64Mi"}}, {}),
    {**task({}, {}, {}), "computeResources": _WHOLE},
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--controller", type=Path, help="a binary that was built before")
    options = parser.parse_args()
    source = Path(json.loads(run("go", "mod", "download", "-json", MODULE))["Dir"])
    binary = options.controller or built(source)
    cases = []
    with record.ControlPlane(record.build.locate(), controllers=record.BASIC_CONTROLLERS) as plane:
        install(plane, source)
        with controlling(plane, binary):
            for number, text in enumerate(_DEFAULTS):
                path = f"/api/v1/namespaces/{record.SYSTEM}/configmaps/config-defaults"
                plane.request("PATCH", path, {"data": {KEY: text}}, content_type="application/merge-patch+json")
                until(lambda text=text, path=path: plane.request("GET", path)[1]["data"].get(KEY, "") == text, 9)
                record.time.sleep(2)
                cases += [
                    play(plane, f"d{number}-r{place}-s{which}", text, limits, spec)
                    for place, limits in enumerate(_RANGES)
                    for which, spec in enumerate(_SPECS)
                ]
        version = plane.request("GET", "/version")[1]["gitVersion"]
    head = json.dumps({"tekton": MODULE.partition("@")[2], "server": {"version": version}})[:-1]
    lines = ",\n".join(json.dumps(case) for case in cases)
    OUT.write_text(f'{head}, "cases": [\n{lines}\n]}}\n')


def play(plane: Any, name: str, text: str, limits: dict[str, Any], spec: dict[str, Any]) -> dict[str, Any]:
    send(plane, "POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    path, account = f"/api/v1/namespaces/{name}/serviceaccounts", {"metadata": {"name": "default"}}
    until(
        lambda: plane.request("GET", f"{path}/default")[0] == 200 or plane.request("POST", path, account)[0] == 201, 9
    )
    given = []
    if limits:
        item = {"spec": {"limits": [{"type": "Container", **limits}]}, "metadata": {"name": "lane", "namespace": name}}
        send(
            plane, "POST", f"/api/v1/namespaces/{name}/limitranges", {**item, "apiVersion": "v1", "kind": "LimitRange"}
        )
        given.append({"kind": "LimitRange", **item})
    body = {
        "apiVersion": "tekton.dev/v1",
        "kind": "TaskRun",
        "metadata": {"name": "run", "namespace": name},
        "spec": spec,
    }
    send(plane, "POST", f"{RUNS}/{name}/taskruns", body)
    stored = lambda: plane.request("GET", f"{RUNS}/{name}/taskruns/run")[1]  # noqa: E731 - said once
    until(lambda: stored().get("status", {}).get("podName") or stored().get("status", {}).get("conditions"), 30)
    found = settle(stored) if not stored()["status"].get("podName") else stored()
    pod = plane.request("GET", f"/api/v1/namespaces/{name}/pods/run-pod")[1] if found["status"].get("podName") else {}
    containers = {
        each["name"]: each.get("resources", {})
        for group in ("initContainers", "containers")
        for each in pod.get("spec", {}).get(group, ())
    }
    condition = found["status"]["conditions"][0]
    return {
        "name": name, "defaults": text, "given": [*given, body],
        "expect": {"containers": containers, "reason": "" if containers else condition["reason"],
                   "message": "" if containers else condition["message"]},
    }  # fmt: skip


if __name__ == "__main__":
    main()
