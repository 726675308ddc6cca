"""A bare Pod of a file that the cluster has already: applying the file is an update, which costs no quota."""

# ruff: noqa: PLC0415 - only a pod that a file changes needs it
from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.model.objects import Raw, decode_object, to_wire
from kubectl_kres.model.pod import Pod
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.store.store import Store


def stored_pod_of(store: Store, subject: Subject) -> Pod | None:
    """Return the pod that a file would change; None where there is none, or it is on its way out."""
    if subject.raw is None or not subject.file or subject.ref.kind != "Pod":
        return None
    pod = store.read("Pod", subject.ref.name, subject.ref.namespace)
    return pod if isinstance(pod, Pod) and pod.metadata.deletion_timestamp is None else None


def as_update(analysis: Analysis, raw: Raw, stored: Pod) -> Analysis:
    """Return the analysis with the answers to an update, as far as the fields of pods are read here."""
    from kubectl_kres.admission.request.update import update
    from kubectl_kres.simulate.change import strategic_merge

    old = {**to_wire(stored), "apiVersion": "v1", "kind": "Pod"}
    sent = {**to_wire(decode_object(raw, type(stored))), "apiVersion": "v1", "kind": "Pod"}
    new = strategic_merge(old, {key: value for key, value in sent.items() if key != "status"})
    answers = update(old, new, analysis.policies.policies, analysis.server)
    drawn: Sequence[Outcome] = analysis.outcomes
    return structs.replace(
        analysis, outcomes=tuple(structs.replace(answer, draft=answer.draft or drawn[0].draft) for answer in answers)
    )
