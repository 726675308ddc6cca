"""The refusals that a pod meets after a remedy: once it states a required value, or keeps within LimitRanges, quotas
are checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from msgspec import structs

from kubectl_kres.admission.base.outcome import Finding, Outcome
from kubectl_kres.admission.pod import aggregate as qos
from kubectl_kres.admission.request.new_pod import admit
from kubectl_kres.model.pod import Container, Pod, ResourceRequirements
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.remedies.context import RULES, BoundsFit, RemedyContext, bounds_of, fit, group_findings

#: Request and limit by the path of a container and the resource.
Fits = Mapping[tuple[str, str], BoundsFit]

_RULE = "quota/must-specify"


def next_refusals(analysis: Analysis) -> Iterator[Outcome]:
    """Yield the refusals that come once the present ones are remedied."""
    yield from _in_scope(analysis)
    yield from _over_quota(analysis)


def _over_quota(analysis: Analysis) -> Iterator[Outcome]:
    """Yield the refusals of quotas that a pod meets once its containers are within the bounds of LimitRanges."""
    fits = _fits(analysis.outcomes[0]) if len(analysis.outcomes) == 1 else {}
    if not fits:
        return
    pod, counted = (
        _change_containers(analysis.manifest.pod, partial(_fit_container, fits)),
        analysis.manifest.live is not None,
    )
    for outcome in admit(pod, analysis.policies.policies, analysis.server, counted=counted):
        refused = outcome.refusal.findings if outcome.refusal else ()
        if refused and all(finding.rule.startswith("quota/") for finding in refused):
            yield outcome


def _fits(outcome: Outcome) -> Fits:
    """Return the values to set where only the bounds of containers refuse; empty where more or something else does."""
    result: dict[tuple[str, str], BoundsFit] = {}
    for group in group_findings(outcome.refusal.findings if outcome.refusal else ()):
        case = RemedyContext(group, outcome, {})
        name, slot = case.finding.resource, case.slot()
        if case.finding.rule not in RULES or slot is None or slot.role == "pod":
            return {}
        limit_bounds = bounds_of(case.journal, case.findings, case.finding.path, name)
        if limit_bounds.contradictory:
            return {}
        result[slot.path, name] = fit(slot.requests.get(name), slot.limits.get(name), limit_bounds, name)
    return result


def _change_containers(pod: Pod, change: Callable[[Container, str], Container]) -> Pod:
    """Return the pod with each container changed by ``change``, which gets its path."""

    def change_container(path: str, containers: Sequence[Container] | None) -> tuple[Container, ...]:
        return tuple(change(container, f"{path}[{index}]") for index, container in enumerate(containers or ()))

    spec = pod.spec
    containers = change_container("spec.containers", spec.containers)
    inits = change_container("spec.initContainers", spec.init_containers)
    return structs.replace(pod, spec=structs.replace(spec, containers=containers, init_containers=inits))


def _fit_container(fits: Fits, container: Container, path: str) -> Container:
    resources = container.resources or ResourceRequirements()
    requests, limits = dict(resources.requests or {}), dict(resources.limits or {})
    for (holder_path, name), (request, limit) in fits.items():
        if holder_path == path:
            requests |= {name: str(request)} if request is not None else {}
            limits |= {name: str(limit)} if limit is not None else {}
    return structs.replace(container, resources=structs.replace(resources, requests=requests, limits=limits))


def _in_scope(analysis: Analysis) -> Iterator[Outcome]:
    """Yield the refusals of quotas that a pod without any request or limit meets by obeying another quota.

    Its values are taken as small: whether there is room is said by the next answer.
    """
    outcomes = analysis.outcomes
    findings = [finding for outcome in outcomes if outcome.refusal for finding in outcome.refusal.findings]
    first = outcomes[0].draft
    if not findings or first is None or any(finding.rule != _RULE for finding in findings):
        return
    if qos.compute_class(first) != "BestEffort":
        return
    refused_values = {(finding.path, finding.resource) for finding in findings}
    pod = _change_containers(analysis.manifest.pod, partial(_add_missing_resources, findings))
    for outcome in admit(pod, analysis.policies.policies, analysis.server):
        refused = outcome.refusal.findings if outcome.refusal else ()
        if (
            refused
            and all(finding.rule == _RULE for finding in refused)
            and not refused_values & {(o.path, o.resource) for o in refused}
        ):
            yield outcome


def _add_missing_resources(findings: Sequence[Finding], container: Container, _path: str) -> Container:
    resources = container.resources or ResourceRequirements()
    sides = {"limits": dict(resources.limits or {}), "requests": dict(resources.requests or {})}
    for finding in findings:
        side, _, name = finding.resource.rpartition(".")
        if finding.path == container.name:
            sides[side or "requests"].setdefault(name, "1m" if name == "cpu" else "1")
    changed = structs.replace(resources, limits=sides["limits"] or None, requests=sides["requests"] or None)
    return structs.replace(container, resources=changed)
