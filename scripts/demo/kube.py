"""kubectl as the demo uses it, against one kubeconfig, with none of the user's settings."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import yaml

Object = dict[str, Any]


class DemoError(Exception):
    """The demo cannot be made; the message is one line."""


class Kube:
    """A cluster behind kubectl; ``with`` keeps what kubectl caches about it."""

    def __init__(self, kubectl: Path, kubeconfig: Path) -> None:
        self.kubectl, self.kubeconfig = kubectl, kubeconfig
        self._cache = tempfile.TemporaryDirectory(prefix="demo-kube-")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._cache.cleanup()

    def run(self, *args: str, given: Mapping[str, Any] | None = None) -> str:
        """What kubectl prints; ``given`` is the object for ``-f -``. Raises DemoError with its last line."""
        settings = {"KUBECONFIG": str(self.kubeconfig), "KUBECACHEDIR": self._cache.name, "KUBERC": "off"}
        done = subprocess.run(
            [str(self.kubectl), *args],
            input=json.dumps(given) if given else "",
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            said = done.stderr.strip().splitlines() or [f"ended with {done.returncode}"]
            raise DemoError(f"kubectl {' '.join(args)}: {said[-1]}")
        return done.stdout

    def items(self, kinds: str, *args: str) -> list[Object]:
        """The objects of some kinds in all namespaces, sorted by namespace and name."""
        found: list[Object] = json.loads(self.run("get", kinds, "-A", "-o", "json", *args))["items"]
        return sorted(found, key=key_of)

    def apply(self, objects: Iterable[Mapping[str, Any]], manager: str) -> None:
        self.run("apply", "--server-side", f"--field-manager={manager}", "-f", "-", given=listed(objects))

    def create(self, objects: Iterable[Mapping[str, Any]], manager: str) -> None:
        self.run("create", f"--field-manager={manager}", "-f", "-", given=listed(objects))

    def put(self, path: str, item: Mapping[str, Any], manager: str) -> Object:
        """PUT an object as it is, its resourceVersion included; the object as stored."""
        said = self.run("replace", "--raw", f"{path}?fieldManager={manager}", "-f", "-", given=item)
        stored: Object = json.loads(said)
        return stored

    def post(self, path: str, item: Mapping[str, Any], manager: str) -> Object:
        """POST an object as it is; the object as stored."""
        said = self.run("create", "--raw", f"{path}?fieldManager={manager}", "-f", "-", given=item)
        stored: Object = json.loads(said)
        return stored

    def put_status(self, objects: Iterable[Object], manager: str) -> None:
        """PUT the status of pods or nodes, whatever was written since they were read.

        By --raw, as `kubectl replace` would also write a new last-applied-configuration into them.
        """
        for item in objects:
            metadata = {key: value for key, value in item["metadata"].items() if key != "resourceVersion"}
            space = f"/namespaces/{metadata['namespace']}" if "namespace" in metadata else ""
            path = f"/api/v1{space}/{item['kind'].lower()}s/{metadata['name']}/status?fieldManager={manager}"
            self.run("replace", "--raw", path, "-f", "-", given={**item, "metadata": metadata})


def key_of(item: Mapping[str, Any]) -> tuple[str, str]:
    """Namespace, which is empty for what has none, and name."""
    return item["metadata"].get("namespace", ""), item["metadata"]["name"]


def documents(file: Path) -> list[Object]:
    """The objects of a file."""
    return [document for document in yaml.safe_load_all(file.read_text()) if document]


def listed(objects: Iterable[Mapping[str, Any]]) -> Object:
    return {"apiVersion": "v1", "kind": "List", "items": list(objects)}
