"""A bare Pod of a file that exists: applying it is an update, as the server has it."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
from reports.stored import made, store_of, subject

from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import EvaluationOptions, Explanation
from kubectl_kres.reports.explain.explain import explain

FULL = made("ResourceQuota", "one", spec={"hard": {"pods": "1"}}, status={"hard": {"pods": "1"}, "used": {"pods": "1"}})


def container(cpu: str = "1", **more: Any) -> dict[str, Any]:
    return {"name": "app", "image": "x:1", "resources": {"requests": {"cpu": cpu}, "limits": {"cpu": cpu}}, **more}


def applied(*sent: dict[str, Any], **stored: Any) -> Explanation:
    there = made("Pod", "old", spec={"containers": [container()]}, status={"phase": "Running"}, **stored)
    raw = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "old"}, "spec": {"containers": list(sent)}}
    return explain(store_of(there, FULL), subject("Pod/old", raw, "old.yaml"), EvaluationOptions())


def test_what_is_there_already_costs_no_quota():
    found = applied(container(command=["sleep"]))
    assert (found.verdict.outcome, found.quotas, found.fixes) == ("admitted", (), ())


def test_other_amounts_are_a_resize():
    found = applied(container("2"))
    assert (found.verdict.outcome, found.verdict.code) == ("refused", 422)
    assert found.verdict.message.startswith('Pod "old" is invalid: spec: Forbidden: pod updates may not change fields')
    [fix] = found.fixes
    words = shlex.split(fix.commands[0])
    assert words[:8] == ["kubectl", "patch", "pod", "old", "-n", "ns", "--subresource", "resize"]


@pytest.mark.parametrize("more", [{"restartPolicy": "Always"}])
def test_other_fields_need_another_pod(more: dict[str, Any]):
    found = applied(container("2"), container(**more) | {"name": "two"})
    assert found.verdict.allowed is False
    assert sentence_text(found.fixes[0].text).startswith("delete Pod/old and create it again")


def test_a_pod_on_its_way_out_is_no_pod_to_update():
    assert applied(container(), deletionTimestamp="2026-11-01T10:00:00Z").verdict.message.endswith("limited: pods=1")
