"""What the vertical autoscaler registers with the answers about pods, quotas and namespaces."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.provenance.journal import Source
from kubectl_kres.reports.common import system
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.effective_policies import ExtendedPolicies
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.vpa.model import BUDGET, GROUP, HOOKS, KIND, WEBHOOK


def reads(store: Store, question: system.Question) -> Iterable[ReadRequest] | None:
    """Of a cluster only where its webhook was seen, or where webhooks may not be read."""
    if not isinstance(question, system.AboutPolicies):
        return None
    if store.origin.kind == "cluster" and not may_be_installed(store):
        return None
    if store.origin.kind != "cluster" and not any(store.reads_of_kind(KIND)):
        return None
    return (ReadRequest(KIND, question.namespace, required=False),)


def _extend(store: Store, namespace: str, policies: Policies) -> ExtendedPolicies:
    if not any(True for _ in store.all(KIND, namespace)):
        is_known = store.covered(ReadRequest(KIND, namespace)).is_known
        return ExtendedPolicies(policies, computed=frozenset({WEBHOOK} if is_known else ()))
    from kubectl_kres.vpa.reports.registered_webhook import extended

    return ExtendedPolicies(*extended(store, namespace, policies), frozenset({WEBHOOK}))


def _apply(
    store: Store, subject: Subject, options: EvaluationOptions, analysis: Analysis, target: system.Target
) -> Analysis:
    del options
    if (
        target != "pod"
        or analysis.made_pod is not None
        or not any(True for _ in store.all(KIND, subject.ref.namespace))
    ):
        return analysis
    from kubectl_kres.vpa.reports.registered_webhook import with_remarks

    return with_remarks(store, subject, analysis)


def _remedies(store: Store, subject: Subject, analysis: Analysis) -> tuple[Remedy, ...]:
    if analysis.made_pod is not None or not any(True for _ in store.all(KIND, subject.ref.namespace)):
        return ()
    from kubectl_kres.vpa.reports.remedies import pod_remedies

    return pod_remedies(store, subject, analysis)


def _cap_request(store: Store, source: Source, container: str, resource: str, amount: str) -> system.RequestCap | None:
    vpa = store.get(KIND, source.name, source.namespace) if source.kind == KIND else None
    if vpa is None:
        return None
    from kubectl_kres.vpa.reports.remedies import cap_request

    return cap_request(store, vpa, container, resource, amount)


def may_be_installed(store: Store) -> bool:
    """Return whether the webhook is registered, or whether that could not be read."""
    if any(hook.name == WEBHOOK for item in store.all(HOOKS) for hook in item.webhooks or ()):
        return True
    return store.covered(ReadRequest(HOOKS)).state in {"denied", "failed"}


SYSTEM = system.System(
    "vpa",
    GROUP,
    answers={KIND: system.KindAnswers("vpa")},
    kinds={"policies": (KIND, HOOKS), "in-lists": (KIND,), "if-refused": (KIND,), "decides": (KIND,)},
    rights={
        "pods": (system.ReadRight(KIND, ("list",), "what vertical autoscalers write into new pods"),),
        "explain": (
            system.ReadRight(KIND, ("get", "list"), "what a vertical autoscaler does"),
            system.ReadRight(BUDGET, ("list",), "which pods disruption budgets keep from a vertical autoscaler"),
        ),
        "simulate": (
            system.ReadRight(BUDGET, ("list",), "which pods disruption budgets keep from a vertical autoscaler"),
        ),
    },
    reads=reads,
    cap_request=_cap_request,
    remedies=_remedies,
    admission=system.Admitter(extend=_extend, apply=_apply),
)
