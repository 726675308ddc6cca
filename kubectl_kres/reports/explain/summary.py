"""One line of a list about a pod or workload, made without the values, sums and steps of an explanation.

Pods with the same origin and values are evaluated once: the key of the cache is all that admission looks at.
"""

# ruff: noqa: PLC0415 - only a pod that waits for a node has nodes against it
from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from msgspec import structs

from kubectl_kres.admission.pod import aggregate as qos
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload import Workload
from kubectl_kres.record import Record, Wording, joined
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.answer_cache import AnswerCache
from kubectl_kres.reports.common.effective_policies import NamespacePolicies, policies
from kubectl_kres.reports.common.explanation import EvaluationOptions, FailedRead, RunState, Subject, Verdict
from kubectl_kres.reports.common.nodes import NodeReport
from kubectl_kres.reports.common.objects import waits_for_objects
from kubectl_kres.reports.common.replicas import Replicas
from kubectl_kres.reports.common.system import object_behind
from kubectl_kres.reports.explain.explain import analyse, analysis_of, list_unread, verdict_and_sentences
from kubectl_kres.reports.explain.object_state import object_state
from kubectl_kres.reports.pod.events import not_running_reason, ready_text, waiting_pod
from kubectl_kres.reports.pod.manifest_source import find_live_manifest, find_maker
from kubectl_kres.reports.pod.needs import PodOrigin, pod_origin
from kubectl_kres.reports.pod.resource_view import instance_key, signature
from kubectl_kres.reports.pod.values import names_of
from kubectl_kres.store.store import ReadRequest, Store


class Outline(Record, frozen=True):
    """One line about an object. ``verdict``: without the server's words. ``quality``: the QoS class; empty where
    nothing could be decoded.

    ``remedy``: the smallest, with a count of further ones that are needed too; empty for what is admitted. ``names``:
    of containers, by path. ``replicas``: of a workload that exists. ``ready`` and ``state``: how it fares, as
    ``reports.pod.events`` has it; ``run_state``: the same as a word with its reason, absent for what does not exist.
    ``live``: it is a pod that exists, ``ended``: a run that has. ``nodes``: of what waits for a node, what the nodes
    say; absent where they were not looked at.
    """

    subject: ObjectRef
    verdict: Verdict
    quality: str = ""
    remedy: Wording = ""
    unread: tuple[FailedRead, ...] = ()
    complete: bool = True
    names: Mapping[str, str] = {}
    replicas: Replicas | None = None
    ready: str = ""
    state: str = ""
    live: bool = False
    ended: bool = False
    run_state: RunState | None = None
    nodes: NodeReport | None = None


class Outlines:
    """Lines for many objects; live pods that are alike are evaluated once."""

    def __init__(self, store: Store, options: EvaluationOptions) -> None:
        self._store, self._options = store, options
        #: By all that admission looks at; and, quicker to find, by what the pod says of the template that made it.
        self._answers = AnswerCache[tuple[str, bytes, bytes], tuple[NamespacePolicies, Outline]]()
        self._of_origin = AnswerCache[tuple[PodOrigin, bytes], Outline]()
        #: What could not be read.
        self._failed_reads = AnswerCache[PodOrigin, tuple[FailedRead, ...]]()
        #: Up to which change of anything but pods the last two hold.
        self._other_changes = -1
        #: Namespaces whose last pod was refused: the next one likely is, too.
        self._refusing: set[str] = set()

    def outline(self, subject: Subject) -> Outline:
        """Return the line of an object. Raises what ``explain`` raises."""
        ref = subject.ref
        stored = self._store.get(ref.kind, ref.name, ref.namespace) if subject.raw is None else None
        waits = isinstance(stored, Pod) and _is_waiting_for_claim(self._store, stored)
        if isinstance(stored, Pod) and not waits and object_behind(self._store, subject) is None:
            outline = self._pod(subject, stored)
        else:
            failed_reads = list_unread(self._store, subject)
            outline = _set_unread(self._evaluate_subject(subject, failed_reads), failed_reads)
        run_state = outline.run_state if stored is not None else None
        if isinstance(stored, Pod):
            run_state = object_state(self._store, ref, self._options.now, outline.verdict)
        return structs.replace(
            outline,
            subject=ref,
            ready=ready_text(ref.kind, stored, run_state),
            state=not_running_reason(ref.kind, stored) or outline.state,
            run_state=run_state,
            nodes=self._nodes(ref, stored) if run_state is not None and run_state.reason == "NoNode" else None,
        )

    def _nodes(self, ref: ObjectRef, stored: object) -> NodeReport | None:
        """Return what the nodes say to a pod that waits, or to the first one of a workload."""
        from kubectl_kres.reports.scheduling.report import nodes_in_list

        pod = waiting_pod(self._store, ref.kind, stored) if isinstance(stored, Workload) else stored
        return nodes_in_list(self._store, pod, self._options.server.version[1]) if isinstance(pod, Pod) else None

    def _pod(self, subject: Subject, pod: Pod) -> Outline:
        """Return the line of a live pod that no run made."""
        store, origin, ref = self._store, pod_origin(pod), subject.ref
        beside = store.revision_beside("Pod")
        if beside != self._other_changes:
            self._failed_reads.clear()
            self._of_origin.clear()
            self._other_changes = beside
        # Of a pod that waits for a node, all pods were wanted, too.
        alone = origin.waits or not store.covered(ReadRequest("Pod", ref.namespace, ref.name)).is_known
        key = origin, instance_key(pod)
        outline = None if alone else self._of_origin.get(key)
        if outline is None:
            failed_reads = None if alone else self._failed_reads.get(origin)
            if failed_reads is None:
                failed_reads = list_unread(store, subject)
                if not alone:
                    self._failed_reads.store_answer(origin, failed_reads)
            namespace_policies = policies(store, ref.namespace, self._options.server)
            outline = _set_unread(
                self._find_cached_outline(subject, pod, namespace_policies, failed_reads), failed_reads
            )
            if not alone and find_maker(store, pod) is not None:
                self._of_origin.store_answer(key, outline)
        return outline

    def _find_cached_outline(
        self, subject: Subject, pod: Pod, policies: NamespacePolicies, failed_reads: tuple[FailedRead, ...]
    ) -> Outline:
        """Return the line of a pod, from the cache if one like it was evaluated."""
        manifest = find_live_manifest(self._store, pod)
        key = (subject.ref.namespace, *signature(manifest, pod))
        last = self._answers.get(key)
        if last is None or last[0] is not policies:
            judge = partial(analyse, manifest, policies, self._options)
            last = self._answers.store_answer(key, (policies, self._evaluate(subject, failed_reads, judge)))
        return last[1]

    def _evaluate_subject(self, subject: Subject, failed_reads: tuple[FailedRead, ...]) -> Outline:
        return self._evaluate(subject, failed_reads, partial(analysis_of, self._store, subject, self._options))

    def _evaluate(
        self, subject: Subject, failed_reads: tuple[FailedRead, ...], judge: Callable[..., Analysis]
    ) -> Outline:
        """Return the evaluated line. The journal is kept only for what is refused, since it costs time: the remedies
        name what set the values.
        """
        space = subject.ref.namespace
        journal = space in self._refusing
        analysis = judge(journal=journal)
        if all(outcome.allowed for outcome in analysis.outcomes):
            self._refusing.discard(space)
        else:
            self._refusing.add(space)
            analysis = analysis if journal else judge(journal=True)
        return _build_outline(self._store, subject, analysis, failed_reads, self._options.now)


def _is_waiting_for_claim(store: Store, pod: Pod) -> bool:
    """Return whether it lacks a claim that is made for it, unlike other pods of its template."""
    if not (pod.spec.volumes or pod.spec.resource_claims):
        return False
    return waits_for_objects(store, pod)


def _set_unread(outline: Outline, failed_reads: tuple[FailedRead, ...]) -> Outline:
    """Return the line with the reads that it lacks."""
    return structs.replace(
        outline, unread=failed_reads, complete=not any(failed_read.required for failed_read in failed_reads)
    )


def _build_outline(
    store: Store, subject: Subject, analysis: Analysis, failed_reads: tuple[FailedRead, ...], now: str
) -> Outline:
    draft = analysis.outcomes[0].draft
    whole, remedies, replicas, facts = verdict_and_sentences(store, subject, analysis, failed_reads)
    # The words of a refusal name the pod, and those that are alike share their line.
    verdict = structs.replace(whole, message="", causes=(), others=())
    first, *more = remedies or ("",)
    remedy = joined(first, f"(and {len(more)} more)" if more else "", between=" ")
    return Outline(
        subject.ref,
        verdict,
        qos.compute_class(draft) if draft is not None else "",
        remedy,
        names={"spec": "the pod level", **names_of(analysis.manifest.pod)} if verdict.findings else {},
        replicas=replicas,
        live=analysis.manifest.live is not None,
        ended=analysis.made_pod is not None and analysis.made_pod.about_another,
        state=analysis.made_pod.state if analysis.made_pod is not None else "",
        # Pods that are alike share their line, and each fares in its own way.
        run_state=object_state(store, subject.ref, now, verdict, facts) if subject.ref.kind != "Pod" else None,
    )
