"""Pods that were sent to a real API server with webhooks: what admission makes of them, as it is recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.create import create_pod
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import decode_object
from kubectl_kres.reports.common.effective_policies import policies
from kubectl_kres.store.store import Origin, Store


def outcomes_of(case: Mapping[str, Any], server: Server) -> tuple[Outcome, ...]:
    """Return every outcome that the pod of a case can have beside the objects that were given."""
    store = Store(Origin("files"))
    for item in case["given"]:
        store.add(item["kind"], decode_object(item, BY_KIND[item["kind"]].struct))
    space = case["request"]["namespace"]
    raw = case["request"]["object"]
    raw = {**raw, "metadata": {**raw["metadata"], "namespace": space}}
    return create_pod(raw, policies(store, space, server).policies, server)


def answer_of(outcome: Outcome) -> dict[str, Any]:
    """Return the server's answer as it is recorded: the refusal, or the stored resources and the QoS class."""
    if not outcome.allowed:
        return {"allowed": False, "code": outcome.code, "reason": outcome.reason, "message": outcome.message}
    assert outcome.object is not None
    spec = outcome.object["spec"]
    stored = {
        key: {each["name"]: each.get("resources", {}) for each in spec.get(key, ())}
        for key in ("containers", "initContainers")
    }
    return {
        "allowed": True,
        "code": outcome.code,
        "stored": {**stored, "pod": spec.get("resources", {})},
        "qosClass": outcome.object["status"]["qosClass"],
    }
