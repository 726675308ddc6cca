"""Containers that earlier pods of the same Task have and that neither the Task nor Tekton wrote.

The next pod gets them, too: mostly a webhook adds them, after Tekton has made the pod.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct, structs

from kubectl_kres.model.pod import AddedContainers, Pod
from kubectl_kres.reports.rollout.observed_pods import added_steps
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.tekton.model import TaskRun
from kubectl_kres.tekton.rules.controller.taskrun import RunResult

_TASK, _PIPELINE, _PIPELINE_TASK = "tekton.dev/task", "tekton.dev/pipeline", "tekton.dev/pipelineTask"
#: What containers of the Task are called, and those that Tekton adds in one version or another.
_OWN = ("step-", "sidecar-")
_TEKTON = frozenset({"prepare", "place-scripts", "working-dir-initializer", "place-tools"})


class EarlierPods(Struct, frozen=True):
    """What is added to the pods of a Task. ``seen`` of ``count`` pods have it."""

    added: AddedContainers = ()
    seen: int = 0
    count: int = 0

    @property
    def text(self) -> str:
        return f"on {self.seen} of {self.count} pods"


def earlier_needs(run: TaskRun) -> Iterator[ReadRequest]:
    """Yield the read of earlier pods, for a run that has none itself and whose pods carry labels that tell them."""
    selector = ",".join(f"{key}={value}" for key, value in _labels(run).items())
    if selector and not run.status.pod_name:
        yield ReadRequest("Pod", run.metadata.namespace, label_selector=selector, required=False)


def _labels(run: TaskRun) -> dict[str, str]:
    """Return the labels that Tekton gives to pods of the same Task, or of the same task of the same Pipeline."""
    ref, labels = run.spec.task_ref, run.metadata.labels or {}
    if ref is not None and ref.name and not ref.resolver:
        return {_TASK: ref.name}
    keys = (_PIPELINE, _PIPELINE_TASK)
    return {key: labels[key] for key in keys} if all(labels.get(key) for key in keys) else {}


def earlier_pods(store: Store, run: TaskRun) -> EarlierPods:
    """Return what the newest of the earlier pods has beside the Task's containers and Tekton's."""
    wanted = _labels(run)
    if not wanted or run.status.pod_name:
        return EarlierPods()
    pods = [
        pod
        for pod in store.all("Pod", run.metadata.namespace)
        if wanted.items() <= (pod.metadata.labels or {}).items() and not pod.metadata.deletion_timestamp
    ]
    if not pods:
        return EarlierPods()
    added = _added(max(pods, key=lambda pod: pod.metadata.creation_timestamp or ""))
    names = {container.name for _, container in added}
    seen = sum({container.name for _, container in _added(pod)} >= names for pod in pods)
    return EarlierPods(added, seen, len(pods))


def _added(pod: Pod) -> AddedContainers:
    groups = (("containers", pod.spec.containers), ("initContainers", pod.spec.init_containers))
    return tuple(
        (key, container)
        for key, group in groups
        for container in group or ()
        if not container.name.startswith(_OWN) and container.name not in _TEKTON
    )


def with_origins(results: Sequence[RunResult], earlier: EarlierPods) -> tuple[RunResult, ...]:
    """Return the results, which say where the values of added containers come from."""
    return tuple(
        result
        if result.built_pod is None or not earlier.added
        else structs.replace(
            result, journal=(*added_steps(result.built_pod.pod, earlier.added, earlier.text), *result.journal)
        )
        for result in results
    )
