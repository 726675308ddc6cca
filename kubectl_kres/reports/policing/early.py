"""Whether anything else decides about pods of a namespace: what computes it is only loaded then."""

from __future__ import annotations

from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.subject import Ask, Subject
from kubectl_kres.reports.policing.needs import DECIDING
from kubectl_kres.store.store import Store

_LABELS = "pod-security.kubernetes.io/"


def decides(store: Store, namespace: str) -> bool:
    """Cheap, and True where it may be so."""
    space = store.get("Namespace", namespace)
    if space is not None:
        labels = space.metadata.labels or {}
        if space.metadata.deletion_timestamp or any(key.startswith(_LABELS) for key in labels):
            return True
    if any(any(True for _ in store.all(kind)) for kind in DECIDING):
        return True
    return any(need.kind == "ServiceAccount" and need.namespace == namespace for need in store.needs())


def policed(store: Store, subject: Subject, ask: Ask, analysis: Analysis) -> Analysis:
    """The analysis of the next pod with what else admits; that of a pod that exists as it is."""
    if analysis.start.live is not None or not decides(store, subject.ref.namespace):
        return analysis
    from kubectl_kres.reports.policing import judged  # noqa: PLC0415, only what is needed is loaded

    return judged.policed(store, subject, ask, analysis)


def policed_object(store: Store, subject: Subject, ask: Ask, analysis: Analysis) -> Analysis:
    """The same for the workload of a file itself."""
    if subject.ref.kind == "Pod" or not decides(store, subject.ref.namespace):
        return analysis
    from kubectl_kres.reports.policing import judged  # noqa: PLC0415, only what is needed is loaded

    return judged.policed_object(store, subject, ask, analysis)
