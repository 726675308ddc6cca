"""A list and the object say the same of one object, in generated worlds and of everything in the demo."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from e2e.refused_worlds import KATA, world
from msgspec import structs
from reports.stored import store_of, subject

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.workload_kinds import WORKLOADS
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.explain.summary import Outlines
from kubectl_kres.snapshot import read as demo
from kubectl_kres.snapshot.read import read
from kubectl_kres.store.store import Store

Raw = dict[str, Any]

#: KRES_WORLDS=1000 tries as many.
_WORLDS = int(os.environ.get("KRES_WORLDS", "60"))


def _counted(quota: Raw) -> Raw:
    hard = quota["spec"]["hard"]
    return {**quota, "status": {"hard": hard, "used": dict.fromkeys(hard, "0")}}


def _worlds() -> Iterator[tuple[int, Store, str]]:
    for seed in range(1, _WORLDS + 1):
        made = world(seed)
        policies = [_counted(one) if one["kind"] == "ResourceQuota" else one for one in made.policies]
        objects = [structs.replace(made).workload, *policies]
        for one in objects:
            one["metadata"]["namespace"] = "ns"
        yield seed, store_of(KATA, *objects), f"{made.kind}/web"


def test_a_list_and_the_object_agree():
    differ = []
    for seed, store, name in _worlds():
        found, line = (
            explain(store, subject(name), EvaluationOptions()),
            Outlines(store, EvaluationOptions()).outline(subject(name)),
        )
        if found.verdict.outcome != line.verdict.outcome or bool(found.fixes) != bool(line.remedy):
            differ.append((seed, found.verdict.outcome, line.verdict.outcome, line.remedy))
    assert differ == []


def test_they_agree_about_everything_in_the_demo():
    store = read(str(demo.demo_path()))
    lines, differ, seen = Outlines(store, EvaluationOptions()), [], 0
    for kind in (*WORKLOADS, "Pod", "TaskRun"):
        for one in store.all(kind):
            asked = Subject(ObjectRef(kind, one.metadata.name, one.metadata.namespace), BY_KIND[kind])
            found, line = explain(store, asked, EvaluationOptions()), lines.outline(asked)
            seen += 1
            # Of a pod that was killed for memory the row says so in another column.
            lacks = found.verdict.outcome != "admitted" and bool(found.fixes) != bool(line.remedy)
            if found.verdict.outcome != line.verdict.outcome or lacks:
                differ.append((str(asked.ref), found.verdict.outcome, line.verdict.outcome, line.remedy))
    assert differ == []
    assert seen > 100
