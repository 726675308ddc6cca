"""What Kueue registers with the answers: its kinds, what is read for what waits, and why it waits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kubectl_kres.kueue import model
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef, mapping
from kubectl_kres.model.workload_kinds import POD_MAKERS
from kubectl_kres.reports.common import system
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import RunState, Subject
from kubectl_kres.store.store import ReadRequest, Store

_KINDS = tuple(kind.kind for kind in model.KINDS)


def _is_queued(store: Store, subject: Subject) -> bool:
    """Return whether a queue stands on an object, or a gate of Kueue: all others are none of its."""
    if subject.kind.group == model.GROUP:
        return False
    if subject.raw is not None:
        template = mapping(mapping(subject.raw, "spec"), "jobTemplate")
        labels = [mapping(mapping(raw, "metadata"), "labels") for raw in (subject.raw, template)]
        return any(model.QUEUE_LABEL in each for each in labels) or _is_run_queued(store, subject)
    item: Any = store.get(subject.ref.kind, subject.ref.name, subject.ref.namespace)
    return item is not None and (model.is_gated(item) or model.QUEUE_LABEL in (item.metadata.labels or {}))


def _is_run_queued(store: Store, subject: Subject) -> bool:
    """Return whether tekton-kueue names a queue on a new run, whatever stands on it."""
    if subject.ref.kind != "PipelineRun":
        return False
    from kubectl_kres.kueue.stored import is_run_queued

    return is_run_queued(store, subject.ref.kind, subject.ref.namespace)


def _reads(store: Store, question: system.Question) -> Iterable[ReadRequest] | None:
    if isinstance(question, system.AboutHeld):
        if not _is_queued(store, question.subject):
            return None
        from kubectl_kres.kueue.reports.needs import held_needs

        return held_needs(store, question.subject, listed=question.listed)
    if isinstance(question, system.AboutRefused):
        return _namespace_needs(store, question.namespace)
    return None


def _namespace_needs(store: Store, namespace: str) -> Iterator[ReadRequest]:
    """Yield what is read for all that waits in a namespace, empty: in any, where a queue stands on some object."""
    kinds = (*POD_MAKERS, "PipelineRun")

    def is_some_queued() -> bool:
        items = (item for kind in kinds for item in store.all(kind, namespace or None))
        return any(model.QUEUE_LABEL in (item.metadata.labels or {}) for item in items)

    # Asked again after each change of a store, however large: most changes are of pods.
    if not store.memo(("kueue some queued", namespace), kinds, None, is_some_queued):
        return
    first = ReadRequest(model.WORKLOAD, namespace, required=False)
    yield first
    if store.covered(first).state == "absent":
        return
    yield ReadRequest(model.LOCAL_QUEUE, namespace, required=False)
    for kind in (model.CLUSTER_QUEUE, model.FLAVOR, model.COHORT, model.CHECK):
        yield ReadRequest(kind, required=False)


def _state(store: Store, kind: str, item: Any, state: RunState) -> RunState | None:
    ref = ObjectRef(kind, item.metadata.name, item.metadata.namespace)
    if kind not in BY_KIND or not _is_queued(store, Subject(ref, BY_KIND[kind])):
        return None
    from kubectl_kres.kueue.reports.turn import held_state

    return held_state(store, ref, state)


def _turn(store: Store, subject: Subject, analysis: Analysis | None) -> system.Turn | None:
    if not _is_queued(store, subject):
        return None
    from kubectl_kres.kueue.reports.turn import turn

    return turn(store, subject, analysis)


SYSTEM = system.System(
    "kueue",
    model.GROUP,
    answers={
        model.WORKLOAD: system.KindAnswers("kueue"),
        model.LOCAL_QUEUE: system.KindAnswers("kueue"),
        model.CLUSTER_QUEUE: system.KindAnswers("kueue"),
    },
    kinds={"in-lists": _KINDS, "if-refused": _KINDS},
    rights={
        "pods": (
            system.ReadRight(model.WORKLOAD, ("list",), "why something waits in a queue of Kueue"),
            system.ReadRight(model.LOCAL_QUEUE, ("list",), "which queues of Kueue a namespace has"),
            *(
                system.ReadRight(kind, ("list",), "what a queue of Kueue has left, and who else stands in it")
                for kind in (model.CLUSTER_QUEUE, model.FLAVOR, model.COHORT, model.CHECK, model.PRIORITY)
            ),
        ),
        "explain": (
            system.ReadRight(model.WORKLOAD, ("get", "list"), "why something waits in a queue of Kueue"),
            *(
                system.ReadRight(kind, ("get", "list"), "what stands in a queue of Kueue")
                for kind in (model.LOCAL_QUEUE, model.CLUSTER_QUEUE)
            ),
        ),
    },
    reads=_reads,
    holds=system.TurnKeeper(_state, _turn),
)
