"""What admission plugins beside LimitRanges and quotas register: policies, webhooks, Pod Security, service accounts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kubectl_kres.model.pod import PodSpec
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.subject import Ask, Subject
from kubectl_kres.reports.common.system import KindAnswers, Right, Sentences, System
from kubectl_kres.reports.policing.needs import (
    DECIDING,
    ELSEWHERE,
    POLICIES,
    deciding_needs,
    parameter_needs,
    policing_needs,
)
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store

_LABELS = "pod-security.kubernetes.io/"


class Policing(System):
    """What else admits."""

    name = "policing"
    answers: Mapping[str, KindAnswers] = dict.fromkeys(POLICIES, KindAnswers("policing", on_screen=False))
    beside_lists = deciding = DECIDING
    said_if_refused = ELSEWHERE
    rights: Mapping[str, tuple[Right, ...]] = {
        "pods": (
            *(Right(kind, ("list",), "which webhooks and policies also decide") for kind in sorted(DECIDING)),
            Right("ServiceAccount", ("get",), "whether a pod's service account is there"),
        )
    }

    def remedies(self) -> Mapping[str, Sentences]:
        from kubectl_kres.reports.policing.remedy import POLICING_REMEDIES

        return POLICING_REMEDIES

    def needs_beside(self, store: Store, namespace: str, spec: PodSpec | None, *, new: bool) -> Iterable[Need]:
        """Nothing for a pod that exists: it was admitted."""
        return policing_needs(store, namespace, spec) if new else ()

    def configuration_needs(self, store: Store) -> Iterable[Need]:
        """What decides in all namespaces, and the parameters for those whose names were read."""
        yield from deciding_needs(store)
        for space in store.all("Namespace"):
            yield from parameter_needs(store, space.metadata.name)

    def judged(self, store: Store, subject: Subject, ask: Ask, analysis: Analysis) -> Analysis:
        """The analysis of the next pod with what else admits; that of a pod that exists as it is."""
        if analysis.start.live is not None or not _decides(store, subject.ref.namespace):
            return analysis
        from kubectl_kres.reports.policing import judged

        return judged.policed(store, subject, ask, analysis)

    def judged_object(self, store: Store, subject: Subject, ask: Ask, analysis: Analysis) -> Analysis:
        """The same for the workload of a file itself."""
        if subject.ref.kind == "Pod" or not _decides(store, subject.ref.namespace):
            return analysis
        from kubectl_kres.reports.policing import judged

        return judged.policed_object(store, subject, ask, analysis)


def _decides(store: Store, namespace: str) -> bool:
    """Whether anything else may decide about pods of the namespace; cheap, and True where it may be so."""
    space = store.get("Namespace", namespace)
    if space is not None:
        labels = space.metadata.labels or {}
        if space.metadata.deletion_timestamp or any(key.startswith(_LABELS) for key in labels):
            return True
    if any(any(True for _ in store.all(kind)) for kind in DECIDING):
        return True
    return any(need.namespace == namespace for need in store.asked("ServiceAccount"))


SYSTEM = Policing()
