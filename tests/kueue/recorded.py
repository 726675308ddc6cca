"""Recorded worlds of Kueue as stores, and as snapshots that the command line reads."""

from __future__ import annotations

import functools
import gzip
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from kubectl_kres.model.kinds import BY_KIND, KINDS
from kubectl_kres.model.objects import decode_object
from kubectl_kres.snapshot.write import write
from kubectl_kres.store.store import READ, Origin, ReadRequest, Store

FOLDER = Path(__file__).parents[1] / "vectors" / "kueue"
#: When pages are read: some time after the last recording.
NOW = "2026-11-28T14:00:00Z"
#: What PipelineRuns of the recording refer to; Tekton itself did not run there.
PIPELINE = {
    "apiVersion": "tekton.dev/v1",
    "kind": "Pipeline",
    "metadata": {"name": "build", "namespace": "ci"},
    "spec": {"tasks": [{"name": "one", "taskSpec": {"steps": [{"name": "s", "image": "i", "script": "true"}]}}]},
}


@functools.cache
def worlds() -> Mapping[str, Mapping[str, Any]]:
    """The recorded worlds by name."""
    lines = gzip.decompress((FOLDER / "open.jsonl.gz").read_bytes()).splitlines()
    return {world["case"]: world for world in map(msgspec.json.decode, lines)}


def states(world: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A world after each step."""
    yield world["state"]
    yield from (step["state"] for step in world["steps"])


@functools.cache
def runs() -> tuple[Mapping[str, Any], ...]:
    """The states of the recorded PipelineRuns, with the Pipeline that they name."""
    lines = (FOLDER / "tekton.jsonl").read_bytes().splitlines()
    found = (msgspec.json.decode(line)["state"] for line in lines)
    return tuple({**state, "objects": [*state["objects"], PIPELINE]} for state in found)


def state_of(name: str) -> Mapping[str, Any]:
    """``s101x016/2``: a world after its second step; ``tekton/3``: PipelineRuns after the third one."""
    case, _, step = name.partition("/")
    return runs()[int(step)] if case == "tekton" else list(states(worlds()[case]))[int(step)]


def store_of(state: Mapping[str, Any], unread: tuple[str, ...] = ()) -> Store:
    """The objects of a state, of a cluster in which all was read but some kinds."""
    store = Store(Origin("snapshot", version="v1.37.2", time=NOW))
    spaces = set()
    for raw in state["objects"]:
        kind = BY_KIND.get(raw["kind"])
        if kind is not None and kind.kind not in unread:
            store.add(kind.kind, decode_object(raw, kind.detail))
            spaces.add(raw["metadata"].get("namespace", ""))
    for name in sorted(spaces - {"", *(each.metadata.name for each in store.all("Namespace"))}):
        store.add("Namespace", decode_object({"metadata": {"name": name}}, BY_KIND["Namespace"].detail))
    for kind in KINDS:
        if kind.kind not in unread:
            store.cover(ReadRequest(kind.kind), READ)
    return store


def snapshot(name: str, unread: tuple[str, ...] = ()) -> str:
    """The file of a recorded state, in the folder that we stand in."""
    write(store_of(state_of(name), unread), "queues.kres")
    return "queues.kres"
