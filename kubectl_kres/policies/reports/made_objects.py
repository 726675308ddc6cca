"""What policies say of an object that a controller makes: evaluated as the next pod is, before quotas are asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from weakref import ReferenceType

import msgspec
from msgspec import structs

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.admission.base.outcome import Server
from kubectl_kres.admission.request.new_pod import ObjectReview, Policies
from kubectl_kres.policies.reports.context import PluginLookups, admission_context, computable, with_kind
from kubectl_kres.policies.rules import chain
from kubectl_kres.policies.rules.chain import Chain, review_object, unread_of
from kubectl_kres.policies.rules.policy import BoundPolicy
from kubectl_kres.policies.rules.request import Request, creation
from kubectl_kres.policies.rules.resources import canonical_object, undecodable
from kubectl_kres.store.store import Store

Raw = Mapping[str, Any]
VALIDATING, MUTATING = "ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"


def review_made(
    kept: ReferenceType[Store], namespace: str, raw: Raw, server: Server, *, whole: bool = True
) -> ObjectReview:
    """Return the object as mutating policies leave it, every refusal, and what is not computed; ``whole``: all of it
    was read.

    ``kept``: the store, which the policies of a namespace must not keep alive.
    """
    store = kept()
    context = admission_context(store, namespace, server) if store is not None else None
    if context is None or undecodable(raw) is not None:
        return ObjectReview(raw)
    try:
        sent = creation(raw, namespace)
        request = sent.with_object(chain.fill_metadata(canonical_object(raw, server), namespace))
    except (Unparsable, msgspec.ValidationError):
        return ObjectReview(raw)
    withheld = unread_of(request.kind, whole=whole)
    built = not whole and request.kind == "Pod"
    validating, gaps = _computable(context.world.validating, request, context, withheld, built=built)
    mutating, others = _computable(context.world.mutating, request, context, withheld, built=built)
    run = Chain(request, Policies(), server, structs.replace(context.world, validating=validating, mutating=mutating))
    return review_object(run, request, raw, (*with_kind(gaps, VALIDATING), *with_kind(others, MUTATING)))


def _computable(
    bound: Sequence[BoundPolicy], request: Request, context: PluginLookups, withheld: frozenset[str], *, built: bool
) -> tuple[tuple[BoundPolicy, ...], list[str]]:
    """``built``: of a pod that a system builds not all labels are known either, by which policies may select it."""
    kept, gaps = computable(bound, request, context, withheld)
    left = tuple(item for item in kept if not (built and _has_object_selector(item)))
    gaps += [
        f"{item.policy.name} is not computed: it asks for labels, which is not read"
        for item in kept
        if item not in left
    ]
    return left, gaps


def _has_object_selector(item: BoundPolicy) -> bool:
    specs = [
        item.policy.spec.get("matchConstraints"),
        *((webhook.get("spec") or {}).get("matchResources") for webhook in item.bindings),
    ]
    selectors = ((spec or {}).get("objectSelector") or {} for spec in specs)
    return any(selector.get("matchLabels") or selector.get("matchExpressions") for selector in selectors)
