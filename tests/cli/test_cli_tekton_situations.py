"""What people meet with Tekton: Pod Security, assistants, claims, added containers, held-back runs, the operator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli.running import Kres, Result

Raw = dict[str, Any]
SOUND = {
    "allowPrivilegeEscalation": False,
    "runAsNonRoot": True,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}
OPERATOR = {
    "labels": {"operator.tekton.dev/operand-name": "tektoncd-pipelines"},
    "ownerReferences": [
        {"apiVersion": "operator.tekton.dev/v1alpha1", "kind": "TektonInstallerSet", "name": "x", "uid": "u"}
    ],
}


def step(name: str = "hi", **more: Any) -> Raw:
    return {"name": name, "image": "alpine", "script": "echo", **more}


def task_run(*steps: Raw, status: Raw | None = None, **spec: Any) -> Raw:
    task = {"steps": [*(steps or (step(),))], **spec.pop("task", {})}
    meta = {"name": "hello", "namespace": "vault", "uid": "run-1"}
    made = {"apiVersion": "tekton.dev/v1", "kind": "TaskRun", "metadata": meta, "spec": {"taskSpec": task, **spec}}
    return made if status is None else {**made, "status": status}


def pipeline_run(workspaces: list[Raw], *names: str, context: Raw | None = SOUND, **spec: Any) -> Raw:
    used = [{"name": workspace["name"]} for workspace in workspaces]
    own = {"name": "s", "image": "a", "command": ["sh"], **({"securityContext": context} if context else {})}
    tasks = [
        {"name": name, "workspaces": used, "taskSpec": {"workspaces": used, "steps": [own]}} for name in names or ("t",)
    ]
    meta = {"name": "pipe", "namespace": "vault"}
    whole = {"workspaces": workspaces, "pipelineSpec": {"workspaces": used, "tasks": tasks}, **spec}
    return {"apiVersion": "tekton.dev/v1", "kind": "PipelineRun", "metadata": meta, "spec": whole}


def template(storage: str = "1Gi", **spec: Any) -> Raw:
    own = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}, **spec}
    return {"name": "src", "volumeClaimTemplate": {"spec": own}}


def space(level: str) -> Raw:
    labels = {"pod-security.kubernetes.io/enforce": level}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "vault", "labels": labels}}


def limit_range(kind: str = "Container", **item: Raw) -> Raw:
    spec = {"limits": [{"type": kind, **item}]}
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "lr", "namespace": "vault"}, "spec": spec}


def quota(hard: Raw, used: Raw) -> Raw:
    meta = {"name": "q", "namespace": "vault"}
    status = {"hard": hard, "used": used}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta, "spec": {"hard": hard}, "status": status}


def configured(
    version: str = "v1.15.0", flags: Raw | None = None, meta: Raw | None = None, entries: str = ""
) -> list[Raw]:
    data = {
        "pipelines-info": {"version": version},
        "config-defaults": {"default-container-resource-requirements": entries} if entries else {},
        "feature-flags": flags or {},
    }
    return [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": "tekton-pipelines", **(meta or {})},
            "data": own,
        }
        for name, own in data.items()
    ]


@pytest.fixture
def explain(kres: Kres, tmp_path: Path) -> Any:
    def ask(*objects: Raw, config: list[Raw] | None = None, command: str = "explain", more: str = "") -> Result:
        given, settings = tmp_path / "in.yaml", tmp_path / "config.yaml"
        given.write_text(yaml.safe_dump_all(objects))
        settings.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": config or configured()}))
        return kres(f"{command} -f {given} --offline --tekton-config {settings} {more}")

    return ask


def answer(result: Result) -> Raw:
    return json.loads(result.out)["items"][0]


ON, OFF = {"set-security-context": "true"}, {"set-security-context": "false"}


@pytest.mark.parametrize(
    ("version", "flags", "context", "named"),
    [
        ("v1.15.0", {}, {}, {"prepare", "place-scripts", "step-hi"}),
        ("v1.15.0", ON, {}, {"step-hi"}),
        ("v1.15.0", OFF, SOUND, {"prepare", "place-scripts"}),
        ("v1.15.0", ON, SOUND, set()),
        ("v1.16.0", {}, {}, {"step-hi"}),
        ("v1.16.0", {}, SOUND, set()),
        ("v1.16.0", OFF, SOUND, {"prepare", "place-scripts"}),
        ("v1.15.0", ON, {**SOUND, "capabilities": {"drop": ["ALL"], "add": ["SYS_ADMIN"]}}, {"step-hi"}),
    ],
)
def test_a_restricted_namespace_looks_at_each_container(explain, version, flags, context, named):
    run = task_run(step(securityContext=context) if context else step())
    found = answer(explain(space("restricted"), run, config=configured(version, flags), more="-o json"))
    message = found["verdict"].get("message", "")
    assert {name for name in ("prepare", "place-scripts", "step-hi") if f'"{name}"' in message} == named
    assert found["verdict"]["allowed"] is (not named)
    flagged = [edit for way in found["fixes"] for edit in way["edits"] if edit["type"] == "set-config"]
    assert bool(flagged) == ("prepare" in named)
    assert any("step hi" in way["text"] for way in found["fixes"]) == ("step-hi" in named)
    assert all(way["proven"] for way in found["fixes"])


def test_contexts_of_the_pod_of_the_template_and_of_sidecars_count(explain):
    whole = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    rest = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    task = {"stepTemplate": {"securityContext": rest}, "sidecars": [{"name": "db", "image": "d"}]}
    run = task_run(task=task, podTemplate={"securityContext": whole})
    found = explain(space("restricted"), run, config=configured(flags=ON))
    assert 'allowPrivilegeEscalation != false (container "sidecar-db" must set' in " ".join(found.out.split())
    assert "runAsNonRoot" not in found.out.partition("fix ")[0]
    assert "in securityContext of sidecar db set allowPrivilegeEscalation" in " ".join(found.out.split())


def test_the_baseline_forbids_what_a_step_asks_for(explain):
    run = task_run(step(securityContext={"privileged": True}))
    found = explain(space("baseline"), run)
    assert 'privileged (container "step-hi" must not set securityContext.privileged=true)' in " ".join(
        found.out.split()
    )
    assert "in securityContext of step hi take out privileged true" in " ".join(found.out.split())
    volume = task_run(task={"volumes": [{"name": "sock", "hostPath": {"path": "/run"}}]})
    assert 'hostPath volumes (volume "sock")' in explain(space("baseline"), volume).out


def test_results_through_a_sidecar_are_looked_at_too(explain):
    run = task_run(step(securityContext=SOUND), task={"results": [{"name": "r"}]})
    flags = {"results-from": "sidecar-logs"}
    out = explain(space("restricted"), run, config=configured(flags=flags)).out
    assert '"sidecar-tekton-log-results"' in out


def test_an_assistant_below_a_minimum_stops_its_tasks(explain):
    low = limit_range(min={"cpu": "100m", "memory": "128Mi"}, defaultRequest={"cpu": "100m", "memory": "128Mi"})
    claim = {"name": "src", "persistentVolumeClaim": {"claimName": "data"}}
    found = answer(explain(low, pipeline_run([claim], "a", "b"), more="-o json"))
    assert found["verdict"]["allowed"] is False
    assert found["verdict"]["message"].startswith("the pods of tasks a and b never find a node: the affinity assistant")
    lower, flag = found["fixes"]
    assert [(edit["field"], edit["to"]) for edit in lower["edits"]] == [
        ("spec.limits[0].min[cpu]", "50m"),
        ("spec.limits[0].min[memory]", "100Mi"),
    ]
    assert [(edit["resource"], edit["to"]) for edit in flag["edits"]] == [("coschedule", "disabled")]
    mended = limit_range(min={"cpu": "50m", "memory": "100Mi"}, defaultRequest={"cpu": "100m", "memory": "128Mi"})
    assert answer(explain(mended, pipeline_run([claim]), more="-o json"))["verdict"]["allowed"] is True
    off = configured(flags={"coschedule": "disabled"})
    assert answer(explain(low, pipeline_run([claim]), config=off, more="-o json"))["verdict"]["allowed"] is True


def test_an_assistant_that_no_task_needs_stops_nothing(explain):
    low = limit_range(min={"cpu": "100m"}, defaultRequest={"cpu": "100m"})
    run = pipeline_run([{"name": "src", "persistentVolumeClaim": {"claimName": "data"}}])
    del run["spec"]["pipelineSpec"]["tasks"][0]["workspaces"]
    del run["spec"]["pipelineSpec"]["tasks"][0]["taskSpec"]["workspaces"]
    assert answer(explain(low, run, more="-o json"))["verdict"]["allowed"] is True


def test_an_assistant_in_a_restricted_namespace(explain):
    run = pipeline_run([{"name": "src", "persistentVolumeClaim": {"claimName": "data"}}])
    out = explain(space("restricted"), run).out
    assert 'violates PodSecurity "restricted:latest"' in out
    assert '(container "affinity-assistant" must set' in " ".join(out.split())
    assert answer(explain(space("restricted"), run, config=configured(flags=ON), more="-o json"))["verdict"]["allowed"]


def test_an_assistant_without_room_waits_for_a_quota(explain):
    full = quota({"pods": "3"}, {"pods": "3"})
    run = pipeline_run([{"name": "src", "persistentVolumeClaim": {"claimName": "data"}}])
    out = explain(full, run).out
    assert "affinity-assistant-" in out
    assert "raise pods of quota q to 4" in out


PVC_QUOTA = quota({"persistentvolumeclaims": "20"}, {"persistentvolumeclaims": "20"})


@pytest.mark.parametrize(
    ("version", "policy", "status", "reason"),
    [
        ("v1.15.0", PVC_QUOTA, "Unknown", "PipelineRunPending"),
        ("v1.4.0", PVC_QUOTA, "Unknown", "PipelineRunPending"),
        ("v1.3.0", PVC_QUOTA, "False", "CouldntCreateWorkspacePVC"),
        ("v0.62.0", PVC_QUOTA, "False", "CouldntCreateWorkspacePVC"),
        (
            "v1.15.0",
            limit_range("PersistentVolumeClaim", max={"storage": "500Mi"}),
            "False",
            "CouldntCreateWorkspacePVC",
        ),
    ],
)
def test_a_pipelineruns_claim_that_is_refused(explain, version, policy, status, reason):
    found = answer(explain(policy, pipeline_run([template()]), config=configured(version), more="-o json"))
    assert found["verdict"]["allowed"] is False
    assert (found["problem"]["status"], found["problem"]["reason"]) == (status, reason)
    assert [claim["state"] for claim in found["claims"]] == ["refused"]
    assert found["fixes"][0]["proven"] is True


def test_a_taskruns_claim_that_is_refused_ends_it(explain):
    found = answer(
        explain(PVC_QUOTA, task_run(workspaces=[template()], task={"workspaces": [{"name": "src"}]}), more="-o json")
    )
    problem = found["tekton"]["problem"]
    assert (problem["status"], problem["reason"]) == ("False", "CouldntCreateWorkspacePVC")
    assert found["fixes"][0]["text"] == "raise persistentvolumeclaims of quota q to 21"


def test_a_claim_of_a_class_and_less_storage(explain):
    name = "gold.storageclass.storage.k8s.io/requests.storage"
    full = quota({name: "4Gi"}, {name: "3Gi"})
    found = answer(explain(full, pipeline_run([template("2Gi", storageClassName="gold")]), more="-o json"))
    assert [way["text"] for way in found["fixes"]][:2] == [
        "set requests.storage of spec.workspaces[0].volumeClaimTemplate to 1Gi",
        f"raise {name} of quota q to 5Gi",
    ]
    other = explain(full, pipeline_run([template("2Gi", storageClassName="lead")]), more="-o json")
    assert answer(other)["verdict"]["allowed"] is True


def test_one_assistant_for_the_run_makes_the_claims(explain):
    config = configured(flags={"coschedule": "pipelineruns"})
    found = answer(explain(PVC_QUOTA, pipeline_run([template()]), config=config, more="-o json"))
    assert "problem" not in found
    assert "find" in found["verdict"]["message"]
    assert found["assistants"][0]["refused"][0].startswith("Create Claim pvc-")


def test_what_a_limitrange_gives_added_containers_is_not_the_steps(explain):
    lr = limit_range(default={"memory": "4Gi"}, defaultRequest={"memory": "4Gi"})
    hard = {"requests.memory": "6Gi", "limits.memory": "6Gi"}
    full = quota(hard, dict.fromkeys(hard, "4Gi"))
    run = task_run(step(computeResources={"requests": {"memory": "128Mi"}, "limits": {"memory": "256Mi"}}))
    result = explain(lr, full, run)
    assert "limits.memory 4Gi is that of prepare and place-scripts, which Tekton adds" in " ".join(result.out.split())
    entry, default, raised = answer(explain(lr, full, run, more="-o json"))["fixes"]
    [edit] = entry["edits"]
    assert edit["type"] == "set-config"
    assert set(edit["entries"]) == {"prepare", "place-scripts"}
    assert entry["commands"][0].startswith(
        "kubectl patch configmap config-defaults -n tekton-pipelines --type merge -p"
    )
    mended = answer(explain(lr, full, run, config=configured(entries=edit["to"]), more="-o json"))
    assert mended["verdict"]["allowed"] is True
    assert [edit["to"] for edit in default["edits"]] == ["2Gi", "2Gi"]
    assert raised["text"].startswith("raise quota q")


def test_a_quota_that_wants_values_of_added_containers(explain):
    full = quota({"cpu": "4", "memory": "8Gi"}, {"cpu": "0", "memory": "0"})
    resources = {"requests": {"cpu": "100m", "memory": "64Mi"}}
    run = task_run(step(computeResources=resources, workingDir="/workspace/x"))
    entry, created = answer(explain(full, run, more="-o json"))["fixes"]
    assert set(entry["edits"][0]["entries"]) == {"prepare", "place-scripts", "working-dir-initializer"}
    assert created["edits"][0]["type"] == "create-object"


def test_entries_that_are_there_stay(explain):
    full = quota({"cpu": "4", "memory": "8Gi"}, {"cpu": "0", "memory": "0"})
    run = task_run(step(computeResources={"requests": {"cpu": "100m", "memory": "64Mi"}}))
    there = "prepare:\n  requests: {memory: 16Mi}\nsidecar-db:\n  limits: {cpu: '1'}\n"
    first = answer(explain(full, run, config=configured(entries=there), more="-o json"))["fixes"][0]
    written = yaml.safe_load(first["edits"][0]["to"])
    assert written["sidecar-db"] == {"limits": {"cpu": "1"}}
    config = configured(entries=first["edits"][0]["to"])
    assert answer(explain(full, run, config=config, more="-o json"))["verdict"]["allowed"] is True


def test_the_default_of_a_limitrange_is_lowered(explain):
    lr = limit_range(default={"cpu": "250m", "memory": "4Gi"}, defaultRequest={"cpu": "50m", "memory": "128Mi"})
    lr["spec"]["limits"].append({"type": "Pod", "max": {"memory": "8Gi"}})
    run = task_run(*(step(name) for name in "abcd"))
    texts = [way["text"] for way in answer(explain(lr, run, more="-o json"))["fixes"]]
    assert texts[0].startswith("set limits.memory of steps a, b, c and d")
    assert "set default.memory per Container of LimitRange lr to 2Gi" in texts


def test_built_in_values_of_one_version(explain):
    slow = explain(task_run(), config=configured("v1.13.0"), more="--all").out
    words = "slow Tekton 1.13.0 limits the cpu of containers that it adds (prepare 10m, place-scripts 100m)"
    assert words in " ".join(slow.split())
    assert "\nslow " not in explain(task_run(), config=configured("v1.13.1"), more="--all").out
    lr = limit_range(min={"memory": "64Mi"}, default={"memory": "256Mi"}, defaultRequest={"memory": "64Mi"})
    [way] = answer(explain(lr, task_run(), config=configured("v1.13.0"), more="-o json"))["fixes"]
    assert way["proven"] is True
    assert set(way["edits"][0]["entries"]) == {"prepare", "place-scripts"}


@pytest.mark.parametrize(
    ("version", "run", "line"),
    [
        ("v1.15.0", task_run(status=None) | {"spec": {**task_run()["spec"], "status": "TaskRunPending"}}, "held back"),
        ("v1.10.0", task_run() | {"spec": {**task_run()["spec"], "status": "TaskRunPending"}}, "denied the request"),
        ("v1.10.0", pipeline_run([], status="PipelineRunPending"), "held back: spec.status is PipelineRunPending"),
    ],
)
def test_a_run_that_is_held_back(explain, version, run, line):
    result = explain(run, config=configured(version))
    head = " ".join(result.out.partition("fix ")[0].split())
    assert line in head


def test_the_operator_keeps_the_configuration(explain):
    kept = configured(flags=OFF, meta=OPERATOR)
    run = task_run(step(securityContext=SOUND))
    [way] = answer(explain(space("restricted"), run, config=kept, more="-o json"))["fixes"]
    assert way["edits"][0]["object"] == {"kind": "TektonConfig", "name": "config"}
    assert way["commands"] == [
        """kubectl patch tektonconfig config --type merge -p '{"spec":{"pipeline":{"set-security-context":true}}}'"""
    ]
    full = quota({"cpu": "4"}, {"cpu": "0"})
    given = task_run(step(computeResources={"requests": {"cpu": "100m"}}))
    first = answer(explain(full, given, config=kept, more="-o json"))["fixes"][0]
    assert first["commands"][0].startswith(
        'kubectl patch tektonconfig config --type merge -p \'{"spec":{"pipeline":{"options":{"configMaps":'
    )
    stable = configured(flags={"enable-api-fields": "stable"}, meta=OPERATOR)
    text = explain(task_run(computeResources={"requests": {"cpu": "1"}}), config=stable).out
    assert "in TektonConfig config at spec.pipeline" in " ".join(text.split())


def test_a_version_that_is_newer_than_the_table_is_said(explain):
    for run in (task_run(), pipeline_run([], context=None)):
        out = " ".join(explain(run, config=configured("v1.17.0"), more="--all").out.split())
        assert "Tekton 1.17.0 is newer than 1.16" in out
        assert "is newer than" not in explain(run, config=configured("v1.16.0"), more="--all").out


def matrix_run(count: int) -> Raw:
    task = {"params": [{"name": "db"}], "steps": [{"name": "s", "image": "a", "command": ["sh"]}]}
    values = [f"a{index}" for index in range(count)]
    whole = {"name": "load", "matrix": {"params": [{"name": "db", "value": values}]}, "taskSpec": task}
    meta = {"name": "fan", "namespace": "vault"}
    return {"apiVersion": "tekton.dev/v1", "kind": "PipelineRun", "metadata": meta,
            "spec": {"pipelineSpec": {"tasks": [whole]}}}  # fmt: skip


def test_task_runs_that_a_quota_does_not_let_be_made_are_told_by_what_it_is_short_of(explain):
    runs = "count/taskruns.tekton.dev"
    said = explain(matrix_run(5), quota({runs: "4"}, {runs: "1"})).out
    head = " ".join(said.split("\n\n")[0].split())
    assert head == f"refused: vault/PipelineRun/fan: task load: quota q is short by 2 of {runs}"
    assert f"delete runs that have ended, or raise {runs} of quota q" in " ".join(said.split())
    said = explain(task_run(), quota({runs: "1"}, {runs: "1"})).out
    assert said.startswith(f"refused: vault/TaskRun/hello: quota q is short by 1 of {runs}\n")
    assert "code    kubectl kres help tekton/object-refused" in said


def test_values_of_a_run_that_a_file_would_make_are_edited_in_the_file(explain):
    task = {"steps": [step("a", computeResources={"requests": {"cpu": "800m"}}) | {"script": ""},
                      step("b", computeResources={"requests": {"cpu": "800m"}}) | {"script": ""}]}  # fmt: skip
    meta = {"name": "big", "namespace": "vault"}
    run = {"apiVersion": "tekton.dev/v1", "kind": "PipelineRun", "metadata": meta,
           "spec": {"pipelineSpec": {"tasks": [{"name": "heavy", "taskSpec": task}]}}}  # fmt: skip
    said = " ".join(explain(run, quota({"requests.cpu": "1"}, {"requests.cpu": "0"})).out.split())
    assert "of PipelineRun/big to" in said
    assert "PipelineRun/big: edit " in said
    assert "start a new run" not in said
    assert "that exists cannot be changed" not in said
