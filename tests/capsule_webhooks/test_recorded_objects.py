"""What Capsule's webhooks made of Services, Ingresses, claims and numbers of objects before a real API server."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from capsule_webhooks.worlds import CLASSES, OBJECT_CLASSES

from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.base.versions import parse
from kubectl_kres.admission.request.create import create
from kubectl_kres.capsule.model import VOLUMES
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import decode_object
from kubectl_kres.reports.common.effective_policies import policies
from kubectl_kres.store.store import Coverage, Origin, ReadRequest, Store

_RECORDED = json.loads((Path(__file__).parent / "recorded_objects.json").read_text())
_CASES: Mapping[str, Any] = {case["name"]: case for case in _RECORDED["cases"]}
_SERVER = Server(parse(_RECORDED["server"]["version"]))
_LEAST = 150
#: Sent by a user of the Tenant: whose request it is stands in no manifest.
_OF_USERS = [name for name in _CASES if name.startswith("cordoned-") and name.endswith("-owner")]


def _store(case: Mapping[str, Any]) -> Store:
    store = Store(Origin("files"))
    for known, (_, classes) in {**CLASSES, **OBJECT_CLASSES}.items():
        kind = VOLUMES if known == "PersistentVolume" else known
        if kind not in BY_KIND and kind != VOLUMES:
            continue
        store.cover(ReadRequest(kind), Coverage("read"))
        for name, written in classes.items():
            metadata = {"name": name, **{key: written[key] for key in ("labels", "annotations") if key in written}}
            store.add(kind, decode_object({**written, "metadata": metadata}, BY_KIND[kind].struct))
    asked = (case["request"]["object"].get("spec") or {}).get("volumeName")
    if asked:
        store.cover(ReadRequest(VOLUMES, name=asked), Coverage("read"))
    for item in case["given"]:
        store.add(item["kind"], decode_object(item, BY_KIND[item["kind"]].struct))
    return store


def _outcomes(case: Mapping[str, Any]) -> tuple[Outcome, ...]:
    space, raw = case["request"]["namespace"], case["request"]["object"]
    found = policies(_store(case), space, _SERVER).policies
    if raw["kind"] == "Namespace":
        denied = found.denial(raw)
        return (Outcome(True, 201) if denied is None else Outcome(False, denied.code, denied),)
    return create({**raw, "metadata": {**raw["metadata"], "namespace": space}}, found, _SERVER)


def _answer(outcome: Outcome) -> dict[str, Any]:
    if outcome.allowed:
        return {"allowed": True, "code": outcome.code}
    assert outcome.refusal is not None
    return {
        "allowed": False, "code": outcome.code, "reason": outcome.refusal.reason, "message": outcome.message,
    }  # fmt: skip


@pytest.mark.parametrize("name", [name for name in _CASES if name not in _OF_USERS])
def test_recorded_answer_is_predicted(name: str) -> None:
    case = _CASES[name]
    kept = {"allowed", "code"} if case["expect"]["allowed"] else {"allowed", "code", "reason", "message"}
    expected = {key: value for key, value in case["expect"].items() if key in kept}
    assert expected in [_answer(outcome) for outcome in _outcomes(case)]


@pytest.mark.parametrize("name", _OF_USERS)
def test_users_of_a_cordoned_tenant_are_named(name: str) -> None:
    """The server refuses them; whose request it is is not known here, so that it is said."""
    case = _CASES[name]
    assert "is cordoned" in case["expect"]["message"]
    assumed = policies(_store(case), case["request"]["namespace"], _SERVER).assumptions
    assert [item.code for item in assumed if item.code == "capsule/cordoned"] == ["capsule/cordoned"]


def test_worlds_are_many_and_differ() -> None:
    cases = list(_CASES.values())
    assert len(cases) >= _LEAST
    codes = Counter(case["expect"]["code"] for case in cases)
    assert min(codes[code] for code in (201, 403, 500)) >= 3
    refused = Counter(case["request"]["object"]["kind"] for case in cases if not case["expect"]["allowed"])
    assert set(refused) == {
        "Service", "Ingress", "Gateway", "ResourceClaim", "ResourceClaimTemplate", "PersistentVolumeClaim", "Cake",
        "ConfigMap", "Pod", "Namespace",
    }  # fmt: skip
