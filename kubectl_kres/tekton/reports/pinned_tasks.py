"""Whether the remaining tasks of a PipelineRun fit on the node of their affinity assistant.

Only resources are compared: what the pod of a task requests with what that node has left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import structs

from kubectl_kres.model import scheduling
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.scheduling import PodIdentity, SchedulingPod
from kubectl_kres.reports.pod.scheduling_needs import MOST_LISTED, NewPod
from kubectl_kres.reports.scheduling.new_pods import new_pod_as_stored
from kubectl_kres.reports.scheduling.report import node_shortage
from kubectl_kres.scheduling.node_filters import ResourcesFilter
from kubectl_kres.scheduling.node_info import BoundPod, bind, build_node, node_of
from kubectl_kres.scheduling.requests import requests_of
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.tekton.model import PipelineRun
from kubectl_kres.tekton.reports.pipeline import AssistantPod, LackingTask, PlannedTask
from kubectl_kres.tekton.rules.base.variables import PIPELINE_RUN, PIPELINE_TASK
from kubectl_kres.tekton.rules.pipeline.pipeline_run import PipelineAnswer, assistant_name, has_ended

#: States of tasks whose pods are still to come.
_TO_COME = frozenset({"", "waiting"})


def assistant_node_needs(store: Store, run: PipelineRun) -> Iterator[ReadRequest]:
    """Yield the reads of each node that holds an assistant of a run, and of the pods there; none once it has ended.

    Of a list of runs MOST_LISTED nodes are read.
    """
    if has_ended(run):
        return
    read = sum(1 for _ in store.keys(scheduling.NODES))
    for workspace in ("", *(workspace.name for workspace in run.spec.workspaces or ())):
        node = _node_of_assistant(store, run, assistant_name(workspace, run.metadata.name))
        if node and (read < MOST_LISTED or store.get(scheduling.NODES, node) is not None):
            yield from _node_reads(node)


def _node_reads(node: str) -> tuple[ReadRequest, ReadRequest]:
    pods = ReadRequest(scheduling.POD, field_selector=f"spec.nodeName={node}", required=False)
    return ReadRequest(scheduling.NODES, name=node, required=False), pods


def _node_of_assistant(store: Store, run: PipelineRun, name: str) -> str:
    """Return the node of an assistant's pod; empty: it is on none, or not known."""
    pod = store.get("Pod", f"{name}-0", run.metadata.namespace)
    return pod.spec.node_name if isinstance(pod, Pod) and pod.metadata.deletion_timestamp is None else ""


def with_lacking_tasks(
    store: Store, run: PipelineRun, assistant: AssistantPod, tasks: Sequence[PlannedTask], answer: PipelineAnswer
) -> AssistantPod:
    """Return the assistant with its node, and the tasks to come that do not fit there; unchanged where it has none.

    Each is held alone against what is left of the node once the tasks before it have ended.
    """
    name = _node_of_assistant(store, run, assistant.name) if not has_ended(run) else ""
    node = store.get(scheduling.NODES, name) if name else None
    if not name:
        return assistant
    states = [store.covered(read) for read in _node_reads(name)]
    if node is None or not all(state.is_known for state in states):
        refused = any(state.state in {"denied", "failed"} for state in states)
        return structs.replace(assistant, node=name, unread_node=refused)
    pods = [bind(pod) for pod in store.all(scheduling.POD) if node_of(pod) == name]
    fitting: list[str] = []
    lacking: list[LackingTask] = []
    for task in tasks:
        asked = _asked_pod(run, answer, task.name)
        if task.name not in assistant.tasks or task.state not in _TO_COME or asked is None:
            continue
        ended = _tasks_before(task, tasks)
        left = build_node(node, (pod for pod in pods if not _is_of_tasks(pod, run, ended)))
        rejection = ResourcesFilter(requests_of(asked, on_node=False), {}).check(left)
        if rejection is None:
            fitting.append(task.name)
        else:
            lacking.append(LackingTask(task.name, tuple(map(node_shortage, rejection.shortages))))
    return structs.replace(assistant, node=name, fitting=tuple(fitting), not_fitting=tuple(lacking))


def _asked_pod(run: PipelineRun, answer: PipelineAnswer, task: str) -> SchedulingPod | None:
    """Return the pod of a task with the requests that admission leaves it; None: it is not known, or gets none."""
    for result in answer.results.get(task, ()):
        spec: Mapping[str, Any] = (result.stored_run or {}).get("spec") or {}
        if result.outcome is not None and result.outcome.allowed and spec:
            metadata = PodIdentity(task, run.metadata.namespace)
            return new_pod_as_stored(NewPod(SchedulingPod(metadata)), spec).pod
    return None


def _tasks_before(task: PlannedTask, tasks: Sequence[PlannedTask]) -> frozenset[str]:
    """Return the tasks that have ended when a task starts: those that it comes after, and of a final one all others."""
    if task.is_finally:
        return frozenset(other.name for other in tasks if not other.is_finally)
    after = {other.name: other.after for other in tasks}
    before: set[str] = set()
    todo = list(task.after)
    while todo:
        name = todo.pop()
        if name not in before:
            before.add(name)
            todo += after.get(name, ())
    return frozenset(before)


def _is_of_tasks(pod: BoundPod, run: PipelineRun, tasks: frozenset[str]) -> bool:
    is_own = pod.namespace == run.metadata.namespace and pod.labels.get(PIPELINE_RUN) == run.metadata.name
    return is_own and pod.labels.get(PIPELINE_TASK) in tasks
