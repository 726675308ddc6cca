"""What a run makes: claims, assistants, TaskRuns and pods, each with what becomes of it."""

from __future__ import annotations

from typing import Any

from reports.runs import pipeline_run, step
from reports.stored import made, store_of, subject

from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.analysis import AccountStep
from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.tekton.model import PipelineRun
from kubectl_kres.tekton.reports.explain_pipeline import explain_pipeline
from kubectl_kres.tekton.reports.run_objects import existing_claims, existing_pods, pipeline_steps
from kubectl_kres.tekton.reports.world import tekton_world
from kubectl_kres.tekton.rules.pipeline.pipeline_run import pipeline_run as answer_of

ASK = EvaluationOptions(now="2026-11-20T03:10:00Z")
CLAIM = {
    "name": "src",
    "volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}}},
}
USES = {"workspaces": [{"name": "src"}]}


def piece(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "taskSpec": {"steps": [step("s")]}, **more}


def full(**hard: str) -> Any:
    names = {name.replace("count_", "count/").replace("_", "."): amount for name, amount in hard.items()}
    return made("ResourceQuota", "q", spec={"hard": names}, status={"hard": names, "used": dict.fromkeys(names, "0")})


def steps(*given: Any) -> list[AccountStep]:
    store, ref = store_of(*given), subject("PipelineRun/p").ref
    world, whole = tekton_world(store, ref.namespace, ASK), store.get(ref.kind, ref.name, ref.namespace)
    assert isinstance(whole, PipelineRun)
    answer = answer_of(whole, world, claims=existing_claims(store, whole), pods=existing_pods(store, whole))
    return [*pipeline_steps(whole, answer, world)]


def objects(*given: Any) -> list[tuple[str, str, str]]:
    return [(one.object.kind, one.maker.kind, one.state) for one in steps(*given)]


def test_a_pipelinerun_makes_claims_assistants_and_taskruns():
    whole = pipeline_run("p", piece("a", **USES), piece("b"), workspaces=[CLAIM])
    assert objects(whole) == [
        ("PersistentVolumeClaim", "PipelineRun", "admitted"),
        ("StatefulSet", "PipelineRun", "admitted"),
        ("ControllerRevision", "StatefulSet", "admitted"),
        ("Pod", "StatefulSet", "admitted"),
        ("TaskRun", "PipelineRun", "admitted"),
        ("Pod", "TaskRun", "admitted"),
        ("TaskRun", "PipelineRun", "admitted"),
        ("Pod", "TaskRun", "admitted"),
    ]


def test_nothing_comes_after_a_claim_that_is_refused():
    whole = pipeline_run("p", piece("a", **USES), workspaces=[CLAIM])
    found = steps(whole, full(requests_storage="1Gi"))
    assert [one.state for one in found] == ["refused", "none", "none", "none", "none", "none"]
    assert found[0].charges[0].requested == {"requests.storage": "2Gi"}
    assert found[0].storage == "2Gi"
    assert "exceeded quota: q" in found[0].messages[0]


def test_an_assistant_that_is_refused_names_its_tasks():
    limits = {"limits": [{"type": "Container", "min": {"cpu": "100m"}, "defaultRequest": {"cpu": "100m"}}]}
    whole = pipeline_run("p", piece("a", **USES), piece("b"), workspaces=[CLAIM])
    found = steps(whole, made("LimitRange", "l", spec=limits))
    [pod] = [one for one in found if one.maker.kind == "StatefulSet" and one.object.kind == "Pod"]
    assert (pod.state, pod.tasks, pod.workspace) == ("refused", ("a",), "src")


def explained(*given: Any) -> Any:
    return explain_pipeline(store_of(*given), subject("PipelineRun/p"), ASK)


def test_a_run_fails_where_the_statefulset_of_its_assistant_is_refused():
    whole, quota = pipeline_run("p", piece("a", **USES), workspaces=[CLAIM]), full(count_statefulsets_apps="0")
    states = {one.object.kind: one.state for one in steps(whole, quota)}
    assert states["StatefulSet"] == "refused"
    assert (states["ControllerRevision"], states["TaskRun"]) == ("none", "none")
    told = explained(whole, quota)
    assert told.verdict.allowed is False
    name = told.assistants[0].name
    assert told.problem.message == (
        "Failed to create StatefulSet for PipelineRun ns/p correctly: Affinity Assistant creation error: "
        f'[failed to create StatefulSet {name}: statefulsets.apps "{name}" is forbidden: exceeded quota: q, '
        "requested: count/statefulsets.apps=1, used: count/statefulsets.apps=0, limited: count/statefulsets.apps=0]"
    )
    assert sentence_text(told.fixes[0].text).startswith("raise count/statefulsets.apps of quota q to 1")


def test_an_assistant_gets_no_pod_where_its_controller_revision_is_refused():
    whole = pipeline_run("p", piece("a", **USES), workspaces=[CLAIM])
    told = explained(whole, full(count_controllerrevisions_apps="0"))
    assert told.verdict.allowed is False
    assert "controllerrevisions.apps" in told.verdict.message
    assert sentence_text(told.fixes[0].text).startswith("raise count/controllerrevisions.apps of quota q to 1")


def test_the_second_assistant_finds_what_the_first_has_left():
    claims = [{**CLAIM, "name": name} for name in ("src", "out")]
    tasks = [piece(name, workspaces=[{"name": name}]) for name in ("src", "out")]
    whole = pipeline_run("p", *tasks, workspaces=claims)
    told = explained(whole, full(count_statefulsets_apps="1"))
    assert told.verdict.allowed is False
    assert sentence_text(told.fixes[0].text).startswith("raise count/statefulsets.apps of quota q to 2")
    assert explained(whole, full(count_statefulsets_apps="2")).verdict.allowed is True
