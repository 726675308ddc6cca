"""The server's answers to an object in a file before any pod is made of it: unknown fields, its template, its count.

It also says why the object has no place in the cluster: no such kind, no such namespace, or one that is being deleted.
"""

# ruff: noqa: PLC0415 - most objects of files can be decoded
from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from msgspec import structs

from kubectl_kres.admission.base.draft import Unparsable, pod_warnings
from kubectl_kres.admission.base.outcome import Finding, Outcome, Refusal, StatusCause, forbidden_object, unparsable
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.decoding import strict_refusal, unknown_fields, version_of
from kubectl_kres.model.kinds import BY_KIND, is_known
from kubectl_kres.model.objects import ObjectRef, Raw
from kubectl_kres.model.workload_kinds import WORKLOADS
from kubectl_kres.provenance.journal import Assumption, ExistsAlready, TakenAsNew, UncheckedFile
from kubectl_kres.reports.common.analysis import Analysis, with_refusal
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject, raw_template
from kubectl_kres.reports.pod.pod_claims import with_account
from kubectl_kres.store.store import ReadRequest, Store

#: Namespaces that the API server makes itself, and lets nobody delete.
_OWN = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})
_POLICIES = ("LimitRange", "ResourceQuota")


def namespace_needs(store: Store, namespace: str) -> Iterator[ReadRequest]:
    """Yield the read of the namespace, which may not exist, or is being deleted."""
    if namespace and namespace not in _OWN and store.origin.kind != "files":
        yield ReadRequest("Namespace", name=namespace, required=False)


def namespace_refusal(store: Store, ref: ObjectRef, resource: str) -> Refusal | None:
    """Return the answer of the plugin NamespaceLifecycle, before any that looks at resources; None: it passes, or it is
    not known.

    ``resource``: the plural of the object's kind, with its group.
    """
    return no_namespace(store, ref.namespace) or _terminating_refusal(store, ref, resource)


def _terminating_refusal(store: Store, ref: ObjectRef, resource: str) -> Refusal | None:
    """Return the 403 where the namespace is being deleted. Source:
    apiserver/pkg/admission/plugin/namespace/lifecycle.
    """
    space = ref.namespace
    namespace = store.get("Namespace", space)
    if not space or namespace is None or ObjectRef("Namespace", space) in store.files:
        return None
    if namespace.status.phase != "Terminating" and not namespace.metadata.deletion_timestamp:
        return None
    text = f"unable to create new content in namespace {space} because it is being terminated"
    finding = Finding(text, "namespace/terminating", observed=space, expected=namespace.status.held)
    refusal = forbidden_object(resource, ref.name, (finding,))
    cause = StatusCause("metadata.namespace", "NamespaceTerminating", f"namespace {space} is being terminated")
    return structs.replace(refusal, causes=(cause,))


def _has_stored_policy(store: Store, namespace: str) -> bool:
    """Return whether the cluster holds a policy in the namespace, so that the namespace exists."""
    return any(
        ObjectRef(kind, item.metadata.name, namespace) not in store.files
        for kind in _POLICIES
        for item in store.all(kind, namespace)
    )


def no_namespace(store: Store, namespace: str) -> Refusal | None:
    """Return the 404 where the namespace is known not to exist; a Namespace among the files counts as existing.

    Source: apiserver/pkg/admission/plugin/namespace/lifecycle, before any plugin that looks at resources.
    """
    read = next(namespace_needs(store, namespace), None)
    if read is None or not store.covered(read).is_known or store.get("Namespace", namespace) is not None:
        return None
    if _has_stored_policy(store, namespace):
        return None
    text = f'namespaces "{namespace}" not found'
    return Refusal(404, "NotFound", text, (Finding(text, "namespace/not-found", observed=namespace),))


def no_kind(subject: Subject) -> Refusal | None:
    """Return the 404 where the server serves no such kind in that version; None also where that is not known.

    Groups without a dot are Kubernetes' own. Of those, the kinds that make pods are known here with their versions.
    Source: apimachinery meta/errors.go NoKindMatchError, which ends kubectl before anything is sent.
    """
    raw: Any = subject.raw or {}
    kind, version = str(raw.get("kind", "")), str(raw.get("apiVersion", ""))
    known_kind, is_core = BY_KIND.get(kind), "." not in version.rpartition("/")[0]
    if subject.is_served and (
        not version or not is_core or (known_kind is not None and known_kind.api_version == version)
    ):
        return None
    text = f'no matches for kind "{kind}" in version "{version}"'
    return Refusal(404, "NotFound", text, (Finding(text, "kubectl/no-match", observed=version, resource=kind),))


def nearest_kind(kind: str, version: str) -> str:
    """Return the kind and version that the file should have instead, as far as one is known."""
    known_kind = BY_KIND.get(kind)
    if known_kind is not None and known_kind.kind in {*WORKLOADS, "Pod"}:
        return f"write apiVersion: {known_kind.api_version}"
    near = get_close_matches(kind, (*WORKLOADS, "Pod"), 1, 0.8)
    if near:
        return f"write kind: {near[0]} and apiVersion: {BY_KIND[near[0]].api_version}"
    defined = "" if "." not in version.rpartition("/")[0] else ", or install what defines it"
    return f"write a kind that the server has (kubectl api-resources lists them){defined}"


#: How the warning of Pod Security begins, which is given to a workload and to each of its pods.
_POD_SECURITY_WARNS = "would violate PodSecurity "
UNCHECKED = Assumption("request", "file/unchecked", UncheckedFile())


def with_workload_warnings(subject: Subject, options: EvaluationOptions, analysis: Analysis) -> Analysis:
    """Return the analysis with the warnings about the file's workload in place of those about its pod, which only the
    controller gets.
    """
    if subject.ref.kind not in WORKLOADS or any(outcome.code == 400 for outcome in analysis.outcomes):
        return analysis
    from kubectl_kres.admission.request.sent_workload import look_at_workload

    try:
        found = look_at_workload(subject.raw or {}, options.server)
    except Unparsable:
        return analysis
    if found.undecodable is not None:
        return analysis
    outcomes = []
    for outcome in analysis.outcomes:
        of_pod = set(pod_warnings(outcome.draft)) if outcome.draft is not None else set()
        kept = (text for text in outcome.warnings if text not in of_pod and not text.startswith(_POD_SECURITY_WARNS))
        outcomes.append(structs.replace(outcome, warnings=tuple(sorted({*found.warnings, *kept}))))
    return structs.replace(analysis, outcomes=tuple(outcomes))


def check_file(store: Store, subject: Subject, options: EvaluationOptions, analysis: Analysis) -> Analysis:
    """Return the analysis of the pods, or of what refuses the object first, with the pods' outcomes as ``then``."""
    unknown = no_kind(subject)
    if unknown is not None:
        return structs.replace(
            analysis, outcomes=tuple(with_refusal(outcome, unknown) for outcome in analysis.outcomes)
        )
    result = _check_decoding(store, subject, options, analysis)
    nowhere = namespace_refusal(store, subject.ref, subject.kind.qualified_name) if subject.file else None
    if nowhere is None or any(outcome.code == 400 for outcome in result.outcomes):
        return result
    first = tuple(with_refusal(outcome, nowhere) for outcome in result.outcomes)
    return structs.replace(result, outcomes=first, then=result.outcomes + result.then)


def _check_decoding(store: Store, subject: Subject, options: EvaluationOptions, analysis: Analysis) -> Analysis:
    """Return the analysis, or the refusal of an object of an existing kind, whatever its namespace."""
    raw, outcomes = subject.raw or {}, analysis.outcomes
    if any(outcome.code == 400 for outcome in outcomes):
        return structs.replace(
            analysis, outcomes=tuple(_refuse_undecoded(outcome, raw, subject.ref.kind) for outcome in outcomes)
        )
    result = analysis
    if subject.ref.kind != "Pod":
        refused = _undecodable(raw, options.server)
        if refused is not None:
            drawn = structs.replace(refused, draft=outcomes[0].draft)
            return structs.replace(analysis, outcomes=(_of_pod(drawn, analysis.manifest.prefix),))
        result = _of_workload(store, subject, options, with_account(store, subject, analysis))
    unknown = unknown_fields(raw, subject.ref.kind)
    if not unknown:
        return result
    refusal = strict_refusal(raw, subject.ref.kind, unknown)
    first = tuple(with_refusal(outcome, refusal) for outcome in result.outcomes)
    return structs.replace(result, outcomes=first, then=result.outcomes + result.then)


def _refuse_undecoded(outcome: Outcome, raw: Raw, kind: str) -> Outcome:
    """Return the refusal of a workload with a quantity that does not parse: the server does not even store it."""
    refusal = outcome.refusal
    if kind == "Pod" or refusal is None or refusal.code != 400:
        return outcome
    error = refusal.findings[0]
    refused = unparsable(kind, version_of(raw), error.text, error.path, error.observed)
    return structs.replace(outcome, refusal=refused)


def _of_pod(outcome: Outcome, prefix: str) -> Outcome:
    """Return the outcome with the path of a quantity in the template as that of its pod."""
    refusal = outcome.refusal
    if refusal is None or stands_in_object(refusal.findings[0]):
        return outcome
    findings = tuple(structs.replace(finding, path=finding.path.removeprefix(prefix)) for finding in refusal.findings)
    return structs.replace(outcome, refusal=structs.replace(refusal, findings=findings))


def _of_workload(store: Store, subject: Subject, options: EvaluationOptions, analysis: Analysis) -> Analysis:
    from kubectl_kres.admission.request.create import quota_refusals

    raw, pods = subject.raw or {}, analysis.outcomes
    invalid = _invalid(raw, options.server, analysis)
    if invalid is not None:
        drawn = invalid if invalid.draft is not None else structs.replace(invalid, draft=pods[0].draft)
        return structs.replace(analysis, outcomes=(drawn,), undefaulted=invalid.draft is not None)
    if exists(store, subject):
        return analysis
    full = quota_refusals(raw, analysis.policies.policies, options.server)
    if not full:
        return analysis
    outcomes = tuple(
        with_refusal(pod, outcome.refusal, warned=True)
        for outcome in full
        for pod in pods
        if outcome.refusal is not None
    )
    return structs.replace(analysis, outcomes=outcomes, then=(*pods, *analysis.then))


def _undecodable(raw: Raw, server: Server) -> Outcome | None:
    from kubectl_kres.admission.request.policy_answer import undecodable
    from kubectl_kres.admission.request.sent_workload import look_at_workload

    return look_at_workload(raw, server).undecodable if raw.get("kind") in WORKLOADS else undecodable(raw)


def _invalid(raw: Raw, server: Server, analysis: Analysis) -> Outcome | None:
    from kubectl_kres.admission.request.sent_workload import invalid_workload, look_at_workload

    if raw.get("kind") in WORKLOADS:
        return look_at_workload(raw, server).invalid
    path, template = raw_template(raw)
    return invalid_workload(raw, path, template.get("spec") or {}, analysis.manifest.pod, server)


def exists(store: Store, subject: Subject) -> bool:
    """Return whether the cluster has an object of that name, so that sending the file is an update, which no quota
    counts.
    """
    ref = subject.ref
    return is_known(subject.kind) and store.get(ref.kind, ref.name, ref.namespace) is not None


def taken_as_new(store: Store, subject: Subject, outcomes: Sequence[Outcome]) -> Iterator[Assumption]:
    """Yield the assumption that the object is new, since it could not be read, where a quota refuses one more of its
    kind.
    """
    ref, first = subject.ref, outcomes[0].refusal
    if first is None or first.code != 403 or first.message.startswith(("pods ", "persistentvolumeclaims ")):
        return
    if not store.covered(ReadRequest(ref.kind, ref.namespace, ref.name)).is_known:
        yield Assumption("request", "file/taken-as-new", TakenAsNew(str(ref)))


def existing(store: Store, subject: Subject) -> Iterator[Assumption]:
    """Yield the assumption for an object whose name exists already, so that it cannot be created."""
    if not subject.file or store.origin.kind == "files" or not exists(store, subject):
        return
    yield Assumption("request", "file/exists", ExistsAlready(str(subject.ref), subject.kind.qualified_name))


def refuse_unknown_fields(raw: Raw, outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
    """Return the answers to an object that makes no pods, as kubectl sends it."""
    kind = str(raw.get("kind", ""))
    unknown = unknown_fields(raw, kind)
    if not unknown or any(outcome.code == 400 for outcome in outcomes):
        return tuple(outcomes)
    refusal = strict_refusal(raw, kind, unknown)
    return tuple(with_refusal(outcome, refusal) for outcome in outcomes)


def stands_in_object(finding: Finding) -> bool:
    """Return whether an undecodable path starts at the object of the file, not at its pod."""
    whole = finding.rule in {"kubectl/unknown-field", "decoding/type"}
    return whole or finding.path.startswith("spec.volumeClaimTemplates[")
