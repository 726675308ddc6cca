"""How what commands take grows with the objects that one tenant writes, ten times as many each time."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from measure import Run, Subject, in_turn, kres, least, table

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.snapshot.write import write
from kubectl_kres.store.store import READ, Origin, ReadRequest, Store

SIZES = (10, 100, 1_000)
SPACE = "team"
_ASKED = (("overview",), ("check",), ("explain", "deploy/web"), ("quota", "-o", "json"))
_CONTAINER = {"name": "web", "image": "web:1", "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}
Raw = dict[str, Any]


def _made(kind: str, name: str, space: str = SPACE, **parts: Any) -> Raw:
    metadata = {"name": name, "namespace": space, "generation": 1, "creationTimestamp": "2026-11-01T00:00:00Z"}
    return {"kind": kind, "metadata": {**metadata, **parts.pop("metadata", {})}, **parts}


def _template(number: int) -> Raw:
    container = {**_CONTAINER, "image": f"web:{number}"}
    return {
        "metadata": {"labels": {"app": "web", "pod-template-hash": str(number)}},
        "spec": {"containers": [container]},
    }


def _owner(kind: str, name: str) -> Raw:
    return {"ownerReferences": [{"kind": kind, "name": name, "controller": True}]}


def _everywhere() -> Iterator[Raw]:
    """A Deployment whose three pods run, under one quota with room for one more."""
    counts = dict.fromkeys(("replicas", "readyReplicas", "updatedReplicas", "availableReplicas"), 3)
    spec = {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": _template(0)}
    yield _made("Deployment", "web", spec=spec, status={**counts, "observedGeneration": 1})
    yield _replica_set(0, 3)
    for number in range(3):
        status = {"phase": "Running", "qosClass": "Burstable", "conditions": [{"type": "Ready", "status": "True"}]}
        metadata = {"labels": _template(0)["metadata"]["labels"], **_owner("ReplicaSet", "web-0")}
        yield _made("Pod", f"web-0-{number}", metadata=metadata, spec={"containers": [_CONTAINER], "nodeName": "a"},
                    status=status)  # fmt: skip
    yield _quota(0)


def _replica_set(number: int, pods: int = 0) -> Raw:
    revision = {"annotations": {"deployment.kubernetes.io/revision": str(100_000 - number)}}
    return _made("ReplicaSet", f"web-{number}", metadata={**_owner("Deployment", "web"), **revision},
                 spec={"replicas": pods, "template": _template(number)},
                 status={"replicas": pods, "readyReplicas": pods, "observedGeneration": 1})  # fmt: skip


def _job(number: int) -> Raw:
    return _made("Job", f"job-{number}", spec={"parallelism": 1, "completions": 1, "template": _template(number)},
                 status={"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]})  # fmt: skip


def _claim(number: int) -> Raw:
    resources = {"requests": {"storage": "1Gi"}}
    return _made("PersistentVolumeClaim", f"data-{number}", spec={"resources": resources}, status={"phase": "Bound"})


def _quota(number: int) -> Raw:
    hard, used = {"requests.cpu": "400m", "pods": "10"}, {"requests.cpu": "300m", "pods": "3"}
    return _made("ResourceQuota", f"quota-{number}", spec={"hard": hard}, status={"hard": hard, "used": used})


def _policy(number: int) -> Raw:
    item = {"type": "Container", "max": {"cpu": f"{2 + number}"}}
    return _made("LimitRange", f"range-{number}", spec={"limits": [item]})


KINDS: dict[str, Callable[[int], Raw]] = {
    "ReplicaSets": _replica_set,
    "Jobs": _job,
    "claims": _claim,
    "quotas": _quota,
    "LimitRanges": _policy,
}


def store_with(kind: str, count: int) -> Store:
    """The namespace with so many objects of a kind beside the workload."""
    store = Store(Origin("cluster", "bench", "v1.36.0", "2026-11-29T00:00:00Z"))
    for name in BY_KIND:
        store.cover(ReadRequest(name, SPACE if BY_KIND[name].namespaced else ""), READ)
    for raw in (_made("Namespace", SPACE, ""), *_everywhere(), *map(KINDS[kind], range(1, count + 1))):
        store.add(raw["kind"], msgspec.convert(raw, BY_KIND[raw["kind"]].detail))
    return store


def tenant(_: str, options: argparse.Namespace) -> str:
    """Seconds of CPU of each command with so many objects of each kind, and how many times those of the size before."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        for kind in KINDS:
            found: dict[str, list[Run]] = {}
            for count in SIZES:
                path = str(Path(folder, f"{kind}-{count}.kres"))
                write(store_with(kind, count), path)
                subjects = [_asked(words, path) for words in _ASKED]
                for one, runs in zip(subjects, in_turn(subjects, options.runs, os.environ), strict=True):
                    found.setdefault(one.name, []).append(least(runs))
            rows += [
                [f"{name}: {kind}", *(f"{run.cpu:.2f}" for run in runs), f"{runs[-1].peak:.0f}"]
                for name, runs in found.items()
            ]
    return table(["command: objects", *(f"CPU s, {count:,}" for count in SIZES), "peak MiB"], rows)


def _asked(words: tuple[str, ...], path: str) -> Subject:
    flags = ("--fail-on", "never") if words[0] == "check" else ()
    one = kres(*words, "-n", SPACE, "--snapshot", path, *flags, right=lambda out, _: bool(out))
    return one._replace(name=" ".join(words))
