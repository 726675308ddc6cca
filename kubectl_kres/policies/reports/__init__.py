"""Registration of the other admission plugins with reports: policies, webhooks, Pod Security, service accounts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any
from weakref import ref

from msgspec import structs

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.model.admission_objects import ENFORCE, MIRROR, POD_SECURITY, WEBHOOKS
from kubectl_kres.model.objects import Raw
from kubectl_kres.model.pod import Pod
from kubectl_kres.policies.reports.needs import (
    DECIDING,
    ELSEWHERE,
    POLICIES,
    deciding_needs,
    parameter_needs,
    policy_admission_needs,
)
from kubectl_kres.provenance.journal import Assumption
from kubectl_kres.record import Wording
from kubectl_kres.reports.common import system
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.effective_policies import ExtendedPolicies
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.store.store import ReadRequest, Store

#: Rules that refuse here.
REFUSING = (
    "pod-security/violated", "policy/denied", "policy/error", "policy/mutation-failed", "policy/no-answer",
    "service-account/missing", "service-account/mirror", "service-account/secret",
)  # fmt: skip


def _reads(store: Store, question: system.Question) -> Iterable[ReadRequest] | None:
    if isinstance(question, system.AboutPod) and question.new:
        return policy_admission_needs(store, question.namespace, question.spec)
    return _reads_of_configuration(store) if isinstance(question, system.AboutConfiguration) else None


def _reads_of_configuration(store: Store) -> Iterator[ReadRequest]:
    """Return what decides in all namespaces, and the parameters for those whose names were read."""
    yield from deciding_needs(store)
    for space in store.all("Namespace"):
        yield from parameter_needs(store, space.metadata.name)


def _extend(store: Store, namespace: str, policies: Policies) -> ExtendedPolicies:
    """With what asks policies about objects that controllers make, where there are any."""
    if not any(any(True for _ in store.all(kind)) for kind in POLICIES):
        return ExtendedPolicies(policies)
    from kubectl_kres.policies.reports.apply import review_made

    return ExtendedPolicies(structs.replace(policies, reviewer=partial(review_made, ref(store), namespace)))


def _apply(
    store: Store, subject: Subject, options: EvaluationOptions, analysis: Analysis, target: system.Target
) -> Analysis:
    """The analysis of a pod that exists as it is: it was admitted."""
    exempt = analysis.manifest.live is not None if target == "pod" else subject.ref.kind == "Pod"
    if exempt or not _may_decide(store, subject.ref.namespace, analysis.manifest.pod):
        return analysis
    from kubectl_kres.policies.reports import apply

    decide = apply.apply_policies if target == "pod" else apply.apply_policies_to_object
    return decide(store, subject, options, analysis)


def _assumed(store: Store, namespace: str, raw: Raw, server: Server) -> Iterable[Assumption]:
    if not any(any(True for _ in store.all(kind)) for kind in WEBHOOKS):
        return ()
    from kubectl_kres.policies.reports.apply import asked_webhooks

    return asked_webhooks(store, namespace, raw, server)


def _remedies(store: Store, subject: Subject, analysis: Analysis) -> tuple[Remedy, ...]:
    if analysis.made_pod is not None:
        return ()
    from kubectl_kres.policies.reports.remedy import security_patch
    from kubectl_kres.policies.reports.stated_values import stated_values

    patch = security_patch(store, subject, analysis) or stated_values(store, subject, analysis)
    return () if patch is None else (patch,)


def _sentence(case: Any) -> Iterator[Wording]:
    from kubectl_kres.policies.reports.remedy import POLICING_REMEDIES

    return POLICING_REMEDIES[case.finding.rule](case)


def _may_decide(store: Store, namespace: str, pod: Pod) -> bool:
    """Return whether anything else may decide about a pod of the namespace; cheap, and True where it may be so."""
    space = store.get("Namespace", namespace)
    if space is not None:
        labels = space.metadata.labels or {}
        if space.metadata.deletion_timestamp or any(key.startswith(POD_SECURITY) for key in labels):
            return True
    if any(any(True for _ in store.all(kind)) for kind in DECIDING):
        return True
    return _account_decides(store, namespace, pod)


def _account_decides(store: Store, namespace: str, pod: Pod) -> bool:
    """Return whether the pod's service account may refuse it: one that is there does so for secrets that it does not
    list.
    """
    # The pod of a file does not say the name here: then it is looked at in the object as sent.
    name = getattr(pod.spec, "service_account_name", None)
    account = store.get("ServiceAccount", name or "default", namespace) if name is not None else None
    if account is not None:
        return ENFORCE in (account.metadata.annotations or {}) or MIRROR in (pod.metadata.annotations or {})
    return any(read.namespace in {"", namespace} for read in store.reads_of_kind("ServiceAccount"))


SYSTEM = system.System(
    "policing",
    answers=dict.fromkeys(POLICIES, system.KindAnswers("policing", on_screen=False)),
    kinds={"in-lists": DECIDING, "decides": DECIDING, "if-refused": ELSEWHERE, "policies": tuple(POLICIES)},
    rights={
        "pods": (
            *(
                system.ReadRight(kind, ("list",), "which webhooks and policies also decide")
                for kind in sorted(DECIDING)
            ),
            system.ReadRight("ServiceAccount", ("get",), "whether a pod's service account is there"),
        )
    },
    sentences=dict.fromkeys(REFUSING, _sentence),
    reads=_reads,
    remedies=_remedies,
    admission=system.Admitter(extend=_extend, apply=_apply, assumed=_assumed),
)
