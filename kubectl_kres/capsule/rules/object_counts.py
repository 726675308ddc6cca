"""How many objects of a resource a Tenant may have, by its annotations.

The handler counts what is created and deleted in an annotation of the Tenant; what a quota refuses afterwards stays
counted.

Source: capsule 0.14.0 internal/webhook/generic/custom_resource_quota.go, api/v1beta2/custom_resource_quota.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from kubectl_kres.admission.base.outcome import Finding, Refusal
from kubectl_kres.admission.quota.quota_admission import resource_of
from kubectl_kres.capsule.rules.webhooks import failure
from kubectl_kres.provenance.journal import Source

#: What the annotations of a Tenant begin with that limit the number of objects of a resource, and that count them.
LIMIT: Final = "quota.resources.capsule.clastix.io/"
USED: Final = "used.resources.capsule.clastix.io/"
#: A limit beyond it is not read, and limits nothing: the handler takes it for a number of ten bits.
_MOST: Final = 2**9 - 1


class ObjectCount(Struct, frozen=True):
    """How many objects of a resource a Tenant may have; ``resource`` as in the annotation: plural, group, version."""

    resource: str
    limit: int
    used: int


def object_counts(annotations: Mapping[str, str]) -> Iterator[ObjectCount]:
    """Yield the numbers of objects that a Tenant limits; a limit that is not read limits nothing."""
    for key, text in sorted(annotations.items()):
        limit = _number(text) if key.startswith(LIMIT) else None
        if limit is not None:
            resource = key.removeprefix(LIMIT)
            yield ObjectCount(resource, limit, _number(annotations.get(f"{USED}{resource}", "")) or 0)


def _number(text: str) -> int | None:
    digits = text[1:] if text[:1] in {"+", "-"} else text
    if not digits.isascii() or not digits.isdigit() or not -_MOST - 1 <= int(text) <= _MOST:
        return None
    return int(text)


def counted_name(kind: str, api_version: str) -> str:
    """Return the name of a kind in the annotations of a Tenant."""
    plural, _, group = resource_of(kind, api_version).partition(".")
    return f"{plural}.{group}_{api_version.rpartition('/')[2]}"


def count_refusal(tenant: str, annotations: Mapping[str, str], kind: str, api_version: str) -> Refusal | None:
    """Return why there may be no further object of a kind; None: there may, or it is not counted."""
    name = counted_name(kind, api_version)
    for count in object_counts(annotations):
        if count.resource == name and count.used >= count.limit:
            finding = Finding(
                f"resource {name} has reached quota limit of {count.limit} items",
                "capsule/count",
                observed=str(count.used),
                expected=str(count.limit),
                resource=name,
                source=Source("Tenant", tenant, field=f"metadata.annotations[{LIMIT}{name}]"),
            )
            return failure("customresources.validating.projectcapsule.dev", finding)
    return None
