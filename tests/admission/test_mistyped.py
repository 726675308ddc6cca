"""Values of a wrong type: what a real server answered to the objects of wrong-types.json."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.decoding import first_mistyped
from kubectl_kres.admission.request.create import create
from kubectl_kres.admission.request.new_pod import policies_of

RECORDED = json.loads(Path(__file__).with_name("wrong-types.json").read_text())
NOTHING = policies_of([], [], [], [])


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in RECORDED["cases"]])
def test_as_the_server_answered(case: dict):
    [outcome] = create(case["object"], NOTHING, Server())
    assert (outcome.code, outcome.reason, outcome.message) == (400, "BadRequest", case["message"])


def test_enough_was_recorded():
    assert len(RECORDED["cases"]) >= 150


class Text(str):
    """A number that is kept as the text it was written as."""

    __slots__ = ()


@pytest.mark.parametrize(
    ("path", "raw", "found", "wanted"),
    [
        ("spec.containers[1].env[0].value", {"containers": [{}, {"env": [{"value": 5}]}]}, "number", "string"),
        ("spec.containers[0].env[0].value", {"containers": [{"env": [{"value": Text("0.5")}]}]}, "number", "string"),
        ("spec.containers[0].args[1]", {"containers": [{"args": ["a", True]}]}, "boolean", "string"),
        ("spec.containers[0].resources.limits", {"containers": [{"resources": {"limits": []}}]}, "list", "map"),
        ("spec.nodeSelector[gpu]", {"nodeSelector": {"gpu": True}}, "boolean", "string"),
        ("spec.priority", {"priority": Text("1.5")}, "number", "integer"),
        ("spec.priority", {"priority": 2**31}, "number", "integer"),
        ("spec.priority", {"priority": "1"}, "string", "number"),
        ("spec.hostNetwork", {"hostNetwork": "yes"}, "string", "boolean"),
    ],
)
def test_where_and_what_for_people(path: str, raw: dict, found: str, wanted: str):
    fault = first_mistyped({"apiVersion": "v1", "kind": "Pod", "spec": raw}, "Pod")
    assert fault is not None
    assert (fault.path, fault.actual, fault.expected) == (path, found, wanted)


@pytest.mark.parametrize(
    "raw",
    [
        {"kind": "Widget", "spec": []},
        {"apiVersion": "example.com/v1", "kind": "Service", "spec": []},
        {"apiVersion": "v1", "kind": "Pod", "spec": None},
        {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [None], "priority": None, "foo": 1}},
        {"apiVersion": "v1", "kind": "Pod", "spec": {"priority": -(2**31), "activeDeadlineSeconds": 2**63 - 1}},
        {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"strategy": {"rollingUpdate": {"maxSurge": "25%"}}}},
    ],
)
def test_nothing_to_say(raw: dict):
    assert first_mistyped(raw, raw["kind"]) is None
