"""What Capsule's webhooks made of classes, registries and pull policies before a real API server, world by world."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from capsule_webhooks.worlds import CLASSES

from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.base.versions import parse
from kubectl_kres.admission.request.create import create
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import decode_object
from kubectl_kres.reports.common.effective_policies import policies
from kubectl_kres.store.store import Coverage, Origin, ReadRequest, Store

_RECORDED = json.loads((Path(__file__).parent / "recorded_classes.json").read_text())
_CASES: Mapping[str, Any] = {case["name"]: case for case in _RECORDED["cases"]}
_SERVER = Server(parse(_RECORDED["server"]["version"]))
_LEAST = 150


def _outcomes(case: Mapping[str, Any]) -> tuple[Outcome, ...]:
    store = Store(Origin("files"))
    for kind, (_, classes) in CLASSES.items():
        store.cover(ReadRequest(kind), Coverage("read"))
        for name, written in classes.items():
            metadata = {"name": name, **{key: written[key] for key in ("labels", "annotations") if key in written}}
            store.add(kind, decode_object({**written, "metadata": metadata}, BY_KIND[kind].struct))
    for item in case["given"]:
        store.add(item["kind"], decode_object(item, BY_KIND[item["kind"]].struct))
    space, raw = case["request"]["namespace"], case["request"]["object"]
    raw = {**raw, "metadata": {**raw["metadata"], "namespace": space}}
    return create(raw, policies(store, space, _SERVER).policies, _SERVER)


def _answer(outcome: Outcome, expected: Mapping[str, Any]) -> dict[str, Any]:
    """Return of the answer what was recorded: the refusal, or what is stored."""
    if not outcome.allowed:
        assert outcome.refusal is not None
        return {
            "allowed": False, "code": outcome.code, "reason": outcome.refusal.reason, "message": outcome.message,
        }  # fmt: skip
    assert outcome.object is not None
    spec = outcome.object["spec"]
    stored = {"allowed": True, "code": outcome.code}
    if "storageClassName" in expected:
        return {**stored, "storageClassName": spec.get("storageClassName")}
    return {**stored, "priorityClassName": spec.get("priorityClassName"), "overhead": spec.get("overhead")}


@pytest.mark.parametrize("name", _CASES)
def test_recorded_answer_is_predicted(name: str) -> None:
    case = _CASES[name]
    expected = case["expect"]
    if expected["allowed"] and "storageClassName" not in expected:
        # The cluster's default priority class is read only where something hangs on it.
        tenant = next(item for item in case["given"] if item["kind"] == "Tenant")
        priority = expected["priorityClassName"] if "priorityClasses" in tenant["spec"] else None
        expected = {"allowed": True, "code": 201, "priorityClassName": priority, "overhead": expected.get("overhead")}
    assert expected in [_answer(outcome, expected) for outcome in _outcomes(case)]


@pytest.mark.parametrize("name", _CASES)
def test_refusals_name_the_tenant(name: str) -> None:
    """What Capsule refuses, and what it gives, leads to a field of the Tenant."""
    for outcome in _outcomes(_CASES[name]):
        for entry in (*_findings(outcome), *outcome.journal):
            if getattr(entry, "rule", "").startswith("capsule/"):
                assert entry.source is not None
                assert entry.source.kind == "Tenant"
                assert entry.source.field.startswith("spec.")


def _findings(outcome: Outcome) -> Iterator[Any]:
    yield from outcome.refusal.findings if outcome.refusal is not None else ()


def test_worlds_are_many_and_differ() -> None:
    codes = [case["expect"]["code"] for case in _CASES.values()]
    assert len(codes) >= _LEAST
    assert all(codes.count(code) >= 3 for code in (201, 403, 500))
