"""Tasks of a PipelineRun that are still to come, on the node that their affinity assistant runs on."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from reports.runs import piece, pipeline_run
from reports.stored import made, store_of, subject

from kubectl_kres.model import scheduling
from kubectl_kres.model.scheduling import SchedulingNode, SchedulingPod
from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.store.store import READ, Coverage, Origin, ReadRequest, Store
from kubectl_kres.tekton.commands.explain_pipeline import PipelineExplainer
from kubectl_kres.tekton.reports.explain_pipeline import explain_pipeline
from kubectl_kres.tekton.reports.pipeline import AssistantPod
from kubectl_kres.tekton.rules.pipeline.pipeline_run import assistant_name
from kubectl_kres.tekton.text import pipeline

ASK = EvaluationOptions(now="2026-11-20T03:10:00Z")
SPACES = [{"name": "w", "persistentVolumeClaim": {"claimName": "c"}}]
USED = {"workspaces": [{"name": "w", "workspace": "w"}]}
ASSISTANT = f"{assistant_name('w', 'p')}-0"
PODS = ReadRequest(scheduling.POD, field_selector="spec.nodeName=n1", required=False)


def task(name: str, *after: str, cpu: str = "1") -> dict[str, Any]:
    one = piece(name, *after, cpu=cpu, **USED)
    return {**one, "taskSpec": {**one["taskSpec"], "workspaces": [{"name": "w"}]}}


def on_node(name: str, cpu: str, phase: str = "Running", space: str = "ns", **labels: str) -> SchedulingPod:
    container = {"name": "c", "resources": {"requests": {"cpu": cpu}}}
    raw = {
        "metadata": {"name": name, "namespace": space, "labels": labels},
        "spec": {"containers": [container], "nodeName": "n1"},
        "status": {"phase": phase},
    }
    return msgspec.convert(raw, SchedulingPod)


def of_task(name: str, cpu: str, phase: str = "Running") -> SchedulingPod:
    labels = {"tekton.dev/pipelineRun": "p", "tekton.dev/pipelineTask": name}
    return on_node(f"p-{name}-pod", cpu, phase, **labels)


def stored(*tasks: Any, pods: Any = (), last: Any = (), unread: bool = False, node: str = "n1") -> Store:
    run = pipeline_run("p", *tasks, last=list(last), workspaces=SPACES, status={"startTime": "2026-11-20T03:00:00Z"})
    store = store_of(run, made("Pod", ASSISTANT, spec={"nodeName": node, "containers": []}))
    size = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    raw = {"metadata": {"name": "n1"}, "status": {"allocatable": size}}
    store.add(scheduling.NODES, msgspec.convert(raw, SchedulingNode))
    for pod in pods:
        store.add(scheduling.POD, pod)
    store.cover(ReadRequest(scheduling.NODES, name="n1", required=False), READ)
    store.cover(PODS, Coverage("denied") if unread else READ)
    return store


def assistant(store: Store) -> AssistantPod:
    (found,) = explain_pipeline(store, subject("PipelineRun/p"), ASK).assistants
    return found


def test_a_task_that_does_not_fit_beside_what_others_hold():
    store = stored(task("a"), task("b", "a", cpu="3"), pods=[on_node("other", "1500m", space="elsewhere")])
    found = assistant(store)
    assert (found.node, found.fitting) == ("n1", ("a",))
    (lacking,) = found.not_fitting
    (short,) = lacking.shortages
    assert lacking.name == "b"
    assert (short.resource, short.pod_request, short.requested, short.short_by) == ("cpu", "3", "1500m", "500m")
    explained = explain_pipeline(store, subject("PipelineRun/p"), ASK)
    words = (
        "task b does not fit on node n1, to which the assistant pins it: short by 500m of cpu (asks 3; it has 4, 1500m"
    )
    for lines in (pipeline.lines(explained), pipeline.page(explained, now=ASK.now)):
        assert words in " ".join(" ".join(lines).split())


def test_pods_of_tasks_that_end_before_are_gone_then():
    held = [of_task("a", "2"), of_task("side", "1")]
    tasks = task("a"), task("side"), task("b", "a"), task("c", "b", cpu="3")
    found = assistant(stored(*tasks, pods=held))
    assert found.not_fitting == () and "c" in found.fitting  # that of a is gone, that of side may still run
    found = assistant(stored(*tasks[:3], task("c", "b", cpu="3500m"), pods=held))
    assert [each.name for each in found.not_fitting] == ["c"]
    found = assistant(stored(*tasks[:3], pods=held, last=[task("end", cpu="4")]))
    assert "end" in found.fitting


def test_pods_that_have_ended_hold_nothing():
    assert not assistant(stored(task("b", cpu="4"), pods=[on_node("done", "2", "Succeeded")])).not_fitting


def test_what_may_not_be_read_is_said():
    store = stored(task("b", cpu="9"), unread=True)
    found = assistant(store)
    assert (found.node, found.unread_node, found.not_fitting) == ("n1", True, ())
    lines = pipeline.lines(explain_pipeline(store, subject("PipelineRun/p"), ASK))
    assert "what is left there for tasks to come could not be read" in " ".join(" ".join(lines).split())


def test_an_assistant_that_waits_for_a_node_says_nothing():
    found = assistant(stored(task("b", cpu="9"), node=""))
    assert (found.node, found.not_fitting, found.fitting) == ("", (), ())


@pytest.mark.parametrize("ended", [False, True])
def test_the_node_and_its_pods_are_read_only_while_the_run_is_open(ended: bool):
    status: dict[str, Any] = {"startTime": "2026-11-20T03:00:00Z"}
    if ended:
        status |= {"conditions": [{"type": "Succeeded", "status": "True"}], "completionTime": "2026-11-20T03:05:00Z"}
    run = pipeline_run("p", task("b"), workspaces=SPACES, status=status)
    store = store_of(run, made("Pod", ASSISTANT, spec={"nodeName": "n1", "containers": []}))
    assert store.origin == Origin("cluster", "here")
    needs = PipelineExplainer.reads(store, subject("PipelineRun/p"))
    assert (PODS in needs, any(need.kind == scheduling.NODES for need in needs)) == (not ended, not ended)


def test_of_a_list_few_nodes_are_read():
    run = pipeline_run("p", task("b"), workspaces=SPACES, status={"startTime": "2026-11-20T03:00:00Z"})
    store = store_of(run, made("Pod", ASSISTANT, spec={"nodeName": "n1", "containers": []}))
    for number in range(10):
        store.add(scheduling.NODES, msgspec.convert({"metadata": {"name": f"other-{number}"}}, SchedulingNode))
    assert PODS not in PipelineExplainer.reads(store, subject("PipelineRun/p"))
    found = assistant(store)
    assert (found.node, found.unread_node) == ("n1", False)  # nobody asked
