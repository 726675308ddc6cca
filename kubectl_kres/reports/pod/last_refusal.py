"""The server's last refusal of a workload's pods, where admission as it is computed here would let the next pod in.

A refusal stands until something that it depends on has changed since: what the sentence says is compared with what is
in the store now, and times of edits with the time of the refusal.  Where nothing changed, something refuses that is not
seen here, and the sentence tells what kind of thing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from kubectl_kres.admission import sentences
from kubectl_kres.admission.base.outcome import QuotaCharge
from kubectl_kres.admission.quota.quota_admission import matching_quotas
from kubectl_kres.admission.request.new_pod import quota_request
from kubectl_kres.errors import QuantityError
from kubectl_kres.model.admission_objects import POD_SECURITY_LEVEL, WEBHOOKS
from kubectl_kres.model.objects import LimitRange, ManagedMetadata
from kubectl_kres.model.workload import Workload, template_of
from kubectl_kres.model.workload_kinds import REVISIONS
from kubectl_kres.provenance.journal import Source
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import (
    Blocked,
    Fact,
    HiddenQuota,
    Injection,
    LaterChange,
    LimitedResources,
    Refuser,
    Subject,
    UnseenCause,
    strip_controller_prefix,
)
from kubectl_kres.reports.common.last_editor import last_edit
from kubectl_kres.reports.common.owners import owned_by
from kubectl_kres.reports.common.replicas import newest_set
from kubectl_kres.store.store import ReadRequest, Store

#: So many characters of a time tell the second, which events and pods both have.
_SECOND = len("2026-01-01T00:00:00")
#: Reasons of events and conditions that say that a pod was not created: of controllers, and of Tekton's.
_REFUSED = frozenset({"FailedCreate", "ExceededResourceQuota"})


class LastRefusal(Struct, frozen=True):
    """The newest refusal. Either it stands, and ``blocked`` says who refuses, or ``changes`` say why it does not."""

    blocked: Blocked | None = None
    changes: tuple[LaterChange, ...] = ()


def last_refusal(
    store: Store, subject: Subject, analysis: Analysis, facts: Iterable[Fact], newest_pod: str
) -> LastRefusal | None:
    """Return the refusal; None where there is none on record, or a pod was created after it.

    ``analysis``: of a next pod that would be admitted. ``facts``: the newest refusal first. ``newest_pod``: when the
    last pod was made, empty where there is none. A condition holds now, whenever it became true.
    """
    fact = next((fact for fact in facts if fact.reason in _REFUSED), None)
    if fact is None or (newest_pod and fact.time and not fact.source.field and _is_after(newest_pod, fact.time)):
        return None
    refusal = sentences.read_refusal(fact.text)
    comparison = _Comparison(store, subject, analysis, fact.time)
    if changes := comparison.changes(refusal):
        return LastRefusal(changes=changes)
    cause = comparison.cause(refusal)
    by = find_refuser(refusal, cause, subject.ref.namespace)
    message = strip_controller_prefix(fact.text)
    return LastRefusal(Blocked(by, message, 0 if fact.source.field else fact.count, fact.time, by.rule, cause))


def _is_after(time: str, other: str) -> bool:
    """Return whether a moment is later than another by a second or more; False where one of them is not known."""
    return bool(time and other) and time[:_SECOND] > other[:_SECOND]


class _Comparison:
    """What a refusal says beside what is there now. ``since``: when the server refused; empty where nothing says it."""

    def __init__(self, store: Store, subject: Subject, analysis: Analysis, since: str) -> None:
        self.store, self.subject, self.analysis, self.since = store, subject, analysis, since
        self.namespace = subject.ref.namespace
        draft = analysis.outcomes[0].draft
        self.request = quota_request(analysis.manifest.pod, draft) if draft is not None else None
        self.containers = {slot.name for slot in draft.slots()} if draft is not None else set()
        self.template = self._template_change()

    def changes(self, refusal: sentences.PodRefusal) -> tuple[LaterChange, ...]:
        """Return what changed since and lets the next pod in; nothing: the refusal stands."""
        match refusal:
            case sentences.QuotaExceeded():
                return tuple(self._room(refusal, self._pod_amounts()))
            case sentences.ClaimRefused(inner=sentences.QuotaExceeded() as exceeded):
                return tuple(self._room(exceeded, self._claim_amounts(exceeded.quota)))
            case sentences.ClaimRefused(inner=inner):
                return self.changes(inner)
            case sentences.QuotaNotReady():
                return tuple(self._counted(refusal.quota))
            case sentences.NamespaceEnds():
                return ()
        found = tuple(self._changes_of_refuser(refusal))
        return found or tuple(filter(None, (self.template,)))

    def _changes_of_refuser(self, refusal: sentences.PodRefusal) -> Iterator[LaterChange]:
        """Yield what changed about what refused; nothing where a changed template is what explains it."""
        match refusal:
            case sentences.MustSpecify():
                yield from self._demand(refusal)
            case sentences.NoQuotaNames() | sentences.NoQuotaInScope() if self.template is None:
                yield from self._covering(refusal)
            case sentences.OutOfBounds() if self.template is None:
                yield from self._bounds(refusal)
            case sentences.InvalidObject():
                yield from filter(None, (self.template, *self._edits("LimitRange")))
            case sentences.MissingClass():
                yield from self._appeared(refusal.kind, refusal.name, "")
            case sentences.MissingAccount():
                yield from self._appeared("ServiceAccount", refusal.name, self.namespace)
            case sentences.WebhookDenied(webhook=name) | sentences.WebhookUnreachable(webhook=name):
                yield from self._webhook(name)
            case sentences.PodSecurityViolated():
                yield from self._level(refusal)
            case sentences.PolicyDenied():
                yield from self._policy(refusal)

    def cause(self, refusal: sentences.PodRefusal) -> UnseenCause | None:
        """Return what a refusal implies that stands although the next pod would be admitted."""
        match refusal:
            case sentences.ClaimRefused(inner=inner) if not isinstance(inner, sentences.UnknownRefusal):
                return self.cause(inner)
            case sentences.QuotaExceeded(quota=name) | sentences.MustSpecify(quota=name) if (
                self._quota(name) is None
                and not self.store.covered(ReadRequest("ResourceQuota", self.namespace)).is_known
            ):
                return None
            case sentences.QuotaExceeded() if self._quota(refusal.quota) is None:
                return self._hidden_quota(refusal)
            case sentences.QuotaExceeded():
                computed = {name: str(self._pod_amounts().get(name, 0)) for name in refusal.requested}
                return self._injection(asked=refusal.requested, computed=computed)
            case sentences.MustSpecify():
                containers = {name for names in refusal.lacking.values() for name in names} - self.containers
                if self._quota(refusal.quota) is None and not containers:
                    return HiddenQuota(refusal.quota)
                return self._injection(sorted(containers))
            case sentences.NoQuotaNames():
                return LimitedResources(refusal.resources)
            case sentences.NoQuotaInScope():
                return LimitedResources(scopes=tuple(map(str, refusal.scopes)))
            case sentences.OutOfBounds():
                return self._injection(asked={bound.resource: bound.stated for bound in refusal.bounds if bound.stated})
            case sentences.PodSecurityViolated():
                containers = set(refusal.containers) - self.containers
                return self._injection(sorted(containers)) if containers else None
        return None

    def _hidden_quota(self, refusal: sentences.QuotaExceeded) -> HiddenQuota:
        cluster = self.store.get("ClusterResourceQuota", refusal.quota)
        if cluster is None:
            return HiddenQuota(refusal.quota, refusal.requested, refusal.used, refusal.limited)
        names, total = tuple(refusal.requested), cluster.status.total
        users = {
            item.namespace: _named(item.status.used, names)
            for item in cluster.status.namespaces or ()
            if item.namespace != self.namespace and item.status.used
        }
        used, hard = _named(total.used, names), _named(total.hard, names)
        return HiddenQuota(refusal.quota, refusal.requested, used, hard, cluster=True, users=users)

    def _injection(
        self, containers: Sequence[str] = (), asked: Mapping[str, str] = {}, computed: Mapping[str, str] = {}
    ) -> Injection:
        sources = (item.source for item in self.analysis.assumed if item.code == "webhook/not-computed")
        webhooks = tuple(source.name for source in sources if source is not None and source.kind == WEBHOOKS[0])
        return Injection(tuple(containers), asked, computed, webhooks)

    def _quota(self, name: str) -> Any | None:
        return self.store.get("ResourceQuota", name, self.namespace)

    def _pod_amounts(self) -> Mapping[str, Quantity]:
        return self.request.usage if self.request is not None else {}

    def _claim_amounts(self, quota: str) -> Mapping[str, Quantity]:
        claims = self.analysis.claims
        charges: Iterable[QuotaCharge] = claims.charges if claims is not None else ()
        return {
            name: parse(amount)
            for charge in charges
            if charge.quota == quota
            for name, amount in charge.requested.items()
        }

    def _room(self, refusal: sentences.QuotaExceeded, own: Mapping[str, Quantity]) -> Iterator[LaterChange]:
        """Yield the amounts of a quota that changed, where the refused request fits now."""
        quota = self._quota(refusal.quota)
        cluster = self.store.get("ClusterResourceQuota", refusal.quota) if quota is None else None
        source = Source("ResourceQuota", refusal.quota, self.namespace)
        hard, used = refusal.limited, refusal.used
        if quota is not None:
            hard, used = quota.status.hard or {}, quota.status.used or {}
        elif cluster is not None:
            source = Source("ClusterResourceQuota", refusal.quota)
            hard, used = cluster.status.total.hard or {}, cluster.status.total.used or {}
        changes = [self.template] if self.template is not None else []
        try:
            for name, requested in refusal.requested.items():
                asked = own.get(name, parse("0")) if self.template is not None else parse(requested)
                if name not in hard:
                    changes.append(
                        LaterChange(source.at_path(f"status.hard[{name}]"), refusal.limited.get(name, ""), "")
                    )
                    continue
                now, there = parse(str(hard[name])), parse(str(used.get(name, "0")))
                if there.nano + asked.nano > now.nano:
                    return
                if now > parse(refusal.limited[name]):
                    path = source.at_path(f"status.hard[{name}]")
                    changes.append(
                        LaterChange(path, refusal.limited[name], str(now), time=self._edit_time(quota, "spec"))
                    )
                if there < parse(refusal.used[name]):
                    changes.append(LaterChange(source.at_path(f"status.used[{name}]"), refusal.used[name], str(there)))
        except (QuantityError, KeyError):
            return
        yield from changes

    def _counted(self, name: str) -> Iterator[LaterChange]:
        """Yield that the quota controller has counted a quota by now."""
        quota = self._quota(name)
        if quota is not None and quota.status.hard:
            yield LaterChange(Source("ResourceQuota", name, self.namespace, "status.hard"), how="created")

    def _demand(self, refusal: sentences.MustSpecify) -> Iterator[LaterChange]:
        """Yield why the containers state by now what the quota demands, or why it demands nothing any more."""
        quota = self._quota(refusal.quota)
        unknown = {name for names in refusal.lacking.values() for name in names} - self.containers
        if quota is not None:
            hard = quota.spec.hard or {}
            gone = [name for name in refusal.lacking if name not in hard]
            if len(gone) == len(refusal.lacking):
                time = self._edit_time(quota, "spec")
                for name in gone:
                    path = Source("ResourceQuota", refusal.quota, self.namespace, f"spec.hard[{name}]")
                    yield LaterChange(path, how="deleted", time=time)
                return
        for item in self.store.all("LimitRange", self.namespace) if self.template is None else ():
            if not unknown or set(refusal.lacking) <= _names_with_default(item):
                yield from filter(None, (self._edit(item, "LimitRange", "spec"),))

    def _covering(self, refusal: sentences.NoQuotaNames | sentences.NoQuotaInScope) -> Iterator[LaterChange]:
        """Yield the quotas that name by now what the server asks a quota for."""
        quotas = self.analysis.policies.policies.quotas
        if self.request is None:
            return
        if isinstance(refusal, sentences.NoQuotaNames):
            covering = {name: quota for quota in matching_quotas(self.request, quotas) for name in quota.hard}
            if not set(refusal.resources) <= covering.keys():
                return
            found = [covering[name] for name in refusal.resources]
        else:
            wanted = {scope.name for scope in refusal.scopes}
            found = [
                quota
                for quota in quotas
                if any(scope.scope_name in wanted and self.request.in_scope(scope) for scope in quota.scopes)
            ]
        for name in dict.fromkeys(quota.name for quota in found):
            quota = self._quota(name)
            time = quota.metadata.creation_timestamp or "" if quota is not None else ""
            yield LaterChange(Source("ResourceQuota", name, self.namespace), how="created", time=time)

    def _bounds(self, refusal: sentences.OutOfBounds) -> Iterator[LaterChange]:
        """Yield the bounds that no LimitRange has any more, else what changed about values."""
        if edits := tuple(self._edits("LimitRange")):
            yield from edits
            return
        if not self.store.covered(ReadRequest("LimitRange", self.namespace)).is_known:
            return
        present = {
            (item.type, bound, name, _amount(amount))
            for limit_range in self.store.all("LimitRange", self.namespace)
            for item in limit_range.spec.limits or ()
            for bound, amounts in (
                ("minimum", item.min), ("maximum", item.max), ("ratio", item.max_limit_request_ratio)
            )
            for name, amount in (amounts or {}).items()
        }  # fmt: skip
        gone = [
            bound
            for bound in refusal.bounds
            if (bound.type, bound.bound, bound.resource, _amount(bound.amount)) not in present
        ]
        if len(gone) == len(refusal.bounds):
            for bound in gone:
                path = f"{bound.bound} {bound.resource} per {bound.type}"
                yield LaterChange(Source("LimitRange", "", self.namespace, path), before=bound.amount, how="deleted")

    def _appeared(self, kind: str, name: str, namespace: str) -> Iterator[LaterChange]:
        item = self.store.get(kind, name, namespace)
        if item is not None:
            yield LaterChange(Source(kind, name, namespace), how="created", time=item.metadata.creation_timestamp or "")

    def _webhook(self, name: str) -> Iterator[LaterChange]:
        found = False
        for kind in WEBHOOKS:
            for item in self.store.all(kind):
                if any(hook.name == name for hook in item.webhooks or ()):
                    found = True
                    yield from filter(None, (self._edit(item, kind, ""),))
        known = all(self.store.covered(ReadRequest(kind)).is_known for kind in WEBHOOKS)
        if known and not found:
            yield LaterChange(Source("webhook", name), how="deleted")
        elif self.template is not None:
            yield self.template

    def _level(self, refusal: sentences.PodSecurityViolated) -> Iterator[LaterChange]:
        space = self.store.get("Namespace", self.namespace)
        if space is not None:
            level = (space.metadata.labels or {}).get(POD_SECURITY_LEVEL, "")
            path = f"metadata.labels[{POD_SECURITY_LEVEL}]"
            time = self._edit_time(space, path)
            if (level and level != refusal.level) or (not level and _is_after(time, self.since)):
                source = Source("Namespace", self.namespace, "", path)
                yield LaterChange(source, refusal.level, level, how="" if level else "deleted", time=time)

    def _policy(self, refusal: sentences.PolicyDenied) -> Iterator[LaterChange]:
        for kind, name in ((refusal.kind, refusal.name), (f"{refusal.kind}Binding", refusal.binding)):
            item = self.store.get(kind, name) if name else None
            if item is not None:
                yield from filter(None, (self._edit(item, kind, "spec"),))
            elif name and self.store.covered(ReadRequest(kind)).is_known:
                yield LaterChange(Source(kind, name), how="deleted")

    def _edits(self, kind: str) -> Iterator[LaterChange]:
        """Yield the objects of the namespace that were made or edited after the refusal."""
        for item in self.store.all(kind, self.namespace):
            yield from filter(None, (self._edit(item, kind, "spec"),))

    def _edit(self, item: Any, kind: str, path: str) -> LaterChange | None:
        source = Source(kind, item.metadata.name, item.metadata.namespace, path)
        created = item.metadata.creation_timestamp or ""
        if _is_after(created, self.since):
            return LaterChange(source.at_path(""), how="created", time=created)
        edited = self._edit_time(item, path)
        return LaterChange(source, how="edited", time=edited) if _is_after(edited, self.since) else None

    def _edit_time(self, item: Any, path: str) -> str:
        """Return when a field was last written; empty where nobody says it."""
        metadata = getattr(item, "metadata", None)
        if not path or not isinstance(metadata, ManagedMetadata):
            return ""
        edit = last_edit(metadata.managed_fields, path) or _any_edit(metadata, path)
        return edit.time if edit is not None else ""

    def _template_change(self) -> LaterChange | None:
        """Return the newest template of the workload, where the refused pod was of an older one."""
        owner, kind = self.analysis.manifest.owner, self.subject.ref.kind
        if not isinstance(owner, Workload):
            return None
        source = Source(kind, owner.metadata.name, owner.metadata.namespace)
        if _is_after(created := owner.metadata.creation_timestamp or "", self.since):
            return LaterChange(source, how="created", time=created)
        field = template_of(owner)[0]
        if kind == "Deployment":
            newest = newest_set(self.store, owner)
            time = (newest.metadata.creation_timestamp or "") if newest is not None else ""
        elif kind in REVISIONS:
            revisions = owned_by(self.store, REVISIONS[kind].kind, owner.metadata.namespace, (kind, source.name))
            time = max((item.metadata.creation_timestamp or "" for item in revisions), default="")
        else:
            time = self._edit_time(owner, f"{field}.spec")
        return LaterChange(source.at_path(field), how="edited", time=time) if _is_after(time, self.since) else None


def _named(amounts: Mapping[str, Any] | None, names: Iterable[str]) -> dict[str, str]:
    return {name: str(amounts[name]) for name in names if amounts and name in amounts}


def _names_with_default(limit_range: LimitRange) -> set[str]:
    """Return the names of a quota, limits.cpu, that a LimitRange gives to containers that state none."""
    return {
        f"{side}.{name}"
        for item in limit_range.spec.limits or ()
        if item.type == "Container"
        for side, amounts in (("limits", (item.default,)), ("requests", (item.default, item.default_request)))
        for given in amounts
        for name in given or ()
    }


def _any_edit(metadata: ManagedMetadata, path: str) -> Any | None:
    """Return the newest entry that holds the first step of the path, for fields that nobody owns by themselves."""
    if "." in path:
        return None
    key = f"f:{path.partition('[')[0]}"
    entries = [
        entry
        for entry in metadata.managed_fields or ()
        if isinstance(entry.fields_v1, Mapping) and key in entry.fields_v1
    ]
    return max(entries, key=lambda entry: entry.time or "", default=None)


def _amount(value: Any) -> object:
    try:
        return parse(str(value)).nano
    except QuantityError:
        return str(value)


_BOUND_RULES = {"minimum": "limitrange/min", "maximum": "limitrange/max", "ratio": "limitrange/ratio"}


def find_refuser(refusal: sentences.PodRefusal, cause: UnseenCause | None, namespace: str) -> Refuser:
    """Return who refuses, with the rule."""
    match refusal, cause:
        case _, HiddenQuota(quota=quota):
            rule = "quota/exceeded" if cause.requested else "quota/must-specify"
            return Refuser(rule, quota, namespace=namespace, cause=cause)
        case _, LimitedResources(resources=resources):
            return Refuser("quota/limited-resource" if resources else "quota/limited-scope", cause=cause)
        case sentences.QuotaExceeded(quota=quota), _:
            return Refuser("quota/exceeded", quota, cause=cause)
        case sentences.MustSpecify(quota=quota), _:
            return Refuser("quota/must-specify", quota, cause=cause)
        case sentences.QuotaNotReady(quota=quota), _:
            return Refuser("quota/status-unknown", quota)
        case sentences.OutOfBounds(bounds=bounds), _:
            return Refuser(_BOUND_RULES[bounds[0].bound], cause=cause)
        case sentences.WebhookDenied(webhook=name), _:
            return Refuser("webhook/denied", name)
        case sentences.WebhookUnreachable(webhook=name), _:
            return Refuser("webhook/unreachable", name)
        case sentences.PodSecurityViolated(level=level, version=version), _:
            return Refuser("pod-security/violated", f"{level}:{version}", cause=cause)
        case sentences.PolicyDenied(kind=kind, name=name), _:
            return Refuser("policy/denied", name, kind)
        case sentences.MissingAccount(name=name), _:
            return Refuser("service-account/missing", name)
        case sentences.NamespaceEnds(text=text), _:
            return Refuser("namespace/terminating", text)
        case sentences.ClaimRefused(), _:
            return Refuser("seen/claim-refused")
    return Refuser("seen/refused")


#: Refusals by what is computed here: quotas, LimitRanges, classes and validation of pods.
_COMPUTED = (
    sentences.QuotaExceeded,
    sentences.MustSpecify,
    sentences.QuotaNotReady,
    sentences.OutOfBounds,
    sentences.InvalidObject,
    sentences.MissingClass,
)


def refused_by_others(facts: Iterable[Fact]) -> bool:
    """Return whether the last refusal is one that quotas, LimitRanges, classes and validation do not explain."""
    last = next((fact for fact in facts if fact.reason == "FailedCreate"), None)
    return last is not None and not isinstance(sentences.read_refusal(last.text), _COMPUTED)
