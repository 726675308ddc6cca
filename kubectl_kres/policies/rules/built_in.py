"""The mutating plugins of the server itself, on a whole pod; and what an update of a part of it keeps."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from kubectl_kres.admission.base.outcome import Refusal
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.limitrange import limitrange_admission
from kubectl_kres.admission.limitrange.limitrange_object import Limits
from kubectl_kres.admission.pod.classes import SYSTEM_PRIORITIES, check_priority, set_overhead, set_priority
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.policies.rules import service_account
from kubectl_kres.policies.rules.objects import TOLERATION_SECONDS
from kubectl_kres.policies.rules.request import Request
from kubectl_kres.policies.rules.resources import draft_of, with_draft
from kubectl_kres.policies.rules.service_account import Accounts
from kubectl_kres.provenance.journal import Entry

Raw = Mapping[str, Any]


def admitted(
    request: Request,
    order: Sequence[Limits],
    policies: Policies,
    accounts: Accounts | None,
    server: Server,
    entries: list[Entry] | None = None,
) -> tuple[dict[str, Any], Refusal | None]:
    """LimitRange defaults in that order (told in ``entries``), service account, priority, tolerations, overhead."""
    pod = request.object or {}
    draft = draft_of(pod, server)
    for limits in order:
        limitrange_admission.mutate(draft, limits, entries)
    whole = with_draft(pod, draft)
    whole, refusal = service_account.admit(request.of(whole), accounts)
    if refusal is not None:
        return whole, refusal
    draft = draft_of(whole, server)
    classes, runtimes = policies.priorities, policies.runtimes
    refusal = set_priority(draft, request.name, classes, None) or check_priority(draft, request.name, classes)
    refusal = refusal or set_overhead(draft, request.name, runtimes, None)
    if refusal is not None:
        return whole, refusal
    whole = with_draft(whole, draft)
    spec = whole["spec"]
    chosen = (classes or {}).get(draft.priority_class)
    spec["priority"] = SYSTEM_PRIORITIES.get(draft.priority_class, 0) if chosen is None else chosen.value
    policy = None if chosen is None else chosen.preemption_policy
    spec["preemptionPolicy"] = policy or "PreemptLowerPriority"
    spec["tolerations"] = _tolerations(spec.get("tolerations") or ())
    return whole, None


def _tolerations(written: Sequence[Raw]) -> list[dict[str, Any]]:
    """With those that every pod gets for nodes that are not ready or not reachable."""
    out = [copy.deepcopy(dict(mapping)) for mapping in written]
    for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"):
        covered = any(
            mapping.get("key") in (key, "", None) and mapping.get("effect") in ("NoExecute", "", None)
            for mapping in written
        )
        if not covered:
            toleration = {"key": key, "operator": "Exists", "effect": "NoExecute"}
            out.append({**toleration, "tolerationSeconds": TOLERATION_SECONDS})
    return out


def kept(operation: str, before: Raw, after: Raw) -> dict[str, Any]:
    """A resize stores resources alone, an update of the status the status alone."""
    if operation not in ("RESIZE", "STATUS"):
        return dict(after)
    whole = copy.deepcopy(dict(before))
    if operation == "STATUS":
        whole["status"] = after.get("status") or {}
        return whole
    spec, new = whole["spec"], after.get("spec") or {}
    for key in ("containers", "initContainers"):
        by_name = {item.get("name"): item for item in new.get(key) or ()}
        for container in spec.get(key) or ():
            changed = by_name.get(container.get("name"))
            if changed is not None:
                container["resources"] = changed.get("resources") or {}
    if "resources" in new:
        spec["resources"] = new["resources"]
    return whole
