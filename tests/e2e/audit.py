"""The API server's own record of requests: what the plugin sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from controlplane import ControlPlane

AGENT = "kubectl-kres/"

#: Reviews of the user's own rights: nothing is stored.
REVIEWS = ("selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews")
POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata"}],
}


def arguments(folder: Path) -> list[str]:
    """Flags of a server that writes its record into the folder, before it answers."""
    policy = folder / "policy.json"
    policy.write_text(json.dumps(POLICY))
    return [f"--audit-policy-file={policy}", f"--audit-log-path={folder / 'audit.log'}", "--audit-log-mode=blocking"]


def folder_of(plane: ControlPlane) -> Path:
    """Where the server writes its record."""
    flag = "--audit-log-path="
    return next(Path(arg.removeprefix(flag)).parent for arg in plane.apiserver_args if arg.startswith(flag))


def sent(folder: Path) -> Iterator[tuple[str, str]]:
    """Verb and URI of each request of the plugin."""
    with (folder / "audit.log").open() as lines:
        for line in lines:
            if AGENT in line:
                event = json.loads(line)
                if event.get("userAgent", "").startswith(AGENT):
                    yield event["verb"], event["requestURI"]


def forbidden(folder: Path) -> list[tuple[str, str]]:
    """Requests that are neither a read nor a review of the user's own rights."""
    return [(verb, uri) for verb, uri in sent(folder) if not allowed(verb, uri)]


def allowed(verb: str, uri: str) -> bool:
    """Whether a request changes nothing."""
    resource = uri.partition("?")[0].rpartition("/")[2]
    return verb in {"get", "list", "watch"} or (verb == "create" and resource in REVIEWS)
