"""Tekton's objects on the command line: live, from files, with its configuration from a file, in snapshots."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli.apiserver import LIMITS, Api
from cli.running import Kres

from kubectl_kres.model.kinds import KINDS
from kubectl_kres.tekton.model import GROUP as TEKTON

TASK = {
    "apiVersion": "tekton.dev/v1",
    "kind": "Task",
    "metadata": {"name": "build", "namespace": "shop"},
    "spec": {"steps": [{"name": "a", "image": "i", "script": "secret words"}, {"name": "b", "image": "i"}]},
}
INFO = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "pipelines-info", "namespace": "tekton-pipelines"},
    "data": {"version": "v1.15.0", "password": "hidden"},
}
PIPELINE = {
    "apiVersion": "tekton.dev/v1",
    "kind": "Pipeline",
    "metadata": {"name": "release", "namespace": "shop"},
    "spec": {"tasks": [{"name": "build", "taskRef": {"name": "build"}}]},
}


def run(name: str, version: str = "v1", **more: Any) -> dict[str, Any]:
    spec = {"taskRef": {"name": "build"}, **more}
    return {
        "apiVersion": f"tekton.dev/{version}",
        "kind": "TaskRun",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": spec,
    }


def pipeline_run(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "tekton.dev/v1",
        "kind": "PipelineRun",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"pipelineRef": {"name": "release"}},
    }


def served(*groups: str) -> list[dict[str, Any]]:
    """The answer of discovery: our kinds of these groups."""
    found = []
    for group in groups:
        versions: dict[str, list[Any]] = {}
        for kind in KINDS:
            if kind.group == group:
                one = {"resource": kind.plural, "responseKind": {"kind": kind.kind}, "scope": "Namespaced"}
                versions.setdefault(kind.version, []).append(one)
        listed = [{"version": version, "resources": held} for version, held in versions.items()]
        found.append({"metadata": {"name": group}, "versions": listed})
    return found


@pytest.fixture
def ci(api: Api) -> Api:
    """A server with Tekton."""
    api.objects = [LIMITS, TASK, INFO, PIPELINE, run("r"), pipeline_run("p")]
    api.groups = served(TEKTON)
    return api


def test_a_run_of_a_cluster_takes_few_requests(kres: Kres, ci: Api):
    found = kres("explain taskrun/r")
    assert found.code == 0
    assert "tekton/limitrange-share" in found.out
    assert "assumed" not in found.out.replace("assumed Namespace", "")
    assert not [path for path in ci.asked if "Secret" in path or "secrets" in path]
    # Policies and webhooks decide about its pod, too, and earlier pods of the Task tell what webhooks add.
    assert len(ci.asked) <= 13, ci.asked


@pytest.mark.parametrize("text", ["explain pr/p", "explain pipeline/release", "explain pr", "explain tr", "qos tr/r"])
def test_all_of_them_have_answers(kres: Kres, ci: Api, text: str):
    found = kres(text)
    assert (found.code, found.err) == (0, "")
    assert found.out


def test_configuration_that_may_not_be_read_is_assumed(kres: Kres, ci: Api):
    ci.denied = {"configmaps", "customresourcedefinitions"}
    found = kres("explain taskrun/r")
    assert found.code == 0, "nothing that is needed is missing"
    assert "Tekton's configuration may not be read: assumed as shipped" in " ".join(found.out.split())


def test_a_task_that_may_not_be_read_is_no_missing_task(kres: Kres, ci: Api):
    ci.denied = {"tasks"}
    found = kres("explain taskrun/r")
    assert found.code == 3
    assert 'tasks is forbidden: User "eve" cannot get resource "tasks"' in found.err


def test_versions_mixed_in_one_file(kres: Kres, file: Any):
    overrides = [{"name": "a", "resources": {"requests": {"cpu": "3"}}}]
    name = file(TASK, run("old", "v1beta1", stepOverrides=overrides))
    found = kres(f"explain -f {name} --offline --for step-a.requests.cpu")
    assert found.out.startswith("step-a.requests.cpu = 3\n")
    assert "tekton/step-spec" in found.out


def test_json_carries_what_tekton_says(kres: Kres, file: Any):
    quota = {
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "shop"},
        "spec": {"hard": {"pods": "0"}}, "status": {"hard": {"pods": "0"}, "used": {"pods": "0"}},
    }  # fmt: skip
    name = file(TASK, quota, run("r"))
    found = json.loads(kres(f"explain -f {name} --offline -o json").out)["items"][0]["tekton"]["problem"]
    message = found.pop("message")
    assert message.startswith('TaskRun Pod exceeded available resources: pods "r-pod" is forbidden: exceeded quota: q')
    assert found == {
        "stage": "create",
        "object": "TaskRun",
        "reason": "ExceededResourceQuota",
        "status": "Unknown",
        "requeueSeconds": 60,
        "rule": "tekton/exceeded-quota",
    }


CONFIG = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "config-defaults", "namespace": "elsewhere"},
    "data": {"default-container-resource-requirements": "prepare:\n  requests:\n    cpu: 7m\n"},
}


@pytest.mark.parametrize("live", [True, False])
def test_configuration_out_of_a_file_wins(kres: Kres, ci: Api, file: Any, live: bool):
    shipped = {**CONFIG, "metadata": {"name": "config-defaults", "namespace": "tekton-pipelines"}, "data": {}}
    ci.objects.append(shipped)
    listed = {"apiVersion": "v1", "kind": "List", "items": [CONFIG, INFO]}
    config, given = file(listed, name="config.json"), file(TASK, run("r"))
    found = kres(
        f"explain {'tr/r' if live else f'-f {given} --offline'} --tekton-config {config} --for prepare.requests.cpu"
    )
    assert found.out.startswith("prepare.requests.cpu = 7m\n")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (
            '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}',
            "there is no ConfigMap pipelines-info",
        ),
        ("{", "config.json"),
        (None, "does not exist"),
    ],
)
def test_bad_configuration_files(kres: Kres, file: Any, tmp_path: Path, content: str | None, text: str):
    given, path = file(TASK, run("r")), tmp_path / "config.json"
    if content is not None:
        path.write_text(content)
    found = kres(f"explain -f {given} --offline --tekton-config {path}")
    assert found.code == 2
    assert text in found.err


def test_a_snapshot_holds_tekton_where_it_is_installed(kres: Kres, ci: Api, tmp_path: Path):
    path = tmp_path / "s.kres"
    assert kres(f"snapshot --out {path}").code == 0
    text = path.read_text()
    assert "secret words" not in text
    assert "password" not in text
    for words in ("explain tr/r", "explain pr/p", "explain tr", "quota --denied"):
        live, kept = kres(words), kres(f"{words} --snapshot {path}")
        assert (live.code, live.out) == (kept.code, kept.out), words


def test_what_is_not_installed_is_not_asked_for(kres: Kres, api: Api, tmp_path: Path):
    path = tmp_path / "s.kres"
    found = kres(f"snapshot --out {path}")
    assert found.code == 0
    assert not [asked for asked in api.asked if "tekton.dev" in asked or "capsule" in asked or "configmaps" in asked]
    listed = kres(f"explain tr --snapshot {path} -n shop")
    assert (listed.code, listed.err) == (0, "No resources found in shop namespace.\n")


def test_another_pair_of_eyes_may_not_list_runs(kres: Kres, ci: Api, tmp_path: Path):
    ci.denied = {"taskruns"}
    path = tmp_path / "s.kres"
    found = kres(f"snapshot --out {path}")
    assert found.code == 0, "answers about anything else need none of them"
    assert "taskruns.tekton.dev in namespace shop could not be read" in found.err


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("explain pr/p -c nope", 2, 'PipelineRun/p has no task "nope"'),
        ("explain pr/p --for a.limits.cpu", 2, "--for asks about a pod"),
        ("diff pr/p", 2, "ask about its TaskRuns: taskruns -l tekton.dev/pipelineRun=NAME"),
        ("explain tr/nope", 3, 'taskruns.tekton.dev "nope" not found'),
        ("explain pr/nope", 3, 'pipelineruns.tekton.dev "nope" not found'),
    ],
)
def test_what_cannot_be_answered(kres: Kres, ci: Api, text: str, code: int, said: str):
    found = kres(text)
    assert found.code == code
    assert said in found.err


def test_what_a_run_refers_to_and_does_not_exist_is_told_alike_in_lists(kres: Kres, ci: Api):
    embedded = {"taskSpec": {"steps": [{"name": "a", "ref": {"name": "act"}}]}, "taskRef": None}
    ci.objects += [run("g", taskRef={"name": "gone"}), run("s", **embedded)]
    listed = kres("explain tr -o wide").out
    for name, kind in (("g", "Task gone"), ("s", "StepAction act")):
        remedy = f"create {kind}, or refer to one that is there, and start a new run"
        assert remedy in " ".join(kres(f"explain tr/{name}").out.split())
        assert remedy in listed
        assert "no class, since it gets no pod" in kres(f"qos tr/{name}").err


def test_files_do_not_say_what_a_cluster_lacks(kres: Kres, file: Any):
    found = kres(f"explain -f {file(TASK, run('r', taskRef={'name': 'gone'}))} --offline")
    assert "the files hold no Task gone, and --offline reads nothing else" in found.err


def test_each_fault_of_a_message_has_its_remedy(kres: Kres, file: Any):
    task = {"steps": [{"name": "A", "image": "i"}, {"name": "b"}]}
    found = kres(f"explain -f {file(run('r', taskRef=None, taskSpec=task, timeout='-1h'))} --offline")
    words = " ".join(found.out.split())
    for change in (
        "give each step a name of its own",
        "give each step and sidecar an image",
        "set the timeout to 0 or more",
    ):
        assert change in words


def test_a_task_of_a_run_is_told_as_its_taskrun_is(kres: Kres):
    """Its pod is there, so that quotas count it already."""
    alone = kres("explain --demo taskrun/release-41-unit -n ci --all").out
    within = kres("explain --demo pipelinerun/release-41 -n ci -c unit --all").out
    assert "this pod is already counted" in alone
    assert within.strip().removeprefix("task unit\n") == alone.strip()


RETIRED = {
    "apiVersion": "tekton.dev/v1beta1",
    "kind": "Task",
    "metadata": {"name": "build", "namespace": "shop"},
    "spec": {"steps": [{"name": "a", "image": "i"}], "resources": {"inputs": [{"name": "src", "type": "git"}]}},
}
ENUM = {**TASK, "spec": {**TASK["spec"], "params": [{"name": "os", "enum": ["linux"]}]}}


@pytest.mark.parametrize(("task", "said"), [(RETIRED, "must not set the field(s)"), (ENUM, "enable-param-enum")])
def test_a_task_of_a_file_that_the_webhook_refuses(kres: Kres, file: Any, task: dict[str, Any], said: str):
    found = kres(f"explain -f {file(task)} --offline")
    assert found.out.startswith("refused: shop/Task/build: admission webhook")
    assert said in " ".join(found.out.split())


def test_a_task_that_the_webhook_refuses_is_not_there_for_the_run_beside_it(tmp_path: Path, kres: Kres):
    """Nor does it take the place of the one that is stored: edges A4 of the corpus."""
    beta = {**TASK, "apiVersion": "tekton.dev/v1beta1", "spec": {**TASK["spec"], "resources": {"inputs": []}}}
    beta["spec"]["resources"] = {"inputs": [{"name": "x", "type": "git"}]}
    file = tmp_path / "run.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [beta, run("r")]}))
    found = kres(f"explain -f {file} --offline --exit-code --all")
    assert found.code == 1
    assert 'tasks.tekton.dev "build" not found' in found.out
    assert "Task/build is left out: the server does not store it" in found.out


def _policed(ci: Api, resource: str, expression: str) -> None:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": [resource]}
    spec = {
        "matchConstraints": {"resourceRules": [rule]}, "failurePolicy": "Fail",
        "validations": [{"expression": expression, "message": "not like this"}],
    }  # fmt: skip
    head = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": "no"}}
    binding = {"policyName": "no", "validationActions": ["Deny"]}
    ci.objects += [
        {**head, "kind": "ValidatingAdmissionPolicy", "spec": spec},
        {**head, "kind": "ValidatingAdmissionPolicyBinding", "spec": binding},
    ]


DENIED = "ValidatingAdmissionPolicy 'no' with binding 'no' denied request: not like this"


@pytest.mark.parametrize("text", ["explain taskrun/r", "explain taskruns", "explain pr/p"])
def test_a_policy_about_pods_is_asked_about_those_of_runs(kres: Kres, ci: Api, text: str):
    ci.version = {"gitVersion": "v1.36.3"}
    asked = kres(f"{text} -o json").out
    assert DENIED not in asked
    _policed(ci, "pods", "object.spec.containers.all(c, has(c.resources.limits) && 'cpu' in c.resources.limits)")
    assert DENIED in kres(f"{text} -o json").out


def test_what_a_policy_asks_of_a_run_that_is_not_known_is_said(kres: Kres, ci: Api):
    ci.version = {"gitVersion": "v1.36.3"}
    _policed(ci, "pods", "object.spec.containers.all(c, c.image.startsWith('registry.example.org/'))")
    for text in ("explain taskrun/r", "explain pr/p"):
        found = kres(f"{text} -o json").out
        assert DENIED not in found
        assert "it asks for image, which is not read" in found, text


def test_a_policy_about_claims_is_asked_about_those_of_workspaces(kres: Kres, ci: Api):
    ci.version = {"gitVersion": "v1.36.3"}
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}}
    ci.objects = json.loads(json.dumps(ci.objects))
    for item in ci.objects:
        if item["kind"] in {"TaskRun", "PipelineRun"}:
            item["spec"]["workspaces"] = [{"name": "w", "volumeClaimTemplate": {"spec": claim}}]
        for spec in (item.get("spec", {}), item.get("spec", {}).get("pipelineSpec", {})):
            if item["kind"] in {"Task", "Pipeline"} or spec is not item.get("spec"):
                spec["workspaces"] = [{"name": "w", "optional": True}]
    _policed(ci, "persistentvolumeclaims", "object.spec.resources.requests['storage'] != '2Gi'")
    for text in ("explain taskrun/r", "explain pr/p"):
        assert DENIED in " ".join(kres(f"{text} -o json").out.split()), text


def test_runs_that_have_ended_are_counted_as_ended(kres: Kres, ci: Api):
    """What a new one would be refused for refuses none of them."""
    ended = pipeline_run("done")
    ended["status"] = {"conditions": [{"type": "Succeeded", "status": "True", "reason": "Succeeded"}]}
    ended["spec"] = {"pipelineRef": {"name": "gone"}}
    ci.objects.append(ended)
    out = kres("explain pipelineruns").out
    assert out.endswith("\n2 objects: 1 admitted, 1 ended\n")
