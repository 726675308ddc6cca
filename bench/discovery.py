"""What the server says it has, in the old form of discovery, which every client still falls back to."""

from __future__ import annotations

from collections.abc import Collection

from kinds import KINDS

VERSION = {
    "major": "1",
    "minor": "34",
    "emulationMajor": "1",
    "emulationMinor": "34",
    "gitVersion": "v1.34.1",
    "gitCommit": "0" * 40,
    "gitTreeState": "clean",
    "buildDate": "2026-09-09T00:00:00Z",
    "goVersion": "go1.24.6",
    "compiler": "gc",
    "platform": "linux/amd64",
}


def discovery(path: str, served: Collection[str]) -> dict | None:
    """The answer for a path of discovery; None for any other."""
    if path == "/version":
        return VERSION
    groups = sorted({(KINDS[k].group, KINDS[k].version) for k in served if KINDS[k].group})
    if path == "/api":
        addresses = [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1"}]
        return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses}
    if path == "/apis":
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [group(*each) for each in groups]}
    if path == "/api/v1":
        return resources("", "v1", served)
    for name, version in groups:
        if path == f"/apis/{name}":
            return {"kind": "APIGroup", "apiVersion": "v1", **group(name, version)}
        if path == f"/apis/{name}/{version}":
            return resources(name, version, served)
    return None


def group(name: str, version: str) -> dict:
    one = {"groupVersion": f"{name}/{version}", "version": version}
    return {"name": name, "versions": [one], "preferredVersion": one}


def resources(group: str, version: str, served: Collection[str]) -> dict:
    found = [
        {
            "name": plural,
            "singularName": kind.kind.lower(),
            "namespaced": kind.namespaced,
            "kind": kind.kind,
            "verbs": ["get", "list", "watch"],
            "shortNames": list(kind.short),
        }
        for plural, kind in KINDS.items()
        if plural in served and (kind.group, kind.version) == (group, version)
    ]
    name = f"{group}/{version}" if group else version
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": name, "resources": found}
