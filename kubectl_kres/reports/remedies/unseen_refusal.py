"""What to do about a refusal by something that is not seen here: an injector, a quota elsewhere, a limited resource."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import structs

from kubectl_kres.admission import sentences
from kubectl_kres.admission.request.new_pod import admit, policies_of, quota_request
from kubectl_kres.model.objects import ManagedMetadata, ObjectRef, ResourceQuota, ResourceQuotaSpec, ResourceQuotaStatus
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import Blocked, HiddenQuota, Injection, LimitedResources, Subject, Verdict
from kubectl_kres.reports.common.remedy import Admits, CreateObject, RaiseQuota, Remedy
from kubectl_kres.reports.remedies.words import compose_remedy, untested_remedies
from kubectl_kres.store.store import Store
from kubectl_kres.wording import join_words


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
            return untested_remedies((_ask_for_quota(hidden, subject.ref.namespace),))
    return untested_remedies((_by_refusal(refusal, blocked),))


def _by_refusal(refusal: sentences.PodRefusal, blocked: Blocked) -> str:
    match refusal:
        case sentences.WebhookDenied(webhook=name):
            return f"do what webhook {name} asks for, or ask who keeps it"
        case sentences.WebhookUnreachable(webhook=name):
            return f"make webhook {name} answer again: {_behind_webhook(blocked.message)}"
        case sentences.QuotaNotReady(quota=name):
            return (
                f"wait until quota {name} is counted: its status is empty; if that lasts, see whether the controller "
                "manager counts quotas"
            )
        case sentences.ClaimRefused(text=text):
            return f"correct the PersistentVolumeClaim of its pod: {text}"
        case sentences.UnknownRefusal() | sentences.InvalidObject():
            other = "" if "quota" in blocked.message else ", neither a quota nor a LimitRange"
            return f"look into what refuses its pods{other}: {blocked.message}"
    return f"look into what refuses its pods: {blocked.by.rstrip(',')}"


#: Where a webhook is called, in the server's sentence.
_CALLED = re.compile(r"https://([a-z0-9-]+)\.([a-z0-9-]+)\.svc[:./]")


def _behind_webhook(message: str) -> str:
    called = _CALLED.search(message)
    if called is None:
        return "its Service and pods"
    return f"Service {called[1]} of namespace {called[2]}, and the pods behind it"


def _raised_cluster_quota(store: Store, subject: Subject, verdict: Verdict, hidden: HiddenQuota) -> Iterator[Remedy]:
    """Yield the ClusterResourceQuota raised for all missing pods, and who else uses it."""
    count, ref = max(1, verdict.missing), ObjectRef("ClusterResourceQuota", hidden.quota)
    edits = tuple(_raises(ref, "spec.quota.hard", hidden.requested, count, hidden.used, hidden.limited))
    remedy = compose_remedy(store, subject, edits, Admits(count, count), 0)
    users = join_words(
        [
            f"{namespace} ({', '.join(f'{name} {amount}' for name, amount in used.items())})"
            for namespace, used in list(hidden.users.items())[:3]
        ]
    )
    yield structs.replace(remedy, text=f"{remedy.text}, or free some in {users}" if users else remedy.text)


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


def _ask_for_quota(hidden: HiddenQuota, namespace: str) -> str:
    """Return where a quota lives that is no ResourceQuota of the namespace, and what it lacks."""
    where = (
        f"quota {hidden.quota} is not in namespace {namespace}: on OpenShift it is a ClusterResourceQuota, which "
        f"counts several projects (kubectl get clusterresourcequota {hidden.quota} -o yaml)"
    )
    lacking = [
        f"{name} ({hidden.used.get(name, '0')} of {amount} used, {hidden.requested.get(name, '')} asked)"
        for name, amount in hidden.limited.items()
    ]
    if not lacking:
        return f"{where}; state the values that it demands, or ask who keeps it"
    return (
        f"{where}; raise its {join_words(lacking)}, or free some of it where it is used; if it was deleted meanwhile, "
        "the next try passes"
    )


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
    names = join_words([f"MutatingWebhookConfiguration {name}" for name in injection.webhooks])
    added = "they are" if len(injection.containers) > 1 else "it is"
    where = f"where {added} added, by {names} as far as seen" if names else f"where {added} added, mostly by a webhook"
    containers = f"container{'s' * (len(injection.containers) > 1)} {join_words(injection.containers)}"
    match refusal:
        case sentences.QuotaExceeded() if injection.computed:
            differ = [name for name, amount in injection.requested.items() if amount != injection.computed.get(name)]
            yield Remedy(f"let the pod have less {join_words(differ)} {where}")
        case sentences.MustSpecify(lacking=lacking) if injection.containers:
            yield Remedy(
                f"give {containers} {join_words(tuple(lacking))} {where}, or create a LimitRange whose defaults for "
                f"containers fill {'it' if len(lacking) == 1 else 'them'} in"
            )
        case sentences.PodSecurityViolated() if injection.containers:
            fields = [field for field in ("seccompProfile", "runAsNonRoot") if field in message]
            level = (
                f"; {join_words(fields)} may also be set on the pod level of the template, which holds for containers "
                "that do not set it themselves"
            )
            yield Remedy(f"set the securityContext of {containers} {where}{level if fields else ''}")
        case sentences.OutOfBounds(bounds=bounds):
            bound = bounds[0]
            yield Remedy(f"keep {bound.resource} within {bound.bound} {bound.amount} per {bound.type} {where}")
        case _:
            yield Remedy(f"correct the pod {where}")
