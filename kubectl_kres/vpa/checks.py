"""Rules of ``check`` about vertical autoscalers.

- KRES215: what an autoscaler recommends is never admitted.
- KRES216: a limit that an autoscaler sets by ratio is beyond a maximum.
- KRES217: a vertical and a horizontal autoscaler act on the same resource.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from kubectl_kres.admission.base.outcome import Finding, Outcome
from kubectl_kres.admission.request.new_pod import Policies, admit
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.workload import HorizontalPodAutoscaler
from kubectl_kres.provenance.journal import Set
from kubectl_kres.quantity import ZERO
from kubectl_kres.reports.check.context import CheckContext, EvaluatedWorkload, Rule
from kubectl_kres.reports.check.finding import Diagnostic
from kubectl_kres.reports.check.system import CheckSystem
from kubectl_kres.vpa.model import KIND, WEBHOOK, VerticalPodAutoscaler, mode_of
from kubectl_kres.vpa.registration import is_registered
from kubectl_kres.vpa.reports.registered_webhook import autoscaler_of, supposed_webhook
from kubectl_kres.vpa.rules.autoscaler import Autoscaler

_RATIO = "vpa/limit-ratio"
#: Said where pods come as their template says.
_NOT_YET = f", once webhook {WEBHOOK} is registered, which it is not now"


def _never_admitted(context: CheckContext) -> Iterator[tuple[Autoscaler, Outcome]]:
    """Autoscalers whose next pod is refused even where quotas have nothing used, and is admitted without them.

    Where their webhook is not registered no pod comes with what they recommend: then it is asked as if it were.
    """
    if not any(True for _ in context.store.all(KIND, context.namespace)):
        return
    for evaluated in context.evaluated_workloads:
        policies = evaluated.analysis.policies.policies
        missing = is_registered(context.store) is False
        autoscaler = autoscaler_of(context.store, evaluated.analysis) if policies.webhooks or missing else None
        if autoscaler is None or not context.selects(ObjectRef(KIND, autoscaler.source.name, context.namespace)):
            continue
        if missing:
            policies = structs.replace(
                policies, webhooks=(*policies.webhooks, supposed_webhook(context.store, autoscaler))
            )
        unused = structs.replace(
            policies, quotas=tuple(quota.with_used(dict.fromkeys(quota.used, ZERO)) for quota in policies.quotas)
        )
        outcomes = _outcomes(evaluated, unused)
        bare = _outcomes(evaluated, structs.replace(unused, webhooks=()))
        if not any(outcome.allowed for outcome in outcomes) and any(outcome.allowed for outcome in bare):
            yield autoscaler, outcomes[0]


def _outcomes(evaluated: EvaluatedWorkload, policies: Policies) -> tuple[Outcome, ...]:
    return admit(evaluated.analysis.manifest.pod, policies, evaluated.analysis.server)


def _by_ratio(outcome: Outcome) -> bool:
    """Return whether a limit that was set by ratio is more than a LimitRange allows."""
    limits = {entry.path for entry in outcome.journal if isinstance(entry, Set) and entry.rule == _RATIO}
    return any(
        finding.rule == "limitrange/max" and f"{finding.path}.resources.limits[{finding.resource}]" in limits
        for finding in _findings(outcome)
    )


def _findings(outcome: Outcome) -> tuple[Finding, ...]:
    return outcome.refusal.findings if outcome.refusal is not None else ()


def _diagnostic(context: CheckContext, autoscaler: Autoscaler, outcome: Outcome) -> Diagnostic:
    source = autoscaler.source
    message = outcome.refusal.message if outcome.refusal is not None else ""
    # A pod that comes without what it recommends is not refused for it.
    when = _NOT_YET if is_registered(context.store) is False else ""
    values = {"target": "/".join(autoscaler.target), "message": message, "when": when}
    return Diagnostic(ObjectRef(KIND, source.name, source.namespace), values, "spec.resourcePolicy")


def find_never_admitted(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the autoscalers whose recommendation is refused for anything but a limit by ratio."""
    for autoscaler, outcome in _never_admitted(context):
        if not _by_ratio(outcome):
            yield _diagnostic(context, autoscaler, outcome)


def find_ratio_beyond(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the autoscalers whose limits by ratio are refused."""
    for autoscaler, outcome in _never_admitted(context):
        if _by_ratio(outcome):
            yield _diagnostic(context, autoscaler, outcome)


NEVER_ADMITTED = Rule(
    code="KRES215",
    title="what a vertical autoscaler recommends is never admitted",
    severity="error",
    reason="New pods are refused even where quotas have room, so pods that its updater evicts are not replaced.",
    remedy="Set maxAllowed and minAllowed in its resourcePolicy to what is admitted, or raise the bound.",
    message="the pods of {target} are refused with what it recommends, and admitted without{when}: {message}",
    find=find_never_admitted,
)


RATIO_BEYOND = Rule(
    code="KRES216",
    title="a limit that a vertical autoscaler sets by ratio is beyond a maximum",
    severity="error",
    reason="Limits grow with requests in the proportion that the template has, and minAllowed of the autoscaler keeps "
    "requests above what fits: new pods are refused.",
    remedy="Lower minAllowed, set controlledValues RequestsOnly, or bring request and limit of the template closer.",
    message="the pods of {target} are refused with the limits that it sets{when}: {message}",
    find=find_ratio_beyond,
)


def find_both_directions(context: CheckContext) -> Iterator[Diagnostic]:
    """Autoscalers of a controller that a horizontal one scales by the use of what this one requests."""
    measured: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for horizontal in context.store.all("HorizontalPodAutoscaler", context.namespace):
        reference = horizontal.spec.scale_target_ref
        for resource in _metric_resources(horizontal):
            measured.setdefault((reference.kind, reference.name), []).append((horizontal.metadata.name, resource))
    for vertical in context.store.all(KIND, context.namespace) if measured else ():
        reference = vertical.spec.target_ref
        ref = ObjectRef(KIND, vertical.metadata.name, context.namespace)
        if reference is None or mode_of(vertical) == "Off" or not context.selects(ref):
            continue
        for name, resource in measured.get((reference.kind, reference.name), ()):
            if _is_resource_controlled(vertical, resource):
                yield Diagnostic(ref, {"name": name, "resource": resource, "target": str(reference)}, "spec.targetRef")


def _metric_resources(horizontal: HorizontalPodAutoscaler) -> Iterator[str]:
    """Yield the resources whose use in proportion to requests it goes by."""
    for metric in horizontal.spec.metrics or ():
        source = metric.resource or metric.container_resource
        if source is not None and source.target.type == "Utilization":
            yield source.name


def _is_resource_controlled(vertical: VerticalPodAutoscaler, resource: str) -> bool:
    """Return whether it sets the resource of some container."""
    policy = vertical.spec.resource_policy
    policies = (policy.container_policies if policy is not None else None) or ()
    return not any(container_policy.container_name == "*" for container_policy in policies) or any(
        container_policy.mode != "Off"
        and (container_policy.controlled_resources is None or resource in container_policy.controlled_resources)
        for container_policy in policies
    )


BOTH_DIRECTIONS = Rule(
    code="KRES217",
    title="a vertical and a horizontal autoscaler act on the same resource",
    severity="warning",
    reason="The horizontal one goes by use in proportion to requests, which the vertical one changes: each answers to "
    "the other.",
    remedy="Take the resource out of controlledResources of the vertical one, or give the other another metric.",
    message="HorizontalPodAutoscaler/{name} scales {target} by the use of {resource}, too",
    find=find_both_directions,
)

SYSTEM = CheckSystem(rules=(NEVER_ADMITTED, RATIO_BEYOND, BOTH_DIRECTIONS))
