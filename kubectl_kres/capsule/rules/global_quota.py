"""GlobalResourceQuotas as Capsule's webhook enforces them: one hard over all namespaces that they select.

Source: capsule 0.14.0 internal/webhook/globalresourcequota/calculation.go, api/v1beta2/globalresourcequota_*.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kubectl_kres.admission.base.draft import Quantities, parse_list
from kubectl_kres.admission.base.outcome import Finding, Refusal
from kubectl_kres.admission.quota.quota_admission import Quota
from kubectl_kres.admission.quota.usage import requirements
from kubectl_kres.capsule.model import GlobalResourceQuota
from kubectl_kres.capsule.rules.assignment import fault, fits, is_empty
from kubectl_kres.model.objects import ResourceQuota
from kubectl_kres.provenance.journal import Source
from kubectl_kres.quantity import ZERO, Quantity

_VALIDATING = "calculation.global-resource-quotas.validating.projectcapsule.dev"
KIND = "GlobalResourceQuota"
#: The label of the ResourceQuota that the controller keeps in each selected namespace, with the name of its quota.
PROJECTED_LABEL = "projectcapsule.dev/global-resource-quota"


def is_shared(quota: GlobalResourceQuota, namespace: str, labels: Mapping[str, str] | None) -> bool:
    """Return whether a namespace shares the quota. ``labels`` None: they are not known, and the status says it.

    The webhook goes by the selectors. One without fields selects nothing: an empty object is decoded as none.
    """
    if quota.metadata.deletion_timestamp:
        return False
    if labels is None:
        return namespace in (quota.status.namespaces or ())
    return any(
        not is_empty(selector) and not fault(selector) and fits(selector, labels)
        for selector in quota.spec.namespace_selectors or ()
    )


def parse_global_quota(quota: GlobalResourceQuota) -> Quota:
    """Return the quota with what all of its namespaces use, as its status says. Raises Unparsable."""
    spec, name = quota.spec.quota, quota.metadata.name
    hard = parse_list(spec.hard, "spec.quota.hard")
    used = parse_list(quota.status.total.used, "status.total.used")
    used = {name: used.get(name, ZERO) for name in hard}
    source = Source(KIND, name)
    return Quota(f"{KIND}/{name}", source, requirements(spec), hard, used, _WORDS, "spec.quota.hard")


def is_projected(quota: ResourceQuota) -> str:
    """Return the GlobalResourceQuota that a ResourceQuota is a namespace's part of; empty: of none."""
    return (quota.metadata.labels or {}).get(PROJECTED_LABEL, "")


class _Words:
    """The webhook's sentences."""

    def exceeded(self, quota: Quota, delta: Quantities) -> str:
        """Return what it says of every resource that is over its hard, be it asked for or not; empty: none is."""
        additions = {name: quantity for name, quantity in delta.items() if name in quota.hard and quantity.nano > 0}
        details = "; ".join(_find_excess(quota, additions)) if additions else ""
        return f'resource exceeds {KIND} "{quota.source.name}": {details}' if details else ""

    def must_specify(self, quota: Quota, missing: str) -> str:
        return f'resource cannot be evaluated against {KIND} "{quota.source.name}": must specify {missing}'

    def refusal(self, findings: Sequence[Finding]) -> Refusal:
        message = f'admission webhook "{_VALIDATING}" denied the request: {findings[0].text}'
        return Refusal(403, "Forbidden", message, tuple(findings))


_WORDS = _Words()


def _find_excess(quota: Quota, additions: Mapping[str, Quantity]) -> Iterator[str]:
    for name, hard in sorted(quota.hard.items()):
        used, requested = quota.used.get(name, ZERO), additions.get(name, ZERO)
        projected = used + requested
        if projected > hard:
            yield (
                f"{name} (requested={requested}, current={projected - requested}, projected={projected}, hard={hard}, "
                f"exceededBy={projected - hard})"
            )
