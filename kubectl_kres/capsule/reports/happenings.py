"""What conditions of pools and claims say happened: who was given something, who waits, what is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubectl_kres.capsule.model import ResourcePool, ResourcePoolClaim
from kubectl_kres.provenance.journal import Source
from kubectl_kres.reports.common.explanation import Fact
from kubectl_kres.reports.common.system import Happening
from kubectl_kres.reports.common.system_parts import Severity

#: What is no trouble, and what passes by itself. Source: Capsule's pkg/api/meta/conditions.go.
_SEVERITIES: Mapping[str, Severity] = {
    "NoExhaustions": "",
    "InUse": "",
    "Unused": "",
    "QueueExhausted": "warn",
}


def happenings(item: ResourcePool | ResourcePoolClaim) -> Iterator[Happening]:
    """A condition with what it says; that all is well with the object itself is left out.

    Of a claim that holds nothing ``Bound`` repeats what ``Exhausted`` says.
    """
    source = Source(item.kind, item.metadata.name, item.metadata.namespace)
    for condition in item.status.conditions or ():
        wanted = condition.status != "True" if condition.type == "Ready" else condition.reason != "Failed"
        if wanted and not (isinstance(item, ResourcePool) and condition.reason == "NoExhaustions"):
            at = source.at(f"status.conditions[{condition.type}]")
            fact = Fact(condition.reason, condition.message, at, condition.last_transition_time or "")
            yield Happening(fact, _SEVERITIES.get(condition.reason, "bad"))
