"""KRES407: a TaskRun that asks for the sum of steps that run one after another."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.quantity import Quantity
from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Judged, Scene
from kubectl_kres.reports.explain.explain import analysis_of
from kubectl_kres.tekton.model import TaskRun

#: So many times the largest step is worth a word.
_TIMES = 2
_RESOURCES = ("cpu", "memory")


def find(scene: Scene) -> Iterator[Broken]:
    """The runs whose pod asks for more than twice what their largest step asks for."""
    for judged in scene.judged:
        draft = judged.draft
        if judged.analysis.tekton is None or draft is None or judged.ended:
            continue
        steps = [slot for slot in draft.containers if slot.name.startswith("step-")]
        for name in _RESOURCES:
            asked = [slot.requests[name] for slot in steps if name in slot.requests]
            if asked and sum(quantity.nano for quantity in asked) > _TIMES * max(quantity.nano for quantity in asked):
                if _divided(scene, judged):
                    break
                total = Quantity(sum(quantity.nano for quantity in asked), asked[0].format)
                values = {"total": str(total), "resource": name, "largest": str(max(asked)), "steps": str(len(asked))}
                yield Broken(judged.ref, values)


def _divided(scene: Scene, judged: Judged) -> bool:
    """Whether the run bounds all steps together, which only the steps of the computation tell."""
    run = scene.store.get(judged.ref.kind, judged.ref.name, judged.ref.namespace)
    if judged.subject.raw is None and isinstance(run, TaskRun) and run.spec.compute_resources is None:
        return False
    part = analysis_of(scene.store, judged.subject, scene.ask).tekton
    return part is not None and part.task_level


RULE = Rule(
    code="KRES407",
    title="steps are summed up",
    severity="note",
    reason="Steps run one after another, and the pod asks for all of them together: it waits for room that it "
    "never uses at once.",
    remedy="Set spec.computeResources of the run: it bounds all steps together.",
    message="its {steps} steps ask for {total} of {resource} together, the largest for {largest}",
    find=find,
    failing="""
apiVersion: tekton.dev/v1
kind: TaskRun
metadata: {name: build, namespace: shop, uid: run-1}
spec:
  taskSpec:
    steps:
    - {name: a, image: a, computeResources: {requests: {cpu: '1'}}}
    - {name: b, image: b, computeResources: {requests: {cpu: '1'}}}
    - {name: c, image: c, computeResources: {requests: {cpu: '1'}}}
""",
    passing="""
apiVersion: tekton.dev/v1
kind: TaskRun
metadata: {name: build, namespace: shop, uid: run-1}
spec:
  computeResources: {requests: {cpu: '1'}}
  taskSpec: {steps: [{name: a, image: a}, {name: b, image: b}, {name: c, image: c}]}
""",
)
