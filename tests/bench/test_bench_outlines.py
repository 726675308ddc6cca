"""The lines of lists against whole explanations: of every object of a synthetic cluster, and of the demo."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from bench.made import objects
from reports.outlined import outline_of, shown

from kubectl_kres.model.kinds import KINDS
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.explain.summary import Outlines
from kubectl_kres.snapshot import read as demo
from kubectl_kres.snapshot import read as snapshots
from kubectl_kres.store.store import READ, Origin, ReadRequest, Store

pytestmark = pytest.mark.thorough

ASKED = ("Pod", "Deployment", "ReplicaSet", "DaemonSet", "StatefulSet", "Job", "CronJob", "TaskRun", "Task")


def made(folder: Path) -> Store:
    store = Store(Origin("cluster", "here"))
    for kind in KINDS:
        if (folder / f"{kind.plural}.items").exists():
            for raw in objects(folder, kind.plural):
                store.add(kind.kind, msgspec.convert(raw, kind.detail))
        store.cover(ReadRequest(kind.kind), READ)
    return store


def subjects(store: Store) -> Iterator[Subject]:
    for kind in KINDS:
        for one in store.all(kind.kind) if kind.kind in ASKED else ():
            yield Subject(ObjectRef(kind.kind, one.metadata.name, one.metadata.namespace), kind)


@pytest.mark.thorough
@pytest.mark.parametrize("which", ["made", "demo"])
def test_a_line_is_that_of_the_explanation(which: str, folder: Path) -> None:
    store = made(folder) if which == "made" else snapshots.read(str(demo.demo_path()))
    ask = EvaluationOptions(now="2026-11-21T12:00:00Z")
    lines, met = Outlines(store, ask), set()
    for subject in subjects(store):
        found = lines.outline(subject)
        assert shown(found) == shown(outline_of(explain(store, subject, ask)))
        met.add((subject.ref.kind, found.verdict.allowed))
    assert {("Pod", True), ("Deployment", True), ("Deployment", False), ("TaskRun", True)} <= met
    assert which == "demo" or ("Pod", False) in met
