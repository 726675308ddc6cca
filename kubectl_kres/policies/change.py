"""Every answer to a request about an object that exists: an update, of a part of it, or its deletion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.admission.request.update import update
from kubectl_kres.admission.resize.resize_pod import resize
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.raw import decoded
from kubectl_kres.policies import built_in, namespaces
from kubectl_kres.policies.chain import Chain, distinct, named, once, sessions, unanswered
from kubectl_kres.policies.request import Request
from kubectl_kres.policies.resources import settled
from kubectl_kres.policies.world import PolicyAnswer, PolicyObjects

Raw = Mapping[str, Any]
_SUBRESOURCES = {"RESIZE": "resize", "STATUS": "status", "EPHEMERAL": "ephemeralcontainers", "SCALE": "scale"}


def change(
    operation: str, old: Raw, new: Raw | None, namespace: str, policies: Policies, server: Server, world: PolicyObjects
) -> tuple[PolicyAnswer, ...]:
    """Every answer to an update of an object that exists, of a part of it, or to its deletion.

    operation: UPDATE, RESIZE, STATUS, EPHEMERAL, SCALE or DELETE. ``new`` is the whole object after it.
    """
    source = new if new is not None else old
    verb = "DELETE" if operation == "DELETE" else "UPDATE"
    name = str((source.get("metadata") or {}).get("name", ""))
    kind, version = str(source.get("kind", "")), str(source.get("apiVersion", "v1"))
    before = named(settled(old, server), namespace)
    after = None if new is None or verb == "DELETE" else named(settled(new, server), namespace)
    sub = _SUBRESOURCES.get(operation, "")
    request = Request(verb, kind, version, name, namespace, after, before, sub, world.user)
    chain = Chain(request, policies, server, world)
    refusal = namespaces.refusal(request, world.namespace)
    if refusal is not None:
        return (chain.refused(refusal),)
    if operation == "SCALE":
        return (PolicyAnswer(Outcome(allowed=True, code=200), after),)
    policy_answers: list[PolicyAnswer] = []
    for session in sessions(chain):
        mutated = once(chain, request, session)
        if isinstance(mutated, PolicyAnswer):
            policy_answers.extend(unanswered((mutated,), session.dropped))
            continue
        whole, steps, unknown = mutated
        stored = built_in.kept(operation, before, whole)
        admitted = _updates(operation, before, stored, chain)
        judged = chain.judged(request.of(None if verb == "DELETE" else stored), admitted, steps, unknown)
        policy_answers.extend(unanswered(judged, session.dropped))
    return distinct(policy_answers)


def _updates(operation: str, old: Raw, new: Raw, chain: Chain) -> Callable[[Policies], Sequence[Outcome]]:
    def admitted(policies: Policies) -> Sequence[Outcome]:
        plain = (Outcome(allowed=True, code=200),)
        if operation == "RESIZE":
            return resize(decoded(old, Pod), decoded(new, Pod), policies, chain.server)
        if operation == "UPDATE" and new.get("kind") == "Pod":
            return update(old, new, policies, chain.server)
        return plain

    return admitted
