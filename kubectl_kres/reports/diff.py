"""What admission changes: written against stored, or a live pod against what it would get today."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kubectl_kres.admission import qos
from kubectl_kres.admission.outcome import Outcome
from kubectl_kres.admission.pods import admit, stored_pod
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.provenance.journal import Derive, Set, Source
from kubectl_kres.reports.alike import signature
from kubectl_kres.reports.explain import Analysis, analyse, analysis_of, explained, stores
from kubectl_kres.reports.explanation import Explanation, Unseen, Value, Verdict
from kubectl_kres.reports.policies import Known, policies
from kubectl_kres.reports.pruned import as_written, values_of
from kubectl_kres.reports.record import Record
from kubectl_kres.reports.remedies.model import Remedy
from kubectl_kres.reports.start import Start, start_of_live
from kubectl_kres.reports.subject import Ask, Subject
from kubectl_kres.reports.tekton.taskrun import run_behind
from kubectl_kres.store.store import Store


class Reason(Record, frozen=True):
    """Why one line of the diff changed: a rule, the object and field behind it, or a note on a live value."""

    rule: str = ""
    source: Source | None = None
    note: str = ""


class Difference(Record, frozen=True):
    """Two states of a pod, pruned to what resources depend on, and why they differ, by path.

    ``before_label`` is WRITTEN or LIVE, ``after_label`` STORED or TODAY. ``changed``: they differ, or the pod would be
    refused (``verdict``), in which case ``after`` is as far as admission came; of a claim or a service both are empty.
    """

    subject: ObjectRef
    before_label: str
    after_label: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    reasons: Mapping[str, Reason]
    verdict: Verdict
    changed: bool
    remedies: tuple[Remedy, ...] = ()
    unseen: tuple[Unseen, ...] = ()
    certain: bool = True
    complete: bool = True


def diff(store: Store, subject: Subject, ask: Ask) -> Difference:
    """Raises what ``explain`` raises."""
    return _compared(store, subject, analysis_of(store, subject, ask), ask)


def differences(store: Store, pods: Iterable[Pod], ask: Ask) -> Iterator[Difference | None]:
    """One answer per live pod: None where nothing differs. Policies are parsed once per namespace.

    Pods that were made alike and live alike, as those of a workload do, are looked at once.
    """
    same: dict[tuple[str, bytes, bytes], bool] = {}
    for pod in pods:
        namespace = pod.metadata.namespace
        named = Subject(ObjectRef("Pod", pod.metadata.name, namespace), BY_KIND["Pod"])
        if run_behind(store, named) is not None:
            found = diff(store, named, ask)
            yield found if found.changed else None
            continue
        start, known = start_of_live(store, pod), policies(store, namespace, ask.server)
        key = (namespace, *signature(start, pod))
        if key not in same:
            same[key] = unchanged(start, known, ask)
        if same[key]:
            yield None
        else:
            yield _compared(store, named, analyse(start, known, ask), ask)


def unchanged(start: Start, known: Known, ask: Ask) -> bool:
    """Whether admission stores what the live pod has, in one of its outcomes, and never refuses: without a journal."""
    live = start.live
    if live is None:
        return False
    outcomes = admit(start.pod, known.policies, ask.server, journal=False, counted=True)
    return all(outcome.allowed for outcome in outcomes) and any(stores(outcome, live) for outcome in outcomes)


def _compared(store: Store, subject: Subject, analysis: Analysis, ask: Ask) -> Difference:
    explanation = explained(store, subject, ask, analysis)
    start, first = analysis.start, analysis.outcomes[0]
    before = _document(as_written(start.live if start.live is not None else start.pod), subject.ref)
    after = _document(_after(start, first), subject.ref)
    if start.live is not None:
        _drop_incidental(before, after, known=analysis.known)
        _align(before, after)
    changed = _essential(before) != _essential(after) if start.live is None else values_of(before) != values_of(after)
    return Difference(
        subject.ref,
        "LIVE" if start.live is not None else "WRITTEN",
        "TODAY" if start.live is not None else "STORED",
        before,
        after,
        _reasons(explanation, first, before),
        explanation.verdict,
        changed or explanation.verdict.allowed is not True,
        explanation.remedies,
        explanation.unseen,
        explanation.certain,
        explanation.complete,
    )


def _essential(document: Mapping[str, Any]) -> dict[str, Any]:
    """What makes a written pod differ: not the class that every stored pod has, nor a default priority."""
    spec = {key: value for key, value in document["spec"].items() if key != "priorityClassName"}
    return {"metadata": document["metadata"], "spec": spec}


def _document(pod: Mapping[str, Any], ref: ObjectRef) -> dict[str, Any]:
    metadata = {**pod["metadata"], "namespace": ref.namespace}
    return {"apiVersion": "v1", "kind": "Pod", **pod, "metadata": metadata}


def _after(start: Start, first: Outcome) -> dict[str, Any]:
    """What would be stored; for a refused pod what admission had come to; as written if it does not even decode."""
    if first.object is not None:
        return dict(first.object)
    if first.draft is None:
        return as_written(start.pod)
    reached = stored_pod(start.pod, first.draft, qos.class_of(first.draft))
    reached["metadata"].pop("annotations", None)
    del reached["status"]
    return reached


def _drop_incidental(before: dict[str, Any], after: dict[str, Any], known: Known) -> None:
    """Take out what says nothing about the live pod's resources: the annotation, classes that were not read, and a
    default class, which is only looked up where a quota counts by it.
    """
    classless = known.policies.priorities is None or "priorityClassName" not in after["spec"]
    for document in (before, after):
        document["metadata"] = {key: value for key, value in document["metadata"].items() if key != "annotations"}
        if classless:
            document["spec"].pop("priorityClassName", None)
        if known.policies.runtimes is None:
            document["spec"].pop("overhead", None)


def _align(before: dict[str, Any], after: dict[str, Any]) -> None:
    """Put the live containers into the order of today's; those that were injected come last."""
    spec = dict(before["spec"])
    for key in ("containers", "initContainers"):
        wanted = [one["name"] for one in after["spec"].get(key) or ()]
        held = {one["name"]: one for one in spec.get(key) or ()}
        if held:
            spec[key] = [held[name] for name in dict.fromkeys((*wanted, *held)) if name in held]
    before["spec"] = spec


def _reason(value: Value) -> Reason:
    """What set the value; for a written one what changed its notation."""
    rewritten = value.rule == "manifest/written" and bool(value.steps)
    return Reason("quantity/canonical" if rewritten else value.rule, value.source, value.note)


def _reasons(explanation: Explanation, first: Outcome, before: Mapping[str, Any]) -> dict[str, Reason]:
    """By path: what set each value, or why the live one differs; annotation, overhead and class by their entries.

    A container that was injected has its reason at its name.
    """
    reasons = {
        value.path: _reason(value) for one in explanation.containers for value in one.values if value.rule or value.note
    }
    reasons.update(
        {
            entry.path: Reason(entry.rule, entry.source)
            for entry in first.journal
            if isinstance(entry, (Set, Derive))
            and entry.path.startswith(("metadata", "status", "spec.overhead", "spec.p"))
        }
    )
    injected = {one.name: Reason(note=one.note) for one in explanation.containers if one.note}
    names = {
        f"spec.{key}[{index}].name": one["name"]
        for key in ("containers", "initContainers")
        for index, one in enumerate(before["spec"].get(key) or ())
    }
    return {**reasons, **{path: injected[name] for path, name in names.items() if name in injected}}
