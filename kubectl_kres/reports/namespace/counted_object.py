"""The quota costs of an object of a file that quotas merely count: a ConfigMap, a Secret, anything that ``count/``
names.

Only the kind and name of the object are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.quota.quota_admission import charges, count_request
from kubectl_kres.admission.request.policy_answer import answer_request, with_webhooks
from kubectl_kres.model.kinds import BY_KIND, Kind, is_known
from kubectl_kres.model.quota_objects import CountedObject
from kubectl_kres.provenance.journal import Assumption, ExistsAlready, TakenAsNew
from kubectl_kres.record import Wording, joined
from kubectl_kres.reports.common.effective_policies import policies
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject, find_unread
from kubectl_kres.reports.common.remedy import untested_remedies
from kubectl_kres.reports.common.system import AboutNewObjects, reads_for
from kubectl_kres.reports.explain.explain import quota_costs
from kubectl_kres.reports.namespace.policy_explanation import PolicyExplanation
from kubectl_kres.reports.pod.preflight import namespace_needs, namespace_refusal
from kubectl_kres.reports.pod.verdict import verdict_of, with_outcome
from kubectl_kres.reports.remedies.commands import add_access_flags
from kubectl_kres.reports.remedies.pod_remedy import remedies
from kubectl_kres.store.store import ReadRequest, Store

#: What the controller manager puts into every namespace. Source: controller/certificates/rootcacertpublisher.
ROOT_CA = "kube-root-ca.crt"


def is_counted_object(kind: Kind) -> bool:
    """Return whether a kind is known only because quotas count it."""
    return kind.struct is CountedObject


def is_counted(store: Store, subject: Subject) -> bool:
    """Return whether a quota of its namespace counts the object, or a webhook that is computed looks at it."""
    request = count_request(subject.kind.qualified_name, subject.ref.name)
    quotas = store.all("ResourceQuota", subject.ref.namespace)
    if any(request.names({**(quota.spec.hard or {}), **(quota.status.hard or {})}) for quota in quotas):
        return True
    webhooks = policies(store, subject.ref.namespace).policies.object_webhooks
    return any(webhook.looks_at(subject.ref.kind, subject.kind.api_version) for webhook in webhooks)


def deciding_needs(store: Store, namespace: str) -> tuple[ReadRequest, ...]:
    """Return the reads by which ``is_counted`` tells."""
    return (
        ReadRequest("ResourceQuota", namespace),
        *namespace_needs(store, namespace),
        *reads_for(store, AboutNewObjects(namespace)),
    )


def counted_needs(store: Store, subject: Subject) -> tuple[ReadRequest, ...]:
    """Return the reads that the answer depends on; Secrets are never read."""
    ref = subject.ref
    own_reads = [ReadRequest(ref.kind, ref.namespace, ref.name, required=False)] if _may_read(subject) else []
    return (*deciding_needs(store, ref.namespace), *own_reads)


def _may_read(subject: Subject) -> bool:
    kind = BY_KIND.get(subject.ref.kind)
    return kind is not None and is_known(kind) and kind.group == subject.kind.group


def explain_counted(store: Store, subject: Subject, options: EvaluationOptions) -> PolicyExplanation:
    """Return the explanation: whether quotas have room for it. An object that is there already costs nothing."""
    ref, namespace_policies = subject.ref, policies(store, subject.ref.namespace, options.server)
    exists = store.get(ref.kind, ref.name, ref.namespace) is not None and ref not in store.files
    request = count_request(subject.kind.qualified_name, ref.name)
    refusal = namespace_refusal(store, ref, subject.kind.qualified_name)
    outcomes: Sequence[Outcome] = with_webhooks(
        answer_request({}, None if exists else request, namespace_policies.policies, options.server),
        {"kind": ref.kind, "apiVersion": subject.kind.api_version, **(subject.raw or {})},
        namespace_policies.policies,
        update=exists,
    )
    if refusal is not None:
        outcomes = (Outcome(False, refusal.code, refusal),)
    failed_reads = tuple(item for item in find_unread(store, counted_needs(store, subject)) if item.required)
    costs = () if exists else charges(request, namespace_policies.policies.quotas)
    return PolicyExplanation(
        ref,
        with_outcome(verdict_of(outcomes), failed_reads),
        untested_remedies(add_access_flags(store.origin, tuple(_remedies(subject, outcomes)))),
        costs=tuple(quota_costs(costs, counted=exists)),
        assumptions=(*namespace_policies.assumptions, *_existence_assumption(store, subject, exists=exists)),
        unread=failed_reads,
        complete=not failed_reads,
    )


def _remedies(subject: Subject, outcomes: Sequence[Outcome]) -> Iterator[Wording]:
    for text in remedies(outcomes):
        is_config_map = subject.kind.qualified_name == "configmaps"
        yield joined(text, f"every namespace has ConfigMap {ROOT_CA}, which counts, too") if is_config_map else text


def _existence_assumption(store: Store, subject: Subject, *, exists: bool) -> Iterator[Assumption]:
    """Yield the assumption that the object is new, where the cluster was not asked."""
    ref = subject.ref
    if exists:
        yield Assumption("request", "file/exists", ExistsAlready(str(ref)))
    elif store.origin.kind != "files" and not store.covered(ReadRequest(ref.kind, ref.namespace, ref.name)).is_known:
        yield Assumption("request", "file/taken-as-new", TakenAsNew(str(ref), counted=True))
