"""Answers of admission to an UPDATE, PATCH or DELETE of an existing object."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import structs

from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.admission.request.update import update
from kubectl_kres.admission.resize import resize
from kubectl_kres.model.objects import decode_object
from kubectl_kres.model.pod import Pod
from kubectl_kres.policies.rules import request as namespaces
from kubectl_kres.policies.rules import service_account as built_in
from kubectl_kres.policies.rules.chain import (
    Chain,
    PolicyAnswer,
    PolicyObjects,
    distinct_answers,
    drop_answers,
    fill_metadata,
    mutate_once,
    sessions,
)
from kubectl_kres.policies.rules.request import SCALE, Request
from kubectl_kres.policies.rules.resources import canonical_object

Raw = Mapping[str, Any]
#: What a Scale has of the metadata of what it scales.
_KEPT = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
_SUBRESOURCES = {"RESIZE": "resize", "STATUS": "status", "EPHEMERAL": "ephemeralcontainers", "SCALE": "scale"}


def change(
    operation: str, old: Raw, new: Raw | None, namespace: str, policies: Policies, server: Server, world: PolicyObjects
) -> tuple[PolicyAnswer, ...]:
    """Return every answer to an update of an object that exists, of a part of it, or to its deletion.

    operation: UPDATE, RESIZE, STATUS, EPHEMERAL, SCALE or DELETE. ``new`` is the whole object after it.
    """
    source = new if new is not None else old
    verb = "DELETE" if operation == "DELETE" else "UPDATE"
    name = str((source.get("metadata") or {}).get("name", ""))
    kind, version = str(source.get("kind", "")), str(source.get("apiVersion", "v1"))
    before = fill_metadata(canonical_object(old, server), namespace)
    after = None if new is None or verb == "DELETE" else fill_metadata(canonical_object(new, server), namespace)
    sub = _SUBRESOURCES.get(operation, "")
    request = Request(verb, kind, version, name, namespace, after, before, sub, world.user)
    chain = Chain(request, policies, server, world)
    refusal = namespaces.refusal(request, world.namespace)
    if refusal is not None:
        return (chain.build_refusal(refusal),)
    if operation == "SCALE":
        return tuple(_scale_answers(chain, request))
    policy_answers: list[PolicyAnswer] = []
    for session in sessions(chain):
        mutated = mutate_once(chain, request, session)
        if isinstance(mutated, PolicyAnswer):
            policy_answers.extend(drop_answers((mutated,), session.dropped))
            continue
        changed_object, steps, unknown, _ = mutated
        stored = built_in.stored_part(operation, before, changed_object)
        admitted = _updates(operation, before, stored, chain)
        evaluated = chain.evaluate(request.with_object(None if verb == "DELETE" else stored), admitted, steps, unknown)
        policy_answers.extend(drop_answers(evaluated, session.dropped))
    return distinct_answers(policy_answers)


def _scale_answers(chain: Chain, request: Request) -> Iterator[PolicyAnswer]:
    """Policies see the Scale of both; what mutating ones would do to it is not computed.

    Source: registry/apps/deployment/storage ScaleREST.
    """
    request_seen = structs.replace(request, object=_scale_of(request.object), old=_scale_of(request.old))
    reviews = [*chain.review(request_seen)]
    warnings = tuple(sorted({text for review in reviews for text in review.warnings}))
    audit = {key: text for review in reviews for key, text in review.audit.items()}
    unknown = tuple(gap for review in reviews for gap in review.unknown)
    refusals = [refusal for review in reviews for refusal in review.refusals]
    for refusal in refusals:
        yield chain.build_refusal(refusal, warnings, audit=audit, unknown=unknown)
    if not refusals:
        yield PolicyAnswer(Outcome(allowed=True, code=200, warnings=warnings), request.object, audit, unknown)


def _scale_of(changed_object: Raw | None) -> Raw | None:
    if changed_object is None:
        return None
    metadata, spec, status = (changed_object.get(key) or {} for key in ("metadata", "spec", "status"))
    kept = {key: metadata[key] for key in _KEPT if metadata.get(key)}
    replicas = spec.get("replicas", 1)
    return {
        "apiVersion": "autoscaling/v1", "kind": SCALE, "metadata": kept,
        "spec": {"replicas": replicas} if replicas else {},
        "status": {"replicas": status.get("replicas", 0)},
    }  # fmt: skip


def _updates(operation: str, old: Raw, new: Raw, chain: Chain) -> Callable[[Policies], Sequence[Outcome]]:
    def admitted(policies: Policies) -> Sequence[Outcome]:
        plain = (Outcome(allowed=True, code=200),)
        if operation == "RESIZE":
            return resize(decode_object(old, Pod), decode_object(new, Pod), policies, chain.server)
        if operation == "UPDATE" and new.get("kind") == "Pod":
            return update(old, new, policies, chain.server)
        return plain

    return admitted
