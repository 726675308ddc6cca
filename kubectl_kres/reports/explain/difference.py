"""The difference that admission makes: written against stored, or a live pod against what it would get today."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import Any, TypeGuard

import msgspec
from msgspec import structs

from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.pod import aggregate as qos
from kubectl_kres.admission.request.new_pod import stored_pod
from kubectl_kres.model.content_key import content_key
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ManagedMetadata, ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload import Workload
from kubectl_kres.provenance.journal import Derive, Set, Source
from kubectl_kres.record import Record, Wording
from kubectl_kres.reports.common.analysis import PodManifest
from kubectl_kres.reports.common.answer_cache import AnswerCache
from kubectl_kres.reports.common.effective_policies import NamespacePolicies, policies
from kubectl_kres.reports.common.explanation import EvaluationOptions, FailedRead, ResourceValue, Subject, Verdict
from kubectl_kres.reports.common.owners import controller
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.reports.common.system import object_behind
from kubectl_kres.reports.explain import explain
from kubectl_kres.reports.pod import events
from kubectl_kres.reports.pod.live_differences import is_edited, is_evidence
from kubectl_kres.reports.pod.manifest_source import Maker, find_live_manifest, find_maker
from kubectl_kres.reports.pod.resource_view import instance_key, signature, values_of, written_pod
from kubectl_kres.reports.pod.verdict import is_negative
from kubectl_kres.store.store import Store


class Reason(Record, frozen=True):
    """Why one line of the diff changed: a rule, the object and field behind it, or a note on a live value.

    ``others``: what other orders of LimitRanges set instead.
    """

    rule: str = ""
    source: Source | None = None
    note: Wording = ""
    others: tuple[str, ...] = ()


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
    fixes: tuple[Remedy, ...] = ()
    unread: tuple[FailedRead, ...] = ()
    certain: bool = True
    complete: bool = True


def diff(store: Store, subject: Subject, options: EvaluationOptions) -> Difference:
    """Return the difference of a pod. Raises what ``explain`` raises."""
    return _build_difference(store, subject, explain.analysis_of(store, subject, options))


class Differences:
    """A cache of differences for many live pods. Those with the same origin and values, as pods of a workload, are
    compared once. Those that were made alike and live alike, as those of a workload do, are looked at once.

    ``pattern``: the first answer that the last one is equal to but for the pod's name; None: there is none.
    """

    def __init__(self, store: Store, options: EvaluationOptions) -> None:
        self._store, self._options = store, options
        self._unchanged = AnswerCache[tuple[Any, ...], tuple[Maker | None, NamespacePolicies, bool]]()
        self._answers = AnswerCache[tuple[Any, ...], tuple[Maker | None, NamespacePolicies, Difference]]()
        #: By namespace when its policies were edited, and the revisions that this is of.
        self._times: dict[str, tuple[tuple[int, ...], frozenset[str]]] = {}
        #: Namespaces whose last pod differed: the next one likely does, too, and its journal is wanted.
        self._differing_namespaces: set[str] = set()
        self.pattern: Difference | None = None

    def differs(self, pod: Pod) -> bool:
        """Return whether the pod would get other values today, or would be refused: without saying why."""
        namespace = pod.metadata.namespace
        named = Subject(ObjectRef("Pod", pod.metadata.name, namespace), BY_KIND["Pod"])
        if object_behind(self._store, named) is not None:
            return diff(self._store, named, self._options).changed
        return not self._compare_admission(
            _Live(self._store, pod), policies(self._store, namespace, self._options.server)
        )[0]

    def difference_of(self, pod: Pod) -> Difference | None:
        """Return the difference of a pod; None where there is none. Raises what ``explain`` raises."""
        self.pattern = None
        namespace = pod.metadata.namespace
        named = Subject(ObjectRef("Pod", pod.metadata.name, namespace), BY_KIND["Pod"])
        if object_behind(self._store, named) is not None:
            difference = diff(self._store, named, self._options)
            return difference if difference.changed else None
        live, namespace_policies = _Live(self._store, pod), policies(self._store, namespace, self._options.server)
        same, analysis = self._compare_admission(
            live, namespace_policies, journal=namespace in self._differing_namespaces
        )
        if same:
            self._differing_namespaces.discard(namespace)
            return None
        self._differing_namespaces.add(namespace)
        key = self._alike_key(live)
        result = self._answers.get(key) if key is not None else None
        if result is not None and result[0] is live.maker and result[1] is namespace_policies:
            self.pattern = result[2]
            return rename_subject(result[2], pod.metadata.name)
        difference = _build_difference(
            self._store, named, analysis or explain.analyse(live.live_source, namespace_policies, self._options)
        )
        if key is not None and _differs_by_name_only(difference):
            self._answers.store_answer(key, (live.maker, namespace_policies, difference))
            self.pattern = difference
        return difference

    def _compare_admission(
        self, live: _Live, policies: NamespacePolicies, *, journal: bool = False
    ) -> tuple[bool, explain.Analysis | None]:
        """Return whether admission stores what the live pod has, in one of its outcomes, and never refuses.

        With it the analysis, where the pod had to be evaluated and its ``journal`` is wanted.
        """
        last = self._unchanged.get(live.key)
        if last is not None and last[0] is live.maker and last[1] is policies:
            return last[2], None
        analysis = explain.analyse(live.live_source, policies, self._options, journal=journal)
        outcomes = analysis.outcomes
        same = all(outcome.allowed for outcome in outcomes) and any(
            explain.matches_live_pod(outcome, live.pod) for outcome in outcomes
        )
        self._unchanged.store_answer(live.key, (live.maker, policies, same))
        return same, analysis if journal else None

    def _alike_key(self, live: _Live) -> tuple[Any, ...] | None:
        """Return all that an answer about a pod depends on but for its name; None for a pod that is unlike any
        other.
        """
        pod = live.pod
        if is_edited(pod) or any(events.pod_facts(pod)) or not controller(pod)[0]:
            return None
        metadata, spec = pod.metadata, pod.spec
        marks = tuple(item for item in sorted((metadata.annotations or {}).items()) if is_evidence(item[0]))
        # Whoever was edited after the pod was created may be why it differs.
        created = metadata.creation_timestamp or ""
        later = tuple(time for time in self._edit_times(live) if time > created)
        result = (spec.overhead, spec.priority_class_name, pod.status.qos_class, pod.status.phase)
        return *live.key, *controller(pod), content_key(result), marks, later

    def _edit_times(self, live: _Live) -> tuple[str, ...]:
        """Return when the policies of the pod's namespace, and the workload that made it, were edited, in order."""
        namespace = live.pod.metadata.namespace
        revision = self._store.revision("LimitRange", "ResourceQuota")
        last = self._times.get(namespace)
        if last is None or last[0] != revision:
            policies_ = chain.from_iterable(
                self._store.all(kind, namespace) for kind in ("LimitRange", "ResourceQuota")
            )
            last = self._times[namespace] = revision, frozenset(chain.from_iterable(map(_times, policies_)))
        own_times = _times(live.maker) if isinstance(live.maker, Workload) else ()
        return tuple(sorted(last[1].union(own_times)))


class _Live:
    """A live pod, the object that made it, and the key of the pods with the same origin and values.

    Where its maker is known, the key is the maker and the few fields that the maker does not determine.
    """

    def __init__(self, store: Store, pod: Pod) -> None:
        self._store, self.pod, self.maker = store, pod, find_maker(store, pod)
        space = pod.metadata.namespace
        if self.maker is not None:
            self.key: tuple[Any, ...] = space, id(self.maker), instance_key(pod)
        else:
            source = self.live_source.source
            made = source.kind, source.name, source.field, self.live_source.prefix, self.live_source.text
            self.key = space, *signature(self.live_source, pod), *made

    @cached_property
    def live_source(self) -> PodManifest:
        return find_live_manifest(self._store, self.pod)


def _times(item: Any) -> Iterator[str]:
    """Yield when an object was edited, as far as its field managers are known."""
    metadata = item.metadata
    if isinstance(metadata, ManagedMetadata):
        yield from (entry.time or "" for entry in metadata.managed_fields or ())


def _differs_by_name_only(difference: Difference) -> bool:
    """Return whether the pod's name occurs only where ``rename_subject`` writes another one."""
    name = difference.subject.name
    digits = 3 if difference.after else 1
    digits += difference.verdict.message.startswith(_message_prefixes(name))
    digits += sum(_is_own(reason.source, name) for reason in difference.reasons.values())
    return msgspec.json.encode(difference).count(msgspec.json.encode(name)[1:-1]) == digits


def _message_prefixes(name: str) -> tuple[str, str]:
    """Return the beginnings of the server's sentences about a pod."""
    return f'pods "{name}" ', f'Pod "{name}" '


def rename_subject(difference: Difference, name: str) -> Difference:
    """Return the answer about another pod that differs from it only in the name."""
    verdict, old = difference.verdict, difference.subject.name
    for head, other in zip(_message_prefixes(old), _message_prefixes(name), strict=True):
        if verdict.message.startswith(head):
            verdict = structs.replace(verdict, message=other + verdict.message[len(head) :])
    return structs.replace(
        difference,
        subject=structs.replace(difference.subject, name=name),
        before=_with_name(difference.before, name),
        after=_with_name(difference.after, name),
        reasons={path: _reason_of(reason, old, name) for path, reason in difference.reasons.items()},
        verdict=verdict,
    )


def _is_own(source: Source | None, name: str) -> TypeGuard[Source]:
    """Return whether the pod itself is behind a value."""
    return source is not None and source.kind == "Pod" and source.name == name


def _reason_of(reason: Reason, old: str, name: str) -> Reason:
    source = reason.source
    if not _is_own(source, old):
        return reason
    return structs.replace(reason, source=structs.replace(source, name=name))


def _with_name(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return {**document, "metadata": {**document["metadata"], "name": name}} if document else document


def _build_difference(store: Store, subject: Subject, analysis: explain.Analysis) -> Difference:
    decision = explain.build_decision(store, subject, analysis)
    manifest, first = analysis.manifest, analysis.outcomes[0]
    before = _document(written_pod(manifest.live if manifest.live is not None else manifest.pod), subject.ref)
    after = _document(_after(manifest, first), subject.ref)
    if manifest.live is not None:
        _drop_incidental(before, after, policies=analysis.policies)
        _align(before, after)
    changed = (
        _essential(before) != _essential(after) if manifest.live is None else values_of(before) != values_of(after)
    )
    return Difference(
        subject.ref,
        "LIVE" if manifest.live is not None else "WRITTEN",
        "TODAY" if manifest.live is not None else "STORED",
        before,
        after,
        _reasons(decision, first, before),
        decision.verdict,
        changed or decision.verdict.allowed is not True or is_negative(decision.verdict),
        decision.advice.fixes,
        decision.unread,
        decision.certain,
        decision.complete,
    )


def _essential(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields in which a written pod can differ: without the class that every stored pod has, and a default
    priority.
    """
    spec = {key: value for key, value in document["spec"].items() if key != "priorityClassName"}
    return {"metadata": document["metadata"], "spec": spec}


def _document(pod: Mapping[str, Any], ref: ObjectRef) -> dict[str, Any]:
    metadata = {**pod["metadata"], "namespace": ref.namespace}
    return {"apiVersion": "v1", "kind": "Pod", **pod, "metadata": metadata}


def _after(manifest: PodManifest, first: Outcome) -> dict[str, Any]:
    """Return what would be stored; for a refused pod what admission had come to; as written if it does not even
    decode.
    """
    if first.object is not None:
        return dict(first.object)
    if first.draft is None:
        return written_pod(manifest.pod)
    # Live pods may have told of containers that no manifest has.
    pod = structs.replace(manifest.pod, spec=first.draft.spec)
    reached = stored_pod(pod, first.draft, qos.compute_class(first.draft))
    reached["metadata"].pop("annotations", None)
    del reached["status"]
    return reached


def _drop_incidental(before: dict[str, Any], after: dict[str, Any], policies: NamespacePolicies) -> None:
    """Remove what says nothing about the live pod's resources: the annotation, classes that were not read, and a
    default class, which is only looked up where a quota counts by it.
    """
    classless = policies.policies.priorities is None or "priorityClassName" not in after["spec"]
    for document in (before, after):
        document["metadata"] = {key: value for key, value in document["metadata"].items() if key != "annotations"}
        if classless:
            document["spec"].pop("priorityClassName", None)
        if policies.policies.runtimes is None:
            document["spec"].pop("overhead", None)


def _align(before: dict[str, Any], after: dict[str, Any]) -> None:
    """Put the live containers into the order of today's; those that were injected come last."""
    spec = dict(before["spec"])
    for key in ("containers", "initContainers"):
        wanted = [item.get("name", "") for item in after["spec"].get(key) or ()]
        result = {item.get("name", ""): item for item in spec.get(key) or ()}
        if result:
            spec[key] = [result[name] for name in dict.fromkeys((*wanted, *result)) if name in result]
    before["spec"] = spec


def _reason(value: ResourceValue) -> Reason:
    """Return what set the value; for a written one what changed its notation."""
    rewritten = value.rule == "manifest/written" and bool(value.steps)
    others = tuple(dict.fromkeys(alternative.value for alternative in value.alternatives))
    return Reason("quantity/canonical" if rewritten else value.rule, value.source, value.note, others)


def _reasons(decision: explain.Decision, first: Outcome, before: Mapping[str, Any]) -> dict[str, Reason]:
    """Return, by path, what set each value, or why the live one differs; annotation, overhead and class by their
    entries.

    A container that was injected has its reason at its name.
    """
    reasons = {
        value.path: _reason(value)
        for container in decision.containers
        for value in container.values
        if value.rule or value.note
    }
    reasons.update(
        {
            entry.path: Reason(entry.rule, entry.source)
            for entry in first.journal
            if isinstance(entry, (Set, Derive))
            and entry.path.startswith(("metadata", "status", "spec.overhead", "spec.p"))
        }
    )
    injected = {container.name: Reason(note=container.note) for container in decision.containers if container.note}
    names = {
        f"spec.{key}[{index}].name": item.get("name", "")
        for key in ("containers", "initContainers")
        for index, item in enumerate(before["spec"].get(key) or ())
    }
    return {**reasons, **{path: injected[name] for path, name in names.items() if name in injected}}
