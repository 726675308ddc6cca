#!/usr/bin/env python3
"""A control plane with the demo's objects, to try commands on: prints what to type, and stays until Ctrl-C.

Files of the folder are applied in the order of their names.  An object that the server refuses is named and left out;
a ``status`` in a file is written too, as no kubelet and no Capsule runs here that would write it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import build
import yaml
from controlplane import BASIC_CONTROLLERS, WORKLOAD_CONTROLLERS, ControlPlane, StartError, stay

SETTLE_SECONDS = 30.0
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def load(file: Path, plane: ControlPlane, kubectl: Path) -> tuple[int, list[str]]:
    """Apply one file and wait until its definitions and quotas are in force: how many objects, and what was refused."""
    done = apply(plane, kubectl, "-f", str(file))
    documents = [document for document in yaml.safe_load_all(file.read_text()) if document]
    with_status = [document for document in documents if document.get("status")]
    if with_status:
        apply(plane, kubectl, "--subresource=status", "-f", "-", given={"kind": "List", "items": with_status})
    until(lambda: in_force(plane))
    return len(done.stdout.splitlines()), done.stderr.splitlines()


def apply(
    plane: ControlPlane, kubectl: Path, *args: str, given: dict[str, Any] | None = None
) -> subprocess.CompletedProcess[str]:
    """What kubectl printed; it goes on after an object that is refused."""
    command = [str(kubectl), "apply", "--server-side", "--force-conflicts", *args]
    environment = {**os.environ, "KUBECONFIG": str(plane.kubeconfig), "KUBECACHEDIR": str(plane.folder / "cache")}
    text = json.dumps({"apiVersion": "v1", **given}) if given else ""
    return subprocess.run(command, input=text, env=environment, capture_output=True, text=True, check=False)


def until(true: Callable[[], bool]) -> None:
    """Wait for a condition; after half a minute go on without it."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while not true() and time.monotonic() < deadline:
        time.sleep(0.1)


def in_force(plane: ControlPlane) -> bool:
    """Whether every quota was counted and every custom resource is served: before that nothing enforces them."""
    quotas = plane.request("GET", "/api/v1/resourcequotas")[1]["items"]
    definitions = plane.request("GET", CRDS)[1]["items"]
    return all(quota["spec"].get("hard") == quota.get("status", {}).get("hard") for quota in quotas) and all(
        any(known["type"] == "Established" and known["status"] == "True" for known in conditions(definition))
        for definition in definitions
    )


def conditions(definition: dict[str, Any]) -> list[dict[str, str]]:
    found: list[dict[str, str]] = definition.get("status", {}).get("conditions") or []
    return found


def fill(plane: ControlPlane, kubectl: Path, folder: Path) -> None:
    """Apply the folder's files and say how that went."""
    files = sorted(folder.glob("*.yaml"))
    if not files:
        print(f"{folder} holds no *.yaml file: the cluster is empty")
    for file in files:
        count, refused = load(file, plane, kubectl)
        print(f"{file.name}: {count} objects")
        for line in refused:
            print(f"  refused: {line}")


def main() -> int:
    parser = argparse.ArgumentParser(description="A control plane with the demo's objects, until Ctrl-C.")
    parser.add_argument("folder", type=Path, nargs="?", default=Path("scripts/demo"), help="manifests to apply")
    parser.add_argument("--next", default="kubectl kres --help", help="the command to propose")
    options = parser.parse_args()
    try:
        assets = build.complete()
        controllers = BASIC_CONTROLLERS + WORKLOAD_CONTROLLERS
        with ControlPlane(assets, controllers=controllers) as plane:
            kubectl = build.kubectl(assets)
            fill(plane, kubectl, options.folder)
            print("\nIn another terminal:\n")
            print(f"  export KUBECONFIG={plane.kubeconfig} PATH={Path(sys.executable).parent}:{kubectl.parent}:$PATH")
            print(f"  {options.next}\n\nCtrl-C here ends the cluster.", flush=True)
            stay(plane, watch_stdin=False)
    except KeyboardInterrupt:
        print()
        return 0
    except (StartError, build.NoBinaryError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
