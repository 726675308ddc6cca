"""A running pod through the ``resize`` subresource: what is kept of the request, and every check in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from kubectl_kres.admission.base.draft import Draft, Unparsable, draft_pod
from kubectl_kres.admission.base.outcome import Finding, Outcome, Refusal, forbidden_object, invalid_object, unparsable
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.limitrange import limitrange_admission
from kubectl_kres.admission.pod.defaulting import complete_pod_level, default_pod, default_pod_level
from kubectl_kres.admission.pod.qos import class_of
from kubectl_kres.admission.quota.quota_admission import QuotaVerdict, evaluate
from kubectl_kres.admission.quota.requests import pod_request
from kubectl_kres.admission.request.new_pod import Policies, distinct, mutated, stored_pod
from kubectl_kres.admission.resize.resize_node import check_features, check_node
from kubectl_kres.admission.resize.resize_rules import PodVersion, resize_errors
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.model.pod import Container, Node, Pod
from kubectl_kres.provenance.journal import Entry


def resize(
    old: Pod,
    patched: Pod,
    policies: Policies,
    server: Server,
    *,
    node: Node | None = None,
    decoded: Sequence[str] = (),
    journal: bool = True,
) -> tuple[Outcome, ...]:
    """Every answer to a PUT of ``patched`` to the resize subresource of the stored pod ``old``.

    A patch is applied to the stored pod first. Of what was sent only resources and resize policies are kept. ``node``:
    the one that runs the pod (see ``check_node``). ``decoded``: the decoder's warnings.
    Order: LimitRange defaults, 422, LimitRange bounds, what the node can do, its capacity, quota by what grows.
    Source: registry/core/pod/strategy.go podResizeStrategy.
    """
    name = old.metadata.name or patched.metadata.name
    if not server.on("InPlacePodVerticalScaling"):
        text = "the server could not find the requested resource"
        return (Outcome(False, 404, Refusal(404, "NotFound", text, (Finding(text, "resize/absent"),))),)
    steps: list[Entry] | None = [] if journal else None
    ref = ObjectRef("Pod", name, old.metadata.namespace)
    try:
        draft, stored = draft_pod(patched, server, steps), draft_pod(old, server)
        default_pod(draft, ref, steps)
        default_pod(stored, ref, None)
    except Unparsable as fault:
        refusal = unparsable("Pod", "v1", fault.error.message, fault.path, fault.error.text)
        return (Outcome(allowed=False, code=400, refusal=refusal),)
    bounded = replace(policies, limits=()) if old.metadata.deletion_timestamp else policies
    run = _Run(ref, PodVersion(old, stored), patched, bounded, server, node, tuple(decoded))
    return distinct(
        outcome for order, twin, entries in mutated(draft, bounded, steps, server)
        for outcome in run.outcomes(order, twin, entries)
    )  # fmt: skip


def _kept(old: Pod, patched: Pod, server: Server) -> Pod:
    """The pod that would be stored; containers that are not the same stay as sent, which validation then refuses.

    Source: registry/core/pod/strategy.go dropNonResizeUpdates.
    """
    if not _as_many(old, patched):
        return patched
    spec = replace(old.spec, containers=_sized(old.spec.containers, patched.spec.containers))
    if server.on("SidecarContainers"):
        spec = replace(spec, init_containers=_sized(old.spec.init_containers, patched.spec.init_containers))
    if server.on("InPlacePodLevelResourcesVerticalScaling"):
        spec = replace(spec, resources=patched.spec.resources)
    return replace(old, spec=spec)


def _as_many(old: Pod, new: Pod) -> bool:
    """Whether both have as many containers, and as many init containers."""
    counts = [[len(listed or ()) for listed in (pod.spec.containers, pod.spec.init_containers)] for pod in (old, new)]
    return counts[0] == counts[1]


def _sized(old: Sequence[Container] | None, new: Sequence[Container] | None) -> tuple[Container, ...]:
    if [was.name for was in old or ()] != [is_.name for is_ in new or ()]:
        return tuple(new or ())
    return tuple(
        replace(was, resources=is_.resources, resize_policy=is_.resize_policy)
        for was, is_ in zip(old or (), new or (), strict=True)
    )


class _Run:
    """One request with everything that its later steps look up."""

    def __init__(
        self,
        ref: ObjectRef,
        old: PodVersion,
        patched: Pod,
        policies: Policies,
        server: Server,
        node: Node | None,
        decoded: tuple[str, ...],
    ) -> None:
        self.ref, self.old, self.policies, self.server, self.node = ref, old, policies, server, node
        self.pod, self.decoded = _kept(old.pod, patched, server), decoded

    def outcomes(self, order: tuple[str, ...], draft: Draft, entries: list[Entry] | None) -> Iterator[Outcome]:
        self._keep(draft)
        complete_pod_level(draft, self.ref, entries)
        refusals = [*self._refusals(draft, entries)]
        verdict = QuotaVerdict() if refusals else self._quota(draft, entries)
        refusals += verdict.refusals
        for refusal in refusals:
            journal = tuple(entries or ())
            yield Outcome(False, refusal.code, refusal, self.decoded, None, (), journal, order, draft)
        if refusals:
            return
        # Like any object that is read back, it is defaulted once more.
        default_pod_level(draft, self.ref, entries)
        stored = stored_pod(self.pod, draft, self.old.pod.status.qos_class or class_of(draft))
        yield Outcome(True, 200, None, self.decoded, stored, verdict.charges, tuple(entries or ()), order, draft)

    def _keep(self, draft: Draft) -> None:
        """Take from the stored pod what a resize does not change."""
        stored = self.old.draft
        draft.spec, draft.overhead, draft.priority_class = self.pod.spec, dict(stored.overhead), stored.priority_class
        draft.annotation = None
        if _as_many(self.old.pod, self.pod):
            kept = draft.pod is None and self.server.behaves("pod-level/kept-by-update")
            if kept or not self.server.on("InPlacePodLevelResourcesVerticalScaling"):
                draft.pod = stored.pod and stored.pod.copy()
            if not self.server.on("SidecarContainers"):
                draft.inits = [slot.copy() for slot in stored.inits]

    def _refusals(self, draft: Draft, entries: list[Entry] | None) -> Iterator[Refusal]:
        errors = resize_errors(self.old, PodVersion(self.pod, draft), self.server)
        if errors:
            yield invalid_object("Pod", self.ref.name, errors, self.server)
            return
        bounds = [] if "LimitRanger" in self.server.disabled_plugins else [*self._bounds(draft, entries)]
        yield from bounds
        if not bounds and self._changed(draft):
            yield from self._of_node(draft, entries)

    def _of_node(self, draft: Draft, entries: list[Entry] | None) -> Iterator[Refusal]:
        """What the plugins that look at the node refuse; the first of them answers."""
        disabled, pod = self.server.disabled_plugins, self.old.pod
        refusals: list[Refusal] = []
        if self.server.on("NodeDeclaredFeatures") and "NodeDeclaredFeatureValidator" not in disabled:
            bounded = bool(self.policies.limits) and "LimitRanger" not in disabled
            refusals += check_features(pod, self.old.draft, draft, self.node, entries, bounded=bounded)
        if not refusals and "PodResizeValidator" not in disabled:
            refusals += check_node(pod, draft, self.node, entries)
        yield from refusals

    def _bounds(self, draft: Draft, entries: list[Entry] | None) -> Iterator[Refusal]:
        """One refusal for each violated LimitRange: any of them can be the one that answers."""
        for limits in self.policies.limits:
            findings = limitrange_admission.violations(draft, limits, entries)
            if findings:
                yield forbidden_object("pods", self.ref.name, findings)

    def _changed(self, draft: Draft) -> bool:
        """Whether the generation would rise."""
        return draft.values() != self.old.draft.values() or (draft.pod is None) != (self.old.draft.pod is None)

    def _quota(self, draft: Draft, entries: list[Entry] | None) -> QuotaVerdict:
        if "ResourceQuota" in self.server.disabled_plugins:
            return QuotaVerdict()
        before = pod_request(self.old.pod, self.server, draft=self.old.draft)
        after = pod_request(self.pod, self.server, draft=draft)
        limited = self.server.limited_resources
        return evaluate(after, self.policies.quotas, limited, entries, old=before)
