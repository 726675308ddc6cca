"""A situation out of a file: a store with everything read, what is asked about, and the server."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from kubectl_kres.admission.base.server import Server
from kubectl_kres.manifests.read import read
from kubectl_kres.model.kinds import BY_KIND, KINDS
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.store.store import READ, Origin, ReadRequest, Store

FOLDER = Path(__file__).parent / "situations"
SITUATIONS = sorted(path.stem for path in FOLDER.glob("*.yaml"))


class Situation(NamedTuple):
    """``steps``: whether the steps are worth a golden file of their own."""

    store: Store
    subject: Subject
    ask: EvaluationOptions
    steps: bool


def load(name: str) -> Situation:
    """The first document says what is asked: ``subject`` (Kind/name), ``file`` if it is not in the cluster yet."""
    head, *rest = (
        manifest.raw for manifest in read([str(FOLDER / f"{name}.yaml")], recursive=False, stdin=io.BytesIO())
    )
    assert head["kind"] == "Situation"
    kind, _, wanted = head["subject"].partition("/")
    store = filled(rest, without=(kind, wanted) if "file" in head else ("", ""))
    raw = next(one for one in rest if (one["kind"], one["metadata"]["name"]) == (kind, wanted))
    ref = ObjectRef(kind, wanted, raw["metadata"]["namespace"])
    subject = Subject(ref, BY_KIND[kind], raw if "file" in head else None, head.get("file", ""))
    return Situation(store, subject, EvaluationOptions(Server(), now="2026-11-20T03:10:00Z"), head.get("steps", False))


def filled(objects: list[dict[str, Any]], without: tuple[str, str] = ("", "")) -> Store:
    """A store that holds the objects and in which every kind was read."""
    store = Store(Origin("cluster", "https://cluster.example", "v1.36.3", "2026-11-20T03:10:00Z", "prod"))
    for raw in objects:
        if (raw["kind"], raw["metadata"]["name"]) != without:
            store.add(raw["kind"], msgspec.convert(raw, BY_KIND[raw["kind"]].detail))
    for kind in KINDS:
        store.cover(ReadRequest(kind.kind), READ)
    return store
