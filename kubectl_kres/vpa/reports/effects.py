"""What a vertical autoscaler makes of the pods of its controller: the next one, and those that its updater evicts."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.limitrange import Limits
from kubectl_kres.errors import KresError, NotFound
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.workload_kinds import POD_MAKERS
from kubectl_kres.provenance.journal import OmittedObject
from kubectl_kres.record import Record, Wording, joined
from kubectl_kres.reports.common.explanation import ContainerValues, EvaluationOptions, FailedRead, Subject, find_unread
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.reports.explain.explain import analysis_of
from kubectl_kres.reports.pod.needs import list_read_requests
from kubectl_kres.reports.pod.values import ValueTable
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.vpa.model import BUDGET, HOOKS, KIND, VerticalPodAutoscaler
from kubectl_kres.vpa.registration import is_registered, parsed, registered_webhook
from kubectl_kres.vpa.reports.remedies import eviction_remedies
from kubectl_kres.vpa.reports.updater_run import Eviction, UpdaterRun
from kubectl_kres.vpa.rules.autoscaler import Autoscaler, WebhookFault
from kubectl_kres.vpa.rules.webhook import scaled_containers


class VpaEffects(Record, frozen=True):
    """``registered``: whether the webhook is; absent: not known. ``failure_policy``: of the webhook.

    ``allowed``: whether the next pod is admitted, absent where that is not known; ``message``: the refusal.
    ``fault``: why the admission controller changes nothing. ``fixes``: what to change where pods are refused, let
    alone, or evicted without an end.
    """

    object: ObjectRef
    target: str
    mode: str
    registered: bool | None = None
    failure_policy: str = ""
    recommends: bool = True
    containers: tuple[ContainerValues, ...] = ()
    allowed: bool | None = None
    message: str = ""
    fault: Wording = ""
    eviction: Eviction | None = None
    fixes: tuple[Remedy, ...] = ()
    unread: tuple[FailedRead, ...] = ()
    complete: bool = True


def effects_needs(store: Store, subject: Subject) -> tuple[ReadRequest, ...]:
    """Return the autoscaler, the webhook, the controller and all that its next pod depends on, and the pods."""
    ref = subject.ref
    reads = [
        ReadRequest(KIND, ref.namespace, ref.name),
        ReadRequest(KIND, ref.namespace),
    ]
    if store.origin.kind == "cluster" or any(store.reads_of_kind(HOOKS)):
        reads.append(ReadRequest(HOOKS, required=False))
    vpa = store.get(KIND, ref.name, ref.namespace)
    target = _target(vpa) if isinstance(vpa, VerticalPodAutoscaler) else None
    if target is not None:
        reads += [*list_read_requests(store, target), ReadRequest("Pod", ref.namespace)]
        if store.origin.kind == "cluster" or any(store.reads_of_kind(BUDGET)):
            reads.append(ReadRequest(BUDGET, ref.namespace, required=False))
        if target.ref.kind == "Deployment":
            reads.append(ReadRequest("ReplicaSet", ref.namespace, required=False))
    return tuple(dict.fromkeys(reads))


def _target(vpa: VerticalPodAutoscaler) -> Subject | None:
    """Return the controller, of a kind whose template is known."""
    reference = vpa.spec.target_ref
    if reference is None or reference.kind not in POD_MAKERS:
        return None
    return Subject(ObjectRef(reference.kind, reference.name, vpa.metadata.namespace), BY_KIND[reference.kind])


def vpa_effects(store: Store, subject: Subject, options: EvaluationOptions) -> VpaEffects:
    """Raises NotFound where there is no such autoscaler, and KresError where an amount of it does not parse."""
    ref = subject.ref
    vpa = store.get(KIND, ref.name, ref.namespace)
    if not isinstance(vpa, VerticalPodAutoscaler):
        raise NotFound(f'{subject.kind.qualified_name} "{ref.name}" not found', code=404, reason="NotFound")
    autoscalers, left_out = parsed(store, ref.namespace)
    autoscaler = next((each for each in autoscalers if each.source.name == ref.name), None)
    registered = registered_webhook(store)
    failed_reads = tuple(find_unread(store, effects_needs(store, subject)))
    effects = VpaEffects(
        ref,
        str(vpa.spec.target_ref or ""),
        autoscaler.mode if autoscaler is not None else "",
        is_registered(store),
        registered[1].failure_policy if registered is not None else "",
        autoscaler is not None and autoscaler.recommended is not None,
        unread=failed_reads,
        complete=not any(each.required for each in failed_reads),
    )
    target = _target(vpa)
    if autoscaler is None:
        texts = (each.text for each in left_out)
        own = (text for text in texts if isinstance(text, OmittedObject) and text.ref == str(ref))
        return structs.replace(effects, fault=joined(*own))
    try:
        analysis = analysis_of(store, target, options) if target is not None else None
    except KresError:
        analysis = None
    if target is None or analysis is None:
        return effects
    first = analysis.outcomes[0]
    eviction = UpdaterRun(store, options, autoscaler, target, analysis).eviction()
    return structs.replace(
        effects,
        containers=ValueTable(store, analysis.manifest, analysis.outcomes).containers(),
        allowed=first.allowed,
        message="" if first.refusal is None else first.refusal.message,
        fault=_fault(autoscaler, first, analysis.policies.policies.limits),
        eviction=eviction,
        fixes=eviction_remedies(store, options, vpa, target, analysis, eviction),
    )


def _fault(autoscaler: Autoscaler, outcome: Outcome, limits: Sequence[Limits]) -> str:
    try:
        scaled_containers(autoscaler, outcome.draft.containers if outcome.draft is not None else (), limits)
    except WebhookFault as fault:
        return str(fault)
    return ""
