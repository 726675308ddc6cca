"""Capsule's two webhooks that carry out a Tenant's rules, as admission asks them about a new pod."""

from __future__ import annotations

from msgspec import Struct

from kubectl_kres.admission.base.draft import Draft
from kubectl_kres.admission.base.outcome import Refusal
from kubectl_kres.admission.pod.qos import class_of
from kubectl_kres.capsule.rules.webhooks import denied
from kubectl_kres.capsule.rules.workload_mutation import mutate_pod
from kubectl_kres.capsule.rules.workload_rules import WorkloadRule
from kubectl_kres.capsule.rules.workload_validation import refuse_class, refuse_resources
from kubectl_kres.provenance.journal import Entry

_VALIDATING = "generic.rules.validating.projectcapsule.dev"


class TenantWebhook(Struct, frozen=True):
    """The rules of a namespace. ``refuses`` False: of a version that only sets requests and limits."""

    rules: tuple[WorkloadRule, ...]
    refuses: bool = True

    def mutate(self, draft: Draft, journal: list[Entry] | None) -> bool:
        """Change the pod as one call does, and return whether anything changed."""
        return mutate_pod(draft, self.rules, journal)

    def review(self, draft: Draft, name: str, journal: list[Entry] | None) -> tuple[Refusal, ...]:
        """Return the first refusal: resources are looked at before the QoS class."""
        del name
        finding = refuse_resources(draft, self.rules, journal) if self.refuses else None
        finding = finding or refuse_class(class_of(draft), self.rules)
        return () if finding is None else (denied(_VALIDATING, finding),)
