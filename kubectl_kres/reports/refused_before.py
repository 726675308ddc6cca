"""What refused pods that would be admitted now, as an event tells it: their claims, or something not computed here."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kubectl_kres.reports.explanation import Fact

_CLAIM = re.compile(r'persistentvolumeclaims "[^"]*" is (?:forbidden|invalid): (.*)', re.DOTALL)
#: What limits, quotas, classes and validation say, which admission is computed for.
_COMPUTED = re.compile(
    r"(?:exceeded|failed|status unknown for) quota|insufficient quota|usage per |ratio per |is invalid: "
    r"|pod rejected: |PriorityClass"
)
_BEFORE = re.compile(r"^(?:\(combined from similar events\): )?(?:Error creating: )?")


def barring(seen: Iterable[Fact], *, claims: bool = False) -> str:
    """What to do about the last refusal that quotas and LimitRanges of pods do not explain; empty if there is none.

    ``claims``: admission is computed for the claims of the pods, too.
    Source: controller/statefulset stateful_pod_control.go createPersistentVolumeClaims; controller_utils.go CreatePods.
    """
    last = next((fact.text for fact in seen if fact.reason == "FailedCreate"), "")
    claim = _CLAIM.search(last)
    if claim is not None and not (claims and _COMPUTED.search(claim[0])):
        return f"mend what refuses the claim of its pod: {claim[1]}"
    if not last or _COMPUTED.search(last):
        return ""
    return f"mend what refused its pods last, which is neither a quota nor a LimitRange: {_BEFORE.sub('', last)}"
