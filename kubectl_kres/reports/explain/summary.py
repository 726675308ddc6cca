"""What one line of a list says of a pod or workload, made without the values, sums and steps of an explanation.

Pods that were made alike and live alike are judged once: what is kept goes by all that admission looks at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from msgspec import structs

from kubectl_kres.admission.pod import qos
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.effective_policies import Known, policies
from kubectl_kres.reports.common.explanation import Unseen, Verdict
from kubectl_kres.reports.common.record import Record
from kubectl_kres.reports.common.replicas import Replicas
from kubectl_kres.reports.common.subject import Ask, Subject
from kubectl_kres.reports.common.system import is_made_by_system, made_by
from kubectl_kres.reports.explain.explain import analyse, analysis_of, unseen_of, verdict_and_sentences
from kubectl_kres.reports.pod.condition import ready_of, state_of
from kubectl_kres.reports.pod.manifest_source import maker_of, start_of_live
from kubectl_kres.reports.pod.needs import PodOrigin, needs, origin_of
from kubectl_kres.reports.pod.resource_view import beside_template, signature
from kubectl_kres.reports.pod.values import names_of
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store

#: So many answers are kept: pods of a workload come one after the other, and memory must not grow with their number.
_KEPT = 1000


class Outline(Record, frozen=True):
    """``verdict``: without the server's words. ``quality``: the QoS class; empty where nothing could be decoded.

    ``remedy``: the smallest, with a count of further ones that are needed too; empty for what is admitted.
    ``names``: of containers, by path. ``replicas``: of a workload that exists. ``ready`` and ``state``: how it fares,
    as ``reports.pod.condition`` has it; ``live``: it is a pod that exists, ``ended``: a run that has.
    """

    subject: ObjectRef
    verdict: Verdict
    quality: str = ""
    remedy: str = ""
    unseen: tuple[Unseen, ...] = ()
    complete: bool = True
    names: Mapping[str, str] = {}
    replicas: Replicas | None = None
    ready: str = ""
    state: str = ""
    live: bool = False
    ended: bool = False


class UnseenOfPods:
    """What could not be read of the needs of listed pods, looked up once for those that have the same."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: dict[PodOrigin, tuple[tuple[str, ...], tuple[int, ...], tuple[Unseen, ...]]] = {}

    def of(self, subject: Subject, pod: Pod) -> tuple[Unseen, ...]:
        """As ``unseen_of``, for a pod that no run made."""
        store, origin, ref = self._store, origin_of(pod), subject.ref
        # Of a pod that waits for a node, all pods were wanted, too.
        if origin.waits or not store.covered(Need("Pod", ref.namespace, ref.name)).known:
            return unseen_of(store, subject)
        kinds, revision, unseen = self._kept.get(origin, ((), (), ()))
        if not kinds or store.revision(*kinds) != revision:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            wanted = {need.kind for need in needs(store, subject)}
            kinds, unseen = tuple(sorted(wanted - {"Pod"})), unseen_of(store, subject)
            self._kept[origin] = kinds, store.revision(*kinds), unseen
        return unseen


class Outlines:
    """Lines for many objects; live pods that are alike are looked at once."""

    def __init__(self, store: Store, ask: Ask) -> None:
        self._store, self._ask = store, ask
        #: By all that admission looks at; and, quicker to find, by the owner whose template made the pod.
        self._alike: dict[tuple[str, bytes, bytes], tuple[Known, Outline]] = {}
        self._of_owner: dict[tuple[int, bytes], tuple[object, Known, Outline]] = {}
        #: Namespaces whose last pod was refused: the next one likely is, too.
        self._refusing: set[str] = set()
        self._unseen = UnseenOfPods(store)

    def outline(self, subject: Subject) -> Outline:
        """Raises what ``explain`` raises."""
        ref = subject.ref
        stored = self._store.get(ref.kind, ref.name, ref.namespace) if subject.raw is None else None
        if isinstance(stored, Pod) and not is_made_by_system(self._store, subject):
            unseen = self._unseen.of(subject, stored)
            found = self._pod(subject, stored, unseen)
        else:
            unseen = unseen_of(self._store, subject)
            found = self._any(subject, unseen)
        complete = not any(one.required for one in unseen)
        return structs.replace(
            found,
            subject=ref,
            unseen=unseen,
            complete=complete,
            ready=ready_of(ref.kind, stored),
            state=state_of(ref.kind, stored),
        )

    def _pod(self, subject: Subject, pod: Pod, unseen: tuple[Unseen, ...]) -> Outline:
        """Of a live pod that no run made."""
        known = policies(self._store, subject.ref.namespace, self._ask.server)
        owner = maker_of(self._store, pod)
        if owner is None:
            return self._like(subject, pod, known, unseen)
        key = id(owner), beside_template(pod)
        last = self._of_owner.get(key)
        if last is None or last[0] is not owner or last[1] is not known:
            if len(self._of_owner) >= _KEPT:
                self._of_owner.clear()
            last = self._of_owner[key] = owner, known, self._like(subject, pod, known, unseen)
        return last[2]

    def _like(self, subject: Subject, pod: Pod, known: Known, unseen: tuple[Unseen, ...]) -> Outline:
        """Of a pod, or of one that is like it."""
        start = start_of_live(self._store, pod)
        key = (subject.ref.namespace, *signature(start, pod))
        last = self._alike.get(key)
        if last is None or last[0] is not known:
            if len(self._alike) >= _KEPT:
                self._alike.clear()
            last = self._alike[key] = known, self._judged(subject, unseen, partial(analyse, start, known, self._ask))
        return last[1]

    def _any(self, subject: Subject, unseen: tuple[Unseen, ...]) -> Outline:
        return self._judged(subject, unseen, partial(analysis_of, self._store, subject, self._ask))

    def _judged(self, subject: Subject, unseen: tuple[Unseen, ...], judge: Callable[..., Analysis]) -> Outline:
        """A journal costs time, and is only kept for what is refused: the remedies name what set the values."""
        space = subject.ref.namespace
        journal = space in self._refusing
        analysis = judge(journal=journal)
        if all(outcome.allowed for outcome in analysis.outcomes):
            self._refusing.discard(space)
        else:
            self._refusing.add(space)
            analysis = analysis if journal else judge(journal=True)
        return _outlined(self._store, subject, analysis, unseen)


def _outlined(store: Store, subject: Subject, analysis: Analysis, unseen: tuple[Unseen, ...]) -> Outline:
    draft = analysis.outcomes[0].draft
    whole, remedies, replicas = verdict_and_sentences(store, subject, analysis, unseen)
    # The words of a refusal name the pod, and those that are alike share their line.
    verdict = structs.replace(whole, message="", causes=(), others=())
    first, *more = remedies or ("",)
    remedy = f"{first} (and {len(more)} more)" if more else first
    return Outline(
        subject.ref,
        verdict,
        qos.class_of(draft) if draft is not None else "",
        remedy,
        names={"spec": "the pod level", **names_of(analysis.start.pod)} if verdict.findings else {},
        replicas=replicas,
        live=analysis.start.live is not None,
        ended=made_by(analysis).is_about_another(analysis),
    )
