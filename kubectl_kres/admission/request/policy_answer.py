"""Answers to requests about anything but a pod: refused by a policy, by the object's own rules, or stored."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.admission.base.field_errors import FieldError
from kubectl_kres.admission.base.outcome import Finding, Outcome, bad_request, invalid_object, unparsable
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.decoding import first_mistyped, first_unparsable
from kubectl_kres.admission.quota.quota_admission import QuotaRequest, evaluate
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.model.objects import Raw


def answer_request(
    stored: Raw,
    request: QuotaRequest | None,
    policies: Policies,
    server: Server,
    *,
    code: int = 201,
    old: QuotaRequest | None = None,
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


def is_late(outcome: Outcome) -> bool:
    """Return whether a quota refuses, which is asked last."""
    return outcome.refusal is not None and outcome.refusal.findings[0].rule.startswith("quota/")


def with_webhooks(
    outcomes: tuple[Outcome, ...], raw: Raw, policies: Policies, *, update: bool = False
) -> tuple[Outcome, ...]:
    """Return every answer with what webhooks say: they are asked after what an object is, and before quotas."""
    if not policies.object_webhooks or not all(outcome.allowed or is_late(outcome) for outcome in outcomes):
        return outcomes
    denied = policies.denial(raw, update=update)
    return outcomes if denied is None else (Outcome(False, denied.code, denied, outcomes[0].warnings),)


def undecodable(raw: Raw) -> Outcome | None:
    """400: the object as sent holds a text that is no quantity, or a value of another type than its field's.

    A quantity is reported first, wherever it stands: it ends the decoding.
    """
    kind = str(raw.get("kind", ""))
    fault = first_unparsable(raw, kind)
    if fault is not None:
        return not_decoded(raw, fault)
    wrong = first_mistyped(raw, kind)
    if wrong is None:
        return None
    finding = Finding(wrong.text, "decoding/type", wrong.path, observed=wrong.actual, expected=wrong.expected)
    return Outcome(allowed=False, code=400, refusal=bad_request(kind, _version(raw), finding))


def not_decoded(raw: Raw, fault: Unparsable) -> Outcome:
    """400: a quantity of the object as sent cannot be parsed."""
    refusal = unparsable(str(raw.get("kind", "")), _version(raw), fault.error.message, fault.path, fault.error.text)
    return Outcome(allowed=False, code=400, refusal=refusal)


def _version(raw: Raw) -> str:
    return str(raw.get("apiVersion", "v1")).rpartition("/")[2]


def not_valid(kind: str, name: str, errors: Sequence[FieldError], server: Server) -> Outcome:
    """422 with every error."""
    refusal = invalid_object(kind, name, errors, server)
    return Outcome(False, refusal.code, refusal)
