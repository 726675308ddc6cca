"""What to do about rules whose edit depends on the object, and the runbook about it.

Here stands what concerns rules of Kubernetes; a system brings its own as ``ADVICE`` of its catalogue.
"""

from __future__ import annotations

from collections.abc import Mapping

from kubectl_kres.provenance.catalogued_rule import CodeAdvice
from kubectl_kres.systems import modules

#: By the beginning of codes.
_ADVICE: Mapping[str, CodeAdvice] = {
    "quota/must-specify": CodeAdvice(
        "state the value in every container, or give the namespace a LimitRange with a default for it", "must-specify"
    ),
    "quota/": CodeAdvice(
        "raise the quota, ask for less, or delete what uses it: kubectl kres quota NAME --by workload lists who does",
        "quota-refuses",
    ),
    "limitrange/": CodeAdvice(
        "keep within the bounds, or edit the LimitRange: kubectl kres simulate -f FILE shows who that would hurt",
        "before-lowering-a-limitrange",
    ),
    "pod-security/": CodeAdvice("set the fields that the message names in securityContext", "policy-refuses"),
    "policy/": CodeAdvice(
        "change what the message of the policy names, or have its owner exempt the object", "policy-refuses"
    ),
    "priority/": CodeAdvice("create the PriorityClass, or correct its name in the pod template"),
    "runtime-class/": CodeAdvice("create the RuntimeClass, or correct its name in the pod template"),
    "service-account/": CodeAdvice("create the ServiceAccount, or correct its name in the pod template"),
    "namespace/": CodeAdvice("create the namespace, or correct its name"),
    "resize/": CodeAdvice("ask for what the message allows, or replace the pod by one with the new values"),
    "kubectl/": CodeAdvice("correct what the message names: the API server does not know it"),
}
_ANY = CodeAdvice("correct the field that the message names")


def advice_about(code: str) -> CodeAdvice:
    """Return what to do about refusals by a rule, by the longest beginning of its code that advice is known for."""
    known = dict(_ADVICE)
    for module in modules("catalogue"):
        known |= getattr(module, "ADVICE", {})
    return max(((start, advice) for start, advice in known.items() if code.startswith(start)), default=("", _ANY))[1]
