"""What the vertical autoscaler registers with the answers about pods, quotas and namespaces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kubectl_kres.provenance.journal import Assume
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.common.system import KindAnswers, Right, System
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.vpa.model import GROUP, KIND

#: The name that its admission controller, and its chart, give the webhook.
WEBHOOK = "vpa.k8s.io"
_HOOKS = "MutatingWebhookConfiguration"


class VerticalAutoscaling(System):
    """Autoscalers that write requests and limits into new pods."""

    name = "vpa"
    group = GROUP
    answers: Mapping[str, KindAnswers] = {KIND: KindAnswers("vpa", on_screen=False)}
    policy_kinds = (KIND, _HOOKS)
    beside_lists = frozenset({KIND})
    said_if_refused = frozenset({KIND})
    deciding = frozenset({KIND})
    rights: Mapping[str, tuple[Right, ...]] = {
        "pods": (Right(KIND, ("list",), "what vertical autoscalers write into new pods"),),
        "explain": (Right(KIND, ("get", "list"), "what a vertical autoscaler does"),),
    }

    def policy_needs(self, store: Store, namespace: str) -> Iterable[ReadRequest]:
        """Of a cluster only where its webhook was seen, or where webhooks may not be read."""
        if store.origin.kind == "cluster" and not may_be_installed(store):
            return ()
        if store.origin.kind != "cluster" and not any(store.asked(KIND)):
            return ()
        return (ReadRequest(KIND, namespace, required=False),)

    def computed_webhooks(self, store: Store, namespace: str) -> frozenset[str]:
        known = store.covered(ReadRequest(KIND, namespace)).known or any(True for _ in store.all(KIND, namespace))
        return frozenset({WEBHOOK}) if known else frozenset()

    def extend_policies(self, store: Store, namespace: str, policies: Any) -> tuple[Any, tuple[Assume, ...]]:
        if not any(True for _ in store.all(KIND, namespace)):
            return policies, ()
        from kubectl_kres.vpa.reports.installed import extended

        return extended(store, namespace, policies)

    def apply_to_pod(self, store: Store, subject: Subject, ask: EvaluationOptions, analysis: Analysis) -> Analysis:
        if analysis.system or not any(True for _ in store.all(KIND, subject.ref.namespace)):
            return analysis
        from kubectl_kres.vpa.reports.installed import with_remarks

        return with_remarks(store, subject, analysis)


def may_be_installed(store: Store) -> bool:
    """Return whether the webhook is registered, or whether that could not be read."""
    if any(hook.name == WEBHOOK for item in store.all(_HOOKS) for hook in item.webhooks or ()):
        return True
    return store.covered(ReadRequest(_HOOKS)).state in {"denied", "failed"}


SYSTEM = VerticalAutoscaling()
