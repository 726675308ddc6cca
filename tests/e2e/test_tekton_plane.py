"""Pods that the engine says Tekton submits, sent to a real API server; Tekton's objects as that server stores them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from conformance.cases import cases
from conformance.tekton import said
from controlplane import ControlPlane
from e2e.asking import Asking
from e2e.differential import Results, Run
from e2e.generate import Setting

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import decode_object
from kubectl_kres.tekton.model import TaskRun
from kubectl_kres.tekton.rules.base.config import Flags
from kubectl_kres.tekton.rules.base.convert import V1
from kubectl_kres.tekton.rules.base.result import BuiltPod
from kubectl_kres.tekton.rules.controller.creation import unmountable

#: So many namespaces with LimitRanges, so many runs in each.
NAMESPACES, RUNS = 24, 12

QUOTA = {"requests.cpu": "3", "limits.memory": "3Gi", "pods": "9"}


def pods(given: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
    """Each pod that a recorded run can lead to, as it would be sent."""
    for index, one in enumerate(said(given)):
        if isinstance(one, BuiltPod):
            raw = msgspec.to_builtins(one.pod)
            spec = {key: [{**held, "image": "i"} for held in value] if key.endswith("ontainers") else value
                    for key, value in raw["spec"].items()}  # fmt: skip
            yield {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"{name}-{index}"}, "spec": spec}


def settings() -> list[Setting]:
    """Recorded LimitRanges, all runs that were recorded under any in each of them, every third with a quota."""
    held = [case for case in cases("tekton") if "taskRun" in case.data["given"]]
    ranges = {
        json.dumps(case.data["given"]["limitRanges"]): None for case in held if "limitRanges" in case.data["given"]
    }
    found = []
    for number, text in enumerate([*ranges][:: max(1, len(ranges) // NAMESPACES)]):
        policies = [{**one, "metadata": {"name": one["metadata"]["name"]}} for one in json.loads(text)]
        if number % 3 == 0:
            policies.append({"kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": QUOTA}})
        chosen = held[number :: len(held) // RUNS]
        under = [{**case.data["given"], "limitRanges": json.loads(text)} for case in chosen]
        sent = [pod for index, given in enumerate(under) for pod in pods(given, f"r{index}")]
        found.append(Setting(f"tekton-{number}", policies=policies, cases=sent))
    return found


@pytest.fixture(scope="module")
def judged(controlplane: ControlPlane) -> Results:
    with Asking(controlplane) as asking:
        return Run(asking, secrets.token_hex(3)).play(settings())


@pytest.mark.e2e
def test_the_server_answers_to_tektons_pods_as_predicted(judged: Results) -> None:
    wrong = [one.about for one in judged.judged if one.faults]
    if wrong:
        pytest.fail("\n".join([f"{len(wrong)} answers were not predicted", *wrong[:3]]), pytrace=False)
    asked = judged.of_pods()
    refused = sum(one.refused for one in asked)
    assert len(asked) >= NAMESPACES * RUNS // 2
    assert 0.2 * len(asked) <= refused <= 0.9 * len(asked)


def objects() -> Iterator[Any]:
    """One object of v1 of each kind and set of fields that was recorded; v1beta1 needs Tekton's webhook to convert."""
    seen: set[str] = set()
    for case in cases("tekton"):
        given = case.data["given"]
        for key in ("taskRun", "task", "pipelineRun", "pipeline"):
            item = given.get(key)
            if item is None or item["apiVersion"] != V1 or "error" in case.data["expect"]:
                continue
            shape = json.dumps([item["kind"], sorted(item["spec"])])
            if shape not in seen:
                seen.add(shape)
                yield pytest.param(item, id=f"{case.data['name']}-{key}")


def named(spec: dict[str, Any]) -> dict[str, Any]:
    """The spec with an empty name where a step has none, as Tekton's webhook writes it."""
    return spec | {"steps": [{"name": "", **step} for step in spec["steps"]]} if "steps" in spec else spec


@pytest.mark.e2e
@pytest.mark.parametrize("item", objects())
def test_what_the_server_stores_of_an_object_says_the_same(extended: ControlPlane, item: dict[str, Any]) -> None:
    kind = BY_KIND[item["kind"]]
    sent = {**item, "metadata": {"name": item["metadata"]["name"]}, "spec": named(item["spec"])}
    status, stored = extended.request("POST", f"{kind.path('default')}?dryRun=All&fieldValidation=Strict", sent)
    assert status == 201, stored
    assert decode_object(stored, kind.struct).spec == decode_object(sent, kind.struct).spec


MOUNTS = {
    "missing": [[("v", "/x"), ("no", "/y")]],
    "twice": [[("v", "/x"), ("v", "/x")]],
    "both-in-two-steps": [[("v", "/x"), ("no", "/x")], [("v", "/y"), ("no", "/y"), ("v", "/z")]],
    "fine": [[("v", "/x"), ("v", "/x/")]],
}


@pytest.mark.parametrize("name", MOUNTS)
def test_mounts_that_the_server_refuses(controlplane, namespace, name):
    steps = [
        {"name": f"s{index}", "image": "i", "volumeMounts": [{"name": one, "mountPath": path} for one, path in mounts]}
        for index, mounts in enumerate(MOUNTS[name])
    ]
    volumes = [{"name": "v", "emptyDir": {}}]
    run = decode_object(
        {"metadata": {"name": name}, "spec": {"taskSpec": {"steps": steps, "volumes": volumes}}}, TaskRun
    )
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"{name}-pod"},
        "spec": {"containers": steps, "volumes": volumes},
    }
    code, answer = controlplane.request("POST", f"/api/v1/namespaces/{namespace}/pods?dryRun=All", pod)
    said = [one.message for one in unmountable(run, run.spec.task_spec, None, Flags())]
    assert said == (
        [f'failed to create task run pod "{name}": {answer.get("message")}. Maybe invalid TaskSpec'] * (code == 422)
    )
    assert (code == 201) == (name == "fine")
