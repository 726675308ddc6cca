"""The effects of admission policies on a namespace: which ones apply, and what each does to the pods that exist."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import structs

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.model.admission_objects import WEBHOOKS
from kubectl_kres.model.objects import to_wire
from kubectl_kres.model.pod import WITHHELD, Pod
from kubectl_kres.policies.cel.base.values import NotComputed
from kubectl_kres.policies.reports.context import PluginLookups, admission_context
from kubectl_kres.policies.reports.needs import POLICIES, deciding_needs, parameter_needs
from kubectl_kres.policies.rules import creation as policy_creation
from kubectl_kres.policies.rules import validating
from kubectl_kres.policies.rules.chain import fill_metadata
from kubectl_kres.policies.rules.mutating import MutationRun
from kubectl_kres.policies.rules.newer_fields import known_bindings
from kubectl_kres.policies.rules.policy import BoundPolicy, name_of
from kubectl_kres.policies.rules.request import Request, creation, match_request
from kubectl_kres.policies.rules.resources import canonical_object
from kubectl_kres.record import Record
from kubectl_kres.reports.common.explanation import EvaluationOptions, FailedRead, find_unread
from kubectl_kres.store.store import ReadRequest, Store

Raw = Mapping[str, Any]
#: What is not read of pods that exist, beside what is read of no template.
_UNREAD = WITHHELD | {
    *("securityContext", "ports", "livenessProbe", "readinessProbe", "startupProbe", "hostNetwork", "hostPID"),
    *("hostIPC", "hostUsers", "volumes", "serviceAccountName", "serviceAccount", "automountServiceAccountToken"),
    *("nodeSelector", "tolerations", "terminationGracePeriodSeconds", "shareProcessNamespace", "schedulerName"),
    *("imagePullPolicy",),
}
_ENDED = ("Succeeded", "Failed")


class PodEffect(Record, frozen=True):
    """A pod that a policy would refuse or warn of today, or that lacks what a policy sets; and its words."""

    pod: str
    message: str
    refused: bool = False


class PolicyEffect(Record, frozen=True):
    """A policy that matches pods of the namespace.

    actions: of its bindings there (Deny, Warn, Audit; none for one that mutates). pods: how many it was held against,
    ``passing`` of them pass or carry what it sets, ``failing`` do not. faults: fields that do not compile, in the
    server's words. unknown: why it is not computed; empty: it is.
    """

    kind: str
    name: str
    bindings: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    pods: int = 0
    passing: int = 0
    failing: tuple[PodEffect, ...] = ()
    faults: tuple[str, ...] = ()
    unknown: str = ""


class PolicyEffects(Record, frozen=True):
    """``dangling``: bindings of policies that do not exist, as ``binding`` and ``policy``."""

    namespace: str
    policies: tuple[PolicyEffect, ...] = ()
    dangling: tuple[tuple[str, str], ...] = ()
    unread: tuple[FailedRead, ...] = ()
    complete: bool = True


def effects_needs(store: Store, namespace: str) -> tuple[ReadRequest, ...]:
    """Policies, bindings, the namespace and its pods."""
    deciding = (
        structs.replace(deciding_need, required=True)
        for deciding_need in deciding_needs(store)
        if deciding_need.kind not in WEBHOOKS
    )
    params = parameter_needs(store, namespace)
    return (ReadRequest("Namespace", name=namespace, required=False), *deciding, ReadRequest("Pod", namespace), *params)


def policy_effects(
    store: Store, namespace: str, options: EvaluationOptions, kind: str = "", name: str = ""
) -> PolicyEffects:
    """Of policies of one kind, or of that name alone, where these are given."""
    context = admission_context(store, namespace, options.server)
    policy_effects: list[PolicyEffect] = []
    if context is not None:
        pods = [pod for pod in store.all("Pod", namespace) if pod.status.phase not in _ENDED]
        requests = list(_requests(pods, namespace, options))
        for text, bound in (("ValidatingAdmissionPolicy", context.world.validating),
                           ("MutatingAdmissionPolicy", context.world.mutating)):  # fmt: skip
            if kind in ("", text):
                chosen = [each for each in bound if name in ("", each.policy.name)]
                policy_effects += [
                    effect for each in chosen for effect in _effect(text, each, context, requests, namespace, options)
                ]
    failed_reads = tuple(find_unread(store, effects_needs(store, namespace)))
    dangling = tuple(pair for policy in POLICIES if kind in ("", policy) for pair in _dangling(store, policy))
    return PolicyEffects(
        namespace,
        tuple(policy_effects),
        dangling,
        failed_reads,
        not any(failed_read.required for failed_read in failed_reads),
    )


def _dangling(store: Store, kind: str) -> Iterator[tuple[str, str]]:
    if not store.covered(ReadRequest(kind)).is_known and store.origin.kind == "cluster":
        return
    names = {item.metadata.name for item in store.all(kind)}
    for binding in store.all(f"{kind}Binding"):
        expected = str(binding.spec.get("policyName", ""))
        if expected not in names:
            yield binding.metadata.name, expected


def _requests(pods: list[Pod], namespace: str, options: EvaluationOptions) -> Iterator[Request]:
    """Yield the pods as they would be created today."""
    for pod in pods:
        raw = {**to_wire(pod), "apiVersion": "v1", "kind": "Pod"}
        kept = ("name", "namespace", "labels", "annotations")
        raw["metadata"] = {key: raw["metadata"][key] for key in kept if key in raw["metadata"]}
        try:
            canonical = fill_metadata(canonical_object(raw, options.server), namespace)
        except (Unparsable, msgspec.ValidationError):
            continue
        yield creation(raw, namespace).with_object(canonical)


def _effect(
    kind: str,
    bound: BoundPolicy,
    context: PluginLookups,
    requests: list[Request],
    namespace: str,
    options: EvaluationOptions,
) -> Iterator[PolicyEffect]:
    """Nothing for a policy that is about no pod there."""
    bindings = [binding for binding in bound.bindings if _about_pods(bound, binding, context, requests, namespace)]
    if not bindings:
        return
    actions = dict.fromkeys(
        a for binding in bindings for a in (binding.get("spec") or {}).get("validationActions") or ()
    )
    errors = policy_creation.errors_of({**bound.policy.raw, "kind": kind}, options.server.version[1] + 1)
    effect = PolicyEffect(
        kind, bound.policy.name, tuple(map(name_of, bindings)), tuple(actions), faults=tuple(map(str, errors))
    )
    words = bound.policy.words & _UNREAD
    if words:
        yield structs.replace(effect, unknown=f"it asks for {', '.join(sorted(words))}, which is not read of pods")
        return
    _, newer = known_bindings(bound)
    if newer:
        yield structs.replace(effect, unknown="; ".join(newer))
        return
    others: list[PodEffect] = []
    seen = [request for request in requests if _matches(bound, request, context)]
    try:
        for request in seen:
            others += _pod_effects(kind, bound, request, context, options)
    except NotComputed as gap:
        yield structs.replace(effect, unknown=str(gap))
        return
    yield structs.replace(effect, pods=len(seen), passing=len(seen) - len(others), failing=tuple(others))


def _matches(bound: BoundPolicy, request: Request, context: PluginLookups) -> bool:
    return match_request(
        bound.policy.spec.get("matchConstraints"), request, context.world.namespace
    ) is not None and any(
        match_request((binding.get("spec") or {}).get("matchResources"), request, context.world.namespace) is not None
        for binding in bound.bindings
    )


def _about_pods(
    bound: BoundPolicy, binding: Raw, context: PluginLookups, requests: list[Request], namespace: str
) -> bool:
    """Return whether some pod there can be meant: one that exists, or any, whatever its labels."""
    bare = creation({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "any"}, "spec": {}}, namespace)
    policy_constraints, theirs = (
        bound.policy.spec.get("matchConstraints"),
        (binding.get("spec") or {}).get("matchResources"),
    )
    if any(
        all(match_request(part, request, context.world.namespace) is not None for part in (policy_constraints, theirs))
        for request in requests
    ):
        return True
    loose = [{**(part or {}), "objectSelector": None} for part in (policy_constraints, theirs)]
    return all(match_request(part, bare, context.world.namespace) is not None for part in loose)


def _pod_effects(
    kind: str, bound: BoundPolicy, request: Request, context: PluginLookups, options: EvaluationOptions
) -> Iterator[PodEffect]:
    """Yield what is not as the policy wants it; nothing: all is. Raises NotComputed."""
    if kind == "MutatingAdmissionPolicy":
        yield from _unset_effects(bound, request, context, options)
        return
    review = validating.review(request, (bound,), context.request_context)
    if review.unknown:
        raise NotComputed(review.unknown[0].partition(" is not computed: ")[2])
    texts = [(refusal.findings[0].text, True) for refusal in review.refusals] or [
        (text, False) for text in review.warnings
    ]
    if texts:
        text, refused = texts[0]
        yield PodEffect(request.name, text.partition(" denied request: ")[2] or text, refused)


def _unset_effects(
    bound: BoundPolicy, request: Request, context: PluginLookups, options: EvaluationOptions
) -> Iterator[PodEffect]:
    session = MutationRun((bound,), context.request_context, options.server)
    canonical, refusal = session.run(request)
    if session.dropped:
        yield PodEffect(request.name, session.dropped[0].text, refused=True)
        return
    if refusal is not None:
        yield PodEffect(request.name, refusal.message, refused=True)
    elif canonical != request.object:
        values = [
            f"{entry.path} {entry.after or 'gone'}"
            for step in session.steps
            for entry in step.changed_resources(options.server)
        ]
        yield PodEffect(request.name, f"lacks {', '.join(values)}" if values else "lacks what it sets")
