"""Install the CustomResourceDefinitions of tests/crds on a running control plane; no controller comes with them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from controlplane import ControlPlane, StartError

FOLDER = Path(__file__).parents[1] / "crds"
LIST = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DEADLINE, POLL = 60.0, 0.05
"""Seconds."""


def definitions(prefix: str = "") -> Iterator[dict[str, Any]]:
    """The definitions of the files that begin with ``prefix`` (``capsule``, ``tekton``); without conversion webhooks,
    which would have to be running.
    """
    for file in sorted(FOLDER.glob(f"{prefix}*.yaml")):
        for document in yaml.load_all(file.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if document:
                document["spec"].pop("conversion", None)
                yield document


def install(plane: ControlPlane, prefix: str = "") -> None:
    """Create them and wait until every version of each is served. Raises StartError."""
    for definition in definitions(prefix):
        status, answer = plane.request("POST", LIST, definition)
        if status != 201:
            raise StartError(f"CRD {definition['metadata']['name']}: {answer}")
    _wait(plane, prefix, 200, "is not served")


def remove(plane: ControlPlane, prefix: str = "") -> None:
    """Delete them and wait until no version of any is served. Raises StartError."""
    for definition in definitions(prefix):
        plane.request("DELETE", f"{LIST}/{definition['metadata']['name']}")
    _wait(plane, prefix, 404, "is still served")


def _wait(plane: ControlPlane, prefix: str, code: int, otherwise: str) -> None:
    """Wait until lists of all served versions are answered with the code. Raises StartError that says otherwise."""
    deadline = time.monotonic() + DEADLINE
    for definition in definitions(prefix):
        spec = definition["spec"]
        for version in (version["name"] for version in spec["versions"] if version["served"]):
            path = f"/apis/{spec['group']}/{version}/{spec['names']['plural']}"
            while plane.request("GET", f"{path}?limit=1")[0] != code:
                if time.monotonic() > deadline:
                    raise StartError(f"{path} {otherwise}")
                plane.check()
                time.sleep(POLL)
