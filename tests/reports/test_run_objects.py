"""What a run makes: claims, assistants, TaskRuns and pods, each with what becomes of it."""

from __future__ import annotations

from typing import Any

from reports.runs import pipeline_run, run, step, task
from reports.stored import made, store_of, subject

from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.tekton.reports.run_objects import RunObject, objects_of_run

ASK = EvaluationOptions(now="2026-11-20T03:10:00Z")
CLAIM = {
    "name": "src",
    "volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}}},
}
USES = {"workspaces": [{"name": "src"}]}


def piece(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "taskSpec": {"steps": [step("s")]}, **more}


def full(**hard: str) -> Any:
    names = {name.replace("_", "."): amount for name, amount in hard.items()}
    return made("ResourceQuota", "q", spec={"hard": names}, status={"hard": names, "used": dict.fromkeys(names, "0")})


def objects(name: str, *given: Any) -> list[tuple[str, str, str]]:
    found: tuple[RunObject, ...] = objects_of_run(store_of(*given), subject(name), ASK)
    return [(one.object.kind, one.maker.kind, one.state) for one in found]


def test_a_pipelinerun_makes_claims_assistants_and_taskruns():
    whole = pipeline_run("p", piece("a", **USES), piece("b"), workspaces=[CLAIM])
    assert objects("PipelineRun/p", whole) == [
        ("PersistentVolumeClaim", "PipelineRun", "admitted"),
        ("StatefulSet", "PipelineRun", "admitted"),
        ("Pod", "StatefulSet", "admitted"),
        ("TaskRun", "PipelineRun", "admitted"),
        ("Pod", "TaskRun", "admitted"),
        ("TaskRun", "PipelineRun", "admitted"),
        ("Pod", "TaskRun", "admitted"),
    ]


def test_nothing_comes_after_a_claim_that_is_refused():
    whole = pipeline_run("p", piece("a", **USES), workspaces=[CLAIM])
    found = objects_of_run(store_of(whole, full(requests_storage="1Gi")), subject("PipelineRun/p"), ASK)
    assert [one.state for one in found] == ["refused", "none", "none", "none", "none"]
    assert found[0].charges[0].requested == {"requests.storage": "2Gi"}
    assert found[0].storage == "2Gi"
    assert "exceeded quota: q" in found[0].messages[0]


def test_an_assistant_that_is_refused_names_its_tasks():
    limits = {"limits": [{"type": "Container", "min": {"cpu": "100m"}, "defaultRequest": {"cpu": "100m"}}]}
    whole = pipeline_run("p", piece("a", **USES), piece("b"), workspaces=[CLAIM])
    found = objects_of_run(store_of(whole, made("LimitRange", "l", spec=limits)), subject("PipelineRun/p"), ASK)
    [pod] = [one for one in found if one.maker.kind == "StatefulSet"]
    assert (pod.state, pod.tasks, pod.workspace) == ("refused", ("a",), "src")


def test_a_taskrun_makes_claims_and_a_pod():
    built = task("build", step("s"), workspaces=[{"name": "src"}])
    one = run("r", workspaces=[CLAIM])
    assert objects("TaskRun/r", built, one) == [
        ("PersistentVolumeClaim", "TaskRun", "admitted"),
        ("Pod", "TaskRun", "admitted"),
    ]
    refused = [kind for kind, _, state in objects("TaskRun/r", built, one, full(persistentvolumeclaims="0")) if state]
    assert refused == ["PersistentVolumeClaim"]


def test_a_run_that_has_ended_makes_nothing():
    ended = {"conditions": [{"type": "Succeeded", "status": "True"}]}
    assert objects("PipelineRun/p", pipeline_run("p", piece("a"), status=ended)) == []
