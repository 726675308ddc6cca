"""How a request about anything but a pod ends: refused by a policy, by the object's own rules, or stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kubectl_kres.admission.draft import Unparsable
from kubectl_kres.admission.field import FieldError
from kubectl_kres.admission.outcome import Outcome, invalid_object, unparsable
from kubectl_kres.admission.pods import Policies
from kubectl_kres.admission.quota import Request, evaluate
from kubectl_kres.admission.server import Server

Raw = Mapping[str, Any]


def name_of(raw: Raw) -> str:
    """The name, or the beginning of one that the server completes."""
    metadata = raw.get("metadata") or {}
    return str(metadata.get("name") or metadata.get("generateName") or "")


def answered(
    stored: Raw,
    request: Request | None,
    policies: Policies,
    server: Server,
    *,
    code: int = 201,
    old: Request | None = None,
    warnings: Sequence[str] = (),
) -> tuple[Outcome, ...]:
    """Quota, then storage. ``request`` None: nothing is counted. ``old``: the object before an update."""
    warnings = tuple(sorted(set(warnings)))
    if request is None or "ResourceQuota" in server.disabled_plugins:
        return (Outcome(True, code, None, warnings, stored),)
    verdict = evaluate(request, policies.quotas, server.limited_resources, old=old)
    if verdict.refusals:
        return tuple(Outcome(False, refusal.code, refusal, warnings) for refusal in verdict.refusals)
    return (Outcome(True, code, None, warnings, stored, verdict.charges),)


def not_decoded(raw: Raw, fault: Unparsable) -> Outcome:
    """400: a quantity of the object as sent cannot be parsed."""
    kind, version = str(raw.get("kind", "")), str(raw.get("apiVersion", "v1")).rpartition("/")[2]
    refusal = unparsable(kind, version, fault.error.message, fault.path, fault.error.text)
    return Outcome(allowed=False, code=400, refusal=refusal)


def not_valid(kind: str, name: str, errors: Sequence[FieldError]) -> Outcome:
    """422 with every error."""
    refusal = invalid_object(kind, name, errors)
    return Outcome(False, refusal.code, refusal)
