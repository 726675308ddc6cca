"""What happens to runs, as people met it: each test is a public situation, in a small world."""

from __future__ import annotations

from typing import Any

import pytest
from reports.stored import made, store_of

from kubectl_kres.errors import ClusterError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.pod.explain import explanation_lines
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import EvaluationOptions, Explanation, Subject
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.overview import AreaInput, overview
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.reports.explain_pipeline import explain_pipeline
from kubectl_kres.tekton.reports.overview import AREAS
from kubectl_kres.tekton.text.pipeline import pipeline_lines

NOW = "2026-11-28T12:00:00Z"
_STEP = {"name": "one", "image": "example.org/i", "command": ["true"]}


def run(name: str = "push", status: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    written = {"taskSpec": {"steps": [_STEP]}, **spec}
    metadata = {"name": name, "namespace": "ns", "creationTimestamp": "2026-11-28T11:20:00Z"}
    more = {"status": status} if status is not None else {}
    return {"apiVersion": "tekton.dev/v1", "kind": "TaskRun", "metadata": metadata, "spec": written, **more}


def config(name: str, **data: str) -> dict[str, Any]:
    return {"kind": "ConfigMap", "metadata": {"name": name, "namespace": "tekton-pipelines"}, "data": data}


def asked(store: Store, name: str = "push") -> Explanation:
    ref = ObjectRef("TaskRun", name, "ns")
    return explain(store, Subject(ref, BY_KIND["TaskRun"]), EvaluationOptions(now=NOW))


def text_of(found: Explanation) -> str:
    return "\n".join("".join(text for _, text in line) for line in explanation_lines(found, steps=False, width=1000))


_NO_ACCOUNT = (
    'failed to create task run pod "push": translating TaskSpec to Pod: serviceaccounts "build-bot" not found. '
    "Maybe invalid TaskSpec"
)


def test_missing_service_account_refuses_the_run() -> None:
    """Situation 13, before Tekton has looked at the run."""
    found = asked(store_of(run(serviceAccountName="build-bot")))
    assert (found.verdict.outcome, found.verdict.message) == ("refused", _NO_ACCOUNT)
    assert "kubectl create serviceaccount build-bot -n ns" in text_of(found)
    account = made("ServiceAccount", "build-bot")
    assert asked(store_of(run(serviceAccountName="build-bot"), account)).verdict.outcome == "admitted"
    assert asked(store_of(run())).verdict.outcome == "admitted"


def test_service_account_of_the_configuration_counts() -> None:
    store = store_of(run(), config("config-defaults", **{"default-service-account": "build-bot"}))
    assert asked(store).verdict.message == _NO_ACCOUNT


def test_without_credentials_the_server_misses_the_account() -> None:
    flags = config("feature-flags", **{"disable-creds-init": "true"})
    message = asked(store_of(run(serviceAccountName="build-bot"), flags)).verdict.message
    assert 'error looking up service account ns/build-bot: serviceaccount "build-bot" not found' in message


def test_run_that_ended_without_its_account_says_what_a_new_one_needs() -> None:
    """Situation 13, afterwards: a new run would fail the same way."""
    condition = {"type": "Succeeded", "status": "False", "reason": "PodCreationFailed", "message": _NO_ACCOUNT}
    found = text_of(asked(store_of(run(serviceAccountName="build-bot", status={"conditions": [condition]}))))
    assert "create ServiceAccount build-bot" in found
    assert "then start a new run" in found


_RESTRICTED = {"kind": "Namespace", "metadata": {"name": "ns", "labels": {
    "pod-security.kubernetes.io/enforce": "restricted"}}}  # fmt: skip
_FULL = {
    "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}  # fmt: skip


def test_flag_that_the_version_lacks_is_not_proposed() -> None:
    """Situation 20: set-security-context came with 0.49."""
    secured = run(taskSpec={"stepTemplate": {"securityContext": _FULL}, "steps": [_STEP]})
    fixes = {
        version: [
            sentence_text(each.text)
            for each in asked(store_of(secured, _RESTRICTED, config("pipelines-info", version=version))).fixes
        ]
        for version in ("v0.48.0", "v0.49.0")
    }
    assert any("set set-security-context to true" in text for text in fixes["v0.49.0"])
    (old,) = fixes["v0.48.0"]
    assert old.startswith("upgrade Tekton to 0.49 or newer")
    assert "pod-security.kubernetes.io/enforce=baseline" in old


def _pod(*statuses: dict[str, Any]) -> dict[str, Any]:
    owners = [{"kind": "TaskRun", "name": "push", "controller": True}]
    containers = [
        {"name": "step-one", "image": "i", "resources": {"limits": {"memory": "64Mi"}}},
        {"name": "step-two", "image": "i"},
    ]
    return made(
        "Pod", "push-pod",
        spec={"restartPolicy": "Never", "nodeName": "n1", "containers": containers},
        status={"phase": "Running", "containerStatuses": list(statuses)},
        ownerReferences=owners,
    )  # fmt: skip


def test_killed_step_that_others_wait_for() -> None:
    """Situation 08: nothing restarted, so that there is no previous container to ask."""
    ended = {"exitCode": 137, "reason": "Error", "finishedAt": "2026-11-28T11:21:00Z"}
    pod = _pod(
        {"name": "step-one", "ready": False, "restartCount": 0, "state": {"terminated": ended}},
        {"name": "step-two", "ready": True, "restartCount": 0, "state": {"running": {}}},
    )
    pod["metadata"]["ownerReferences"] = [{"kind": "TaskRun", "name": "push", "controller": True}]
    condition = {"type": "Succeeded", "status": "Unknown", "reason": "Running"}
    steps = [_STEP, {**_STEP, "name": "two"}]
    status = {"podName": "push-pod", "conditions": [condition], "taskSpec": {"steps": steps}}
    found = text_of(asked(store_of(run(taskSpec={"steps": steps}, status=status), pod)))
    assert "raise its memory limit above" in found
    assert "kubectl logs push-pod -n ns -c step-one shows what it did last; then start a new run" in found
    assert "--previous" not in found
    assert "exit code 137: killed, as for memory under its limit 64Mi; the other steps wait for it" in found


_ASSISTANT = {
    "app.kubernetes.io/instance": "affinity-assistant-b2",
    "app.kubernetes.io/component": "affinity-assistant",
}
_UNSCHEDULABLE = {
    "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/2 nodes are available",
}  # fmt: skip


def _waiting(name: str, **metadata: Any) -> dict[str, Any]:
    spec = {"schedulerName": "default-scheduler", "containers": [{"name": "step-one", "image": "i"}]}
    pod = made("Pod", name, spec=spec, status={"phase": "Pending", "conditions": [_UNSCHEDULABLE]})
    pod["metadata"].update(metadata)
    return pod


def _beside_assistant(*, waits: bool) -> Store:
    task_pod = _waiting("push-pod", ownerReferences=[{"kind": "TaskRun", "name": "push", "controller": True}])
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": _ASSISTANT}}
    task_pod["spec"]["affinity"] = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    assistant = _waiting("affinity-assistant-b2-0", labels=_ASSISTANT)
    if not waits:
        assistant["spec"]["nodeName"] = "n1"
    condition = {"type": "Succeeded", "status": "Unknown", "reason": "Pending", "message": "pod status"}
    status = {"podName": "push-pod", "conditions": [condition], "taskSpec": {"steps": [_STEP]}}
    pipeline = {
        "apiVersion": "tekton.dev/v1", "kind": "PipelineRun",
        "metadata": {"name": "next", "namespace": "ns", "creationTimestamp": "2026-11-28T11:20:00Z"},
        "spec": {"pipelineSpec": {"tasks": [{"name": "build", "taskSpec": {"steps": [_STEP]}}]}},
        "status": {
            "conditions": [{"type": "Succeeded", "status": "Unknown", "reason": "Running"}],
            "childReferences": [{"kind": "TaskRun", "name": "push", "pipelineTaskName": "build"}],
        },
    }  # fmt: skip
    return store_of(run(status=status), task_pod, assistant, pipeline)


def test_pod_beside_one_that_waits_is_explained_by_that_one() -> None:
    """Situation 12: nobody wrote the affinity, so that it is not proposed to leave it out."""
    found = text_of(asked(_beside_assistant(waits=True)))
    assert "it has to run beside pod affinity-assistant-b2-0, which finds no node itself" in found
    assert "kubectl kres explain pod/affinity-assistant-b2-0 -n ns" in found
    assert "leave out" not in found
    assert "beside pod" not in text_of(asked(_beside_assistant(waits=False)))


def test_page_of_a_pipeline_run_carries_what_its_task_says() -> None:
    """Situations 04, 05 and 12: a task that finds no node stops the run."""
    subject = Subject(ObjectRef("PipelineRun", "next", "ns"), BY_KIND["PipelineRun"])
    state = explain_pipeline(_beside_assistant(waits=True), subject, EvaluationOptions(now=NOW)).run_state
    assert state is not None
    assert sentence_text(state.next).startswith("task build: it has to run beside pod affinity-assistant-b2-0")
    assert "kubectl kres explain taskrun/push -n ns" in sentence_text(state.next)


def _ended(name: str, reason: str, message: str, **status: Any) -> dict[str, Any]:
    condition = {"type": "Succeeded", "status": "False", "reason": reason, "message": message}
    return run(name, status={"conditions": [condition], **status}, serviceAccountName="build-bot")


def test_overview_says_why_runs_ended_and_what_a_new_one_needs() -> None:
    """Situations 13 and 25 for somebody who starts with the overview; a step's own failure is no row."""
    store = store_of(
        _ended("push", "PodCreationFailed", _NO_ACCOUNT),
        _ended("out", "PodEvicted", "The node was low on resource: memory.", podName="out-pod"),
        _ended("bad", "Failed", '"step-one" exited with code 1', podName="bad-pod"),
    )
    context = AreaInput(store, "ns", EvaluationOptions(now=NOW), lambda _quota: "")
    area, remedies = AREAS[0].make(context)
    rows = {problem.subject.name: problem for problem in area.problems}
    assert set(rows) == {"push", "out"}
    assert rows["push"].reason == f"PodCreationFailed: {_NO_ACCOUNT}"
    assert rows["out"].reason == "PodEvicted: The node was low on resource: memory."
    assert sentence_text(remedies(rows["push"])[0].text).startswith("create ServiceAccount build-bot")


def test_overview_has_a_pipeline_run_that_timed_out_in_the_queue() -> None:
    timed_out = {"type": "Succeeded", "status": "False", "reason": "PipelineRunTimeout", "message": "took too long"}

    def pipeline_run(name: str) -> dict[str, Any]:
        return {
            "apiVersion": "tekton.dev/v1", "kind": "PipelineRun", "metadata": {"name": name, "namespace": "ns"},
            "spec": {"pipelineSpec": {"tasks": [{"name": "t", "taskSpec": {"steps": [_STEP]}}]}},
            "status": {
                "conditions": [timed_out],
                "childReferences": [{"kind": "TaskRun", "name": f"{name}-t", "pipelineTaskName": "t"}],
            },
        }  # fmt: skip

    store = store_of(
        pipeline_run("queued"), _ended("queued-t", "TaskRunCancelled", ""),
        pipeline_run("slow"), _ended("slow-t", "TaskRunCancelled", "", podName="slow-t-pod"),
    )  # fmt: skip
    context = AreaInput(store, "ns", EvaluationOptions(now=NOW), lambda _quota: "")
    area, _ = AREAS[1].make(context)
    assert [(problem.subject.name, problem.reason) for problem in area.problems] == [
        ("queued", "PipelineRunTimeout: took too long")
    ]


def test_a_pod_that_asks_for_the_sum_of_its_steps_says_so() -> None:
    """Situation 03: nine steps of one cpu each, which no node has free at once."""
    steps = [{**_STEP, "name": f"s{number}", "computeResources": {"requests": {"cpu": "1"}}} for number in range(9)]
    message = "0/2 nodes are available: 2 Insufficient cpu."
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    containers = [{"name": f"step-s{number}", "resources": {"requests": {"cpu": "1"}}} for number in range(9)]
    pod = made(
        "Pod", "push-pod", spec={"containers": containers}, status={"phase": "Pending", "conditions": [condition]}
    )
    waits = {"podName": "push-pod", "conditions": [{"type": "Succeeded", "status": "Unknown", "reason": "Pending"}]}
    text = text_of(asked(store_of(run(taskSpec={"steps": steps}, status=waits), pod)))
    assert "cpu 9 is the sum of 9 steps" in text
    assert "computeResources.requests.cpu 1 of a new run" in text
    one = made("Pod", "push-pod", spec={"containers": containers[:1]}, status=pod["status"])
    assert "is the sum of" not in text_of(asked(store_of(run(taskSpec={"steps": steps[:1]}, status=waits), one)))


def test_a_pipeline_run_that_timed_out_says_so_first() -> None:
    timed_out = {
        "type": "Succeeded", "status": "False", "reason": "PipelineRunTimeout",
        "message": 'PipelineRun "p" failed to finish within "1h0m0s"',
    }  # fmt: skip
    pipeline = {
        "apiVersion": "tekton.dev/v1", "kind": "PipelineRun", "metadata": {"name": "p", "namespace": "ns"},
        "spec": {"pipelineSpec": {"tasks": [{"name": "t", "taskSpec": {"steps": [_STEP]}}]}},
        "status": {"conditions": [timed_out]},
    }  # fmt: skip
    subject = Subject(ObjectRef("PipelineRun", "p", "ns"), BY_KIND["PipelineRun"])
    found = explain_pipeline(store_of(pipeline), subject, EvaluationOptions(now=NOW))
    first = next(iter(pipeline_lines(found, steps=False, width=200)))
    assert "".join(text for _, text in first).startswith("failed: ns/PipelineRun/p: PipelineRunTimeout")
    assert all(sentence_text(fix.text).count("start a new run") <= 1 for fix in found.fixes)


def test_a_run_whose_task_could_not_be_fetched_says_why() -> None:
    condition = {
        "type": "Succeeded", "status": "False", "reason": "TaskRunResolutionFailed",
        "message": "git clone error: authentication required",
    }  # fmt: skip
    item = run(status={"conditions": [condition]})
    item["spec"] = {"taskRef": {"resolver": "git"}}
    with pytest.raises(ClusterError, match="git clone error: authentication required"):
        asked(store_of(item))


def test_a_pipeline_run_that_waits_for_its_claim_is_among_the_worst() -> None:
    """Nothing of it runs, though its condition is that of a run under way."""
    message = (
        'Waiting for PVC creation to succeed: persistentvolumeclaims "pvc-9" is forbidden: exceeded quota: disk, '
        "requested: requests.storage=5Gi, used: requests.storage=20Gi, limited: requests.storage=20Gi"
    )
    waits = {"type": "Succeeded", "status": "Unknown", "reason": "PipelineRunPending", "message": message}
    claim = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "5Gi"}}}}
    pipeline_run = {
        **run("fresh", {"conditions": [waits], "startTime": NOW}),
        "kind": "PipelineRun",
        "spec": {
            "pipelineSpec": {
                "tasks": [{"name": "build", "taskSpec": {"steps": [_STEP]}}],
                "workspaces": [{"name": "w"}],
            },
            "workspaces": [{"name": "w", "volumeClaimTemplate": claim}],
        },
    }
    hard, used = {"requests.storage": "20Gi"}, {"requests.storage": "20Gi"}
    full = made("ResourceQuota", "disk", spec={"hard": hard}, status={"hard": hard, "used": used})
    found = overview(store_of(pipeline_run, full), "ns", EvaluationOptions(now=NOW), ())
    first = found.problems[0]
    assert (first.subject.name, first.run_state and first.run_state.reason) == ("fresh", "Quota")
    assert sentence_text(first.fixes[0].text) == "raise requests.storage of quota disk to 25Gi"
    held = {**pipeline_run, "spec": {**pipeline_run["spec"], "status": "PipelineRunPending"}}
    found = overview(store_of(held, full), "ns", EvaluationOptions(now=NOW), ())
    assert found.problems[0].run_state is None or found.problems[0].run_state.reason != "Quota"
