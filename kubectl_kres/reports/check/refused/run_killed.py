"""KRES115: a run ended because a container that Tekton adds was killed for memory."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.errors import KresError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Judged, Scene
from kubectl_kres.reports.common.subject import Subject
from kubectl_kres.reports.explain.explain import analysis_of
from kubectl_kres.tekton.reports.run_containers import was_killed


def find(scene: Scene) -> Iterator[Broken]:
    """The newest run for each container that would be killed again, with its limit."""
    told: set[str] = set()
    for subject in _runs(scene):
        try:
            analysis = analysis_of(scene.store, subject, scene.ask)
        except KresError as error:
            scene.unanswered.append((subject, error))
            continue
        part = analysis.tekton
        for killed in part.killed if part is not None else ():
            if killed.added and killed.again and killed.name not in told:
                told.add(killed.name)
                values = {"container": killed.name, "limit": killed.limit or "unknown"}
                remedy = scene.remedy(Judged(subject, analysis))
                text, commands = (remedy.text, remedy.commands) if remedy is not None else ("", ())
                yield Broken(subject.ref, values, remedy=text, commands=commands)


def _runs(scene: Scene) -> Iterator[Subject]:
    """The runs whose pod has a container that was killed, the newest first."""
    runs = [] if scene.of_files else [*scene.store.all("TaskRun", scene.namespace)]
    for run in sorted(runs, key=lambda run: run.status.completion_time or "", reverse=True):
        pod = scene.store.get("Pod", run.status.pod_name, scene.namespace) if run.status.pod_name else None
        if isinstance(pod, Pod) and was_killed(pod):
            yield Subject(ObjectRef("TaskRun", run.metadata.name, scene.namespace), BY_KIND["TaskRun"])


RULE = Rule(
    code="KRES115",
    title="a container that Tekton adds was killed for memory",
    severity="error",
    reason="prepare, place-scripts and the like have no limit of their own: what a LimitRange gives them can be too "
    "little, and then every run in the namespace ends the same way.",
    remedy="Give the container more in config-defaults (default-container-resource-requirements), or raise the default "
    "of the LimitRange.",
    message="{container}, which Tekton adds, was killed for memory at its limit {limit}; a new run dies the same way",
    find=find,
    failing="""
apiVersion: v1
kind: LimitRange
metadata: {name: little, namespace: shop}
spec:
  limits:
  - {type: Container, default: {memory: 8Mi}, defaultRequest: {memory: 8Mi}}
---
apiVersion: tekton.dev/v1
kind: TaskRun
metadata: {name: build, namespace: shop, uid: run-1}
spec:
  taskSpec:
    steps:
    - {name: make, image: make, script: make, computeResources: {limits: {memory: 64Mi}}}
status:
  podName: build-pod
  conditions:
  - {type: Succeeded, status: 'False', reason: Failed, message: init container failed}
---
apiVersion: v1
kind: Pod
metadata:
  name: build-pod
  namespace: shop
  ownerReferences: [{apiVersion: tekton.dev/v1, kind: TaskRun, name: build, uid: run-1, controller: true}]
spec:
  initContainers:
  - {name: place-scripts, image: a, resources: {limits: {memory: 8Mi}, requests: {memory: 8Mi}}}
  containers:
  - {name: step-make, image: make, resources: {limits: {memory: 64Mi}, requests: {memory: 64Mi}}}
status:
  phase: Failed
  initContainerStatuses:
  - {name: place-scripts, state: {terminated: {exitCode: 137, reason: OOMKilled}}}
""",
    passing="""
apiVersion: v1
kind: LimitRange
metadata: {name: little, namespace: shop}
spec:
  limits:
  - {type: Container, default: {memory: 128Mi}, defaultRequest: {memory: 128Mi}}
---
apiVersion: tekton.dev/v1
kind: TaskRun
metadata: {name: build, namespace: shop, uid: run-1}
spec:
  taskSpec:
    steps:
    - {name: make, image: make, script: make, computeResources: {limits: {memory: 64Mi}}}
status:
  podName: build-pod
  conditions:
  - {type: Succeeded, status: 'False', reason: Failed, message: init container failed}
---
apiVersion: v1
kind: Pod
metadata:
  name: build-pod
  namespace: shop
  ownerReferences: [{apiVersion: tekton.dev/v1, kind: TaskRun, name: build, uid: run-1, controller: true}]
spec:
  initContainers:
  - {name: place-scripts, image: a, resources: {limits: {memory: 8Mi}, requests: {memory: 8Mi}}}
  containers:
  - {name: step-make, image: make, resources: {limits: {memory: 64Mi}, requests: {memory: 64Mi}}}
status:
  phase: Failed
  initContainerStatuses:
  - {name: place-scripts, state: {terminated: {exitCode: 137, reason: OOMKilled}}}
""",
)
