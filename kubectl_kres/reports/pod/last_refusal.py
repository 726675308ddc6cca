"""What refused pods that would be admitted now, as an event tells it: their claims, or something not computed here."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kubectl_kres.reports.common.explanation import Blocked, Fact

_CLAIM = re.compile(r'persistentvolumeclaims "[^"]*" is (?:forbidden|invalid): (.*)', re.DOTALL)
#: What limits, quotas, classes and validation say, which admission is computed for.
_COMPUTED = re.compile(
    r"(?:exceeded|failed|status unknown for) quota|insufficient quota|usage per |ratio per |is invalid: "
    r"|pod rejected: |PriorityClass"
)
_BEFORE = re.compile(r"^(?:\(combined from similar events\): )?(?:Error creating: )?")
#: Who refused, in the API server's sentences, with what to call it.
_REFUSERS = (
    (re.compile(r'admission webhook "([^"]*)" denied'), "webhook {}"),
    (re.compile(r'failed calling webhook "([^"]*)"'), "webhook {} (it cannot be called)"),
    (re.compile(r'violates PodSecurity "([^"]*)"'), 'Pod Security "{}"'),
    (re.compile(r"(ValidatingAdmissionPolicy|MutatingAdmissionPolicy) '([^']*)'"), "{} {}"),
    (re.compile(r'serviceaccount "([^"]*)" not found'), "ServiceAccount {}, which does not exist"),
    (re.compile(r"(namespace \S+ because it is being terminated)"), "{}"),
    (_CLAIM, "the refusal of its PersistentVolumeClaim"),
)


def blocked_by(seen: Iterable[Fact], newest: str, *, claims: bool = False) -> Blocked | None:
    """Who refused pods last, where that is none of what is computed; None if a pod came after that.

    ``seen``: the newest refusal first, as ``facts`` has them. ``newest``: when the last pod was made, empty where there
    is none. ``claims``: as for ``barring``. A condition is of now, whenever it became true.
    """
    last = next((fact for fact in seen if fact.reason == "FailedCreate"), None)
    if last is None or not barring([last], claims=claims):
        return None
    if newest and last.time and last.time[:_SECOND] < newest[:_SECOND] and not last.source.field:
        return None
    times = 0 if last.source.field else last.count
    return Blocked(refuser(last.text), _BEFORE.sub("", last.text), times, last.time)


#: So many characters of a time tell the second, which events and pods both have.
_SECOND = len("2026-01-01T00:00:00")


def refuser(text: str) -> str:
    """Who says so, in the API server's sentence."""
    for pattern, name in _REFUSERS:
        match = pattern.search(text)
        if match is not None:
            return name.format(*match.groups())
    return "the API server"


def barring(seen: Iterable[Fact], *, claims: bool = False) -> str:
    """What to do about the last refusal that quotas and LimitRanges of pods do not explain; empty if there is none.

    ``claims``: admission is computed for the claims of the pods, too.
    Source: controller/statefulset stateful_pod_control.go createPersistentVolumeClaims; controller_utils.go CreatePods.
    """
    last = next((fact.text for fact in seen if fact.reason == "FailedCreate"), "")
    claim = _CLAIM.search(last)
    if claim is not None and not (claims and _COMPUTED.search(claim[0])):
        return f"fix the PersistentVolumeClaim of its pod: {claim[1]}"
    if not last or _COMPUTED.search(last):
        return ""
    return f"fix what refused its pods last (neither a quota nor a LimitRange): {_BEFORE.sub('', last)}"
