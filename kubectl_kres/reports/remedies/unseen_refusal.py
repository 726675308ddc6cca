"""What to do about a refusal by something that is not seen here: an injector, a quota elsewhere, a limited resource."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import structs

from kubectl_kres.admission import sentences
from kubectl_kres.admission.request.new_pod import admit, policies_of, quota_request
from kubectl_kres.model.objects import ManagedMetadata, ObjectRef, ResourceQuota, ResourceQuotaSpec, ResourceQuotaStatus
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.record import Sentence, joined
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import (
    Blocked,
    HiddenQuota,
    Injection,
    LimitedResources,
    Refuser,
    Subject,
    Verdict,
)
from kubectl_kres.reports.common.remedy import Admits, CreateObject, RaiseQuota, Remedy, untested_remedies
from kubectl_kres.reports.remedies.compose import compose_remedy
from kubectl_kres.store.store import Store


class AskWebhook(Sentence, frozen=True):
    """A webhook denies the pods."""

    webhook: str


class MendWebhook(Sentence, frozen=True):
    """A webhook does not answer. ``service``, ``namespace``: where it is called; empty: not known."""

    webhook: str
    service: str = ""
    namespace: str = ""


class AwaitCount(Sentence, frozen=True):
    """A quota has no status yet."""

    quota: str


class CorrectClaim(Sentence, frozen=True):
    """The claim of a pod is refused, with the server's words."""

    message: str


class LookInto(Sentence, frozen=True):
    """Who refuses the pods, or the server's words. ``no_policy``: neither a quota nor a LimitRange does."""

    what: Refuser | str
    no_policy: bool = False


class FreeElsewhere(Sentence, frozen=True):
    """What namespaces use of a quota that counts several, by namespace and resource."""

    users: Mapping[str, Mapping[str, str]]


class RaiseElsewhere(Sentence, frozen=True):
    """A quota that is no ResourceQuota of ``namespace``."""

    quota: HiddenQuota
    namespace: str


class Injected(Sentence, frozen=True):
    """Something that is changed where it is added to the pods: by these webhooks, to these containers.

    Without a webhook: none is seen that does it.
    """

    webhooks: tuple[str, ...]
    containers: tuple[str, ...]


class InjectLess(Injected, frozen=True):
    """Let the pods have less of these resources."""

    resources: tuple[str, ...]


class StateInjected(Injected, frozen=True):
    """State these values in the containers, or have a LimitRange fill them in."""

    values: tuple[str, ...]


class SecureInjected(Injected, frozen=True):
    """Set the security context. ``fields``: those that may stand on the pod level, too."""

    fields: tuple[str, ...]


class BoundInjected(Injected, frozen=True):
    """Keep a resource within a bound of a LimitRange of this type."""

    resource: str
    bound: str
    amount: str
    type: str


class CorrectInjected(Injected, frozen=True):
    """Correct the pod."""


def unseen_fixes(store: Store, subject: Subject, analysis: Analysis, verdict: Verdict) -> tuple[Remedy, ...]:
    """Return the fixes of a blocked verdict, the one that can be applied here first."""
    blocked = verdict.blocked
    assert blocked is not None
    refusal = sentences.read_refusal(blocked.message)
    match blocked.cause:
        case LimitedResources() as limited:
            return tuple(_new_quota(store, subject, analysis, verdict, limited))
        case Injection() as injection:
            room = _more_room(store, subject, verdict, refusal, injection)
            return (*room, *_in_injector(refusal, injection, blocked.message))
        case HiddenQuota(cluster=True) as hidden:
            return tuple(_raised_cluster_quota(store, subject, verdict, hidden))
        case HiddenQuota() as hidden:
            return untested_remedies((RaiseElsewhere(hidden, subject.ref.namespace),))
    return untested_remedies((_by_refusal(refusal, blocked),))


def _by_refusal(refusal: sentences.PodRefusal, blocked: Blocked) -> Sentence:
    match refusal:
        case sentences.WebhookDenied(webhook=name):
            return AskWebhook(name)
        case sentences.WebhookUnreachable(webhook=name):
            called = _CALLED.search(blocked.message)
            return MendWebhook(name, *(called.groups() if called is not None else ()))
        case sentences.QuotaNotReady(quota=name):
            return AwaitCount(name)
        case sentences.ClaimRefused(text=text):
            return CorrectClaim(text)
        case sentences.UnknownRefusal() | sentences.InvalidObject():
            return LookInto(blocked.message, no_policy="quota" not in blocked.message)
    return LookInto(blocked.by)


#: Where a webhook is called, in the server's sentence.
_CALLED = re.compile(r"https://([a-z0-9-]+)\.([a-z0-9-]+)\.svc[:./]")


def _raised_cluster_quota(store: Store, subject: Subject, verdict: Verdict, hidden: HiddenQuota) -> Iterator[Remedy]:
    """Yield the ClusterResourceQuota raised for all missing pods, and who else uses it."""
    count, ref = max(1, verdict.missing), ObjectRef("ClusterResourceQuota", hidden.quota)
    edits = tuple(_raises(ref, "spec.quota.hard", hidden.requested, count, hidden.used, hidden.limited))
    remedy = compose_remedy(store, subject, edits, Admits(count, count), 0)
    users = FreeElsewhere(hidden.users) if hidden.users else None
    yield structs.replace(remedy, text=joined(remedy.text, users, between=", or "))


def _raises(
    ref: ObjectRef,
    path: str,
    asked: Mapping[str, str],
    count: int,
    used: Mapping[str, object],
    hard: Mapping[str, object],
) -> Iterator[RaiseQuota]:
    """Yield the names of a quota to raise, at ``path``, so that ``count`` pods that ask for so much each have room."""
    for name, amount in ((name, parse(text)) for name, text in asked.items()):
        wanted = Quantity(parse(str(used.get(name, "0"))).nano + count * amount.nano, amount.format)
        if name in hard and wanted > parse(str(hard[name])):
            yield RaiseQuota(ref, f"{path}[{name}]", name, str(wanted), str(hard[name]))


def _new_quota(
    store: Store, subject: Subject, analysis: Analysis, verdict: Verdict, limited: LimitedResources
) -> Iterator[Remedy]:
    """Yield the quota that the server asks for, with room for all missing pods, tried."""
    draft = analysis.outcomes[0].draft
    if draft is None:
        return
    count = max(1, verdict.missing)
    usage = quota_request(analysis.manifest.pod, draft).usage
    stated = {name: usage[name] for name in limited.resources if name in usage}
    hard = {name: str(Quantity(quantity.nano * count, quantity.format)) for name, quantity in stated.items()}
    scopes = tuple(scope.partition(" ")[0] for scope in limited.scopes)
    if not limited.resources:
        hard = {"pods": str(count)}
    if not hard:
        return
    ref = ObjectRef("ResourceQuota", f"{subject.ref.name}-allowed", subject.ref.namespace)
    quota = ResourceQuota(
        ManagedMetadata(ref.name, ref.namespace),
        ResourceQuotaSpec(hard, scopes or None),
        ResourceQuotaStatus(hard, dict.fromkeys(hard, "0")),
    )
    added = policies_of((), (quota,)).quotas
    policies = structs.replace(analysis.policies.policies, quotas=(*analysis.policies.policies.quotas, *added))
    outcomes = admit(analysis.manifest.pod, policies, analysis.server, journal=False)
    spec = {"hard": hard, **({"scopes": list(scopes)} if scopes else {})}
    manifest = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": ref.name, "namespace": ref.namespace},
        "spec": spec,
    }
    edit = CreateObject(ref, manifest)
    remedy = compose_remedy(store, subject, (edit,), Admits(count, count), 0)
    yield structs.replace(remedy, proven=all(outcome.allowed for outcome in outcomes))


def _more_room(
    store: Store, subject: Subject, verdict: Verdict, refusal: sentences.PodRefusal, injection: Injection
) -> Iterator[Remedy]:
    """Yield the quota raised for all missing pods as the server counts them, where one of the namespace is exceeded."""
    if not isinstance(refusal, sentences.QuotaExceeded):
        return
    quota = store.get("ResourceQuota", refusal.quota, subject.ref.namespace)
    if quota is None:
        return
    count = max(1, verdict.missing)
    ref, hard = ObjectRef("ResourceQuota", refusal.quota, subject.ref.namespace), quota.spec.hard or {}
    if edits := tuple(_raises(ref, "spec.hard", injection.requested, count, quota.status.used or {}, hard)):
        remedy = compose_remedy(store, subject, edits, Admits(count, count), 0)
        # What else the injector adds is not known, where the quota counts more than the refusal names.
        yield structs.replace(remedy, proven=set(hard) <= set(injection.requested))


def _in_injector(refusal: sentences.PodRefusal, injection: Injection, message: str) -> Iterator[Remedy]:
    """Yield what to change where something adds to the pod on its way."""
    where = (injection.webhooks, injection.containers)
    match refusal:
        case sentences.QuotaExceeded() if injection.computed:
            differ = (name for name, amount in injection.requested.items() if amount != injection.computed.get(name))
            yield Remedy(InjectLess(*where, tuple(differ)))
        case sentences.MustSpecify(lacking=lacking) if injection.containers:
            yield Remedy(StateInjected(*where, tuple(lacking)))
        case sentences.PodSecurityViolated() if injection.containers:
            fields = tuple(field for field in ("seccompProfile", "runAsNonRoot") if field in message)
            yield Remedy(SecureInjected(*where, fields))
        case sentences.OutOfBounds(bounds=bounds):
            bound = bounds[0]
            yield Remedy(BoundInjected(*where, bound.resource, bound.bound, bound.amount, bound.type))
        case _:
            yield Remedy(CorrectInjected(*where))
