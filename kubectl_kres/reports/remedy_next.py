"""What refuses a pod once it states what a quota wants stated: it may then be in the scope of another quota."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import structs

from kubectl_kres.admission import qos
from kubectl_kres.admission.outcome import Finding, Outcome
from kubectl_kres.admission.pods import admit
from kubectl_kres.model.pod import Container, Pod, ResourceRequirements
from kubectl_kres.reports.analysis import Analysis

_RULE = "quota/must-specify"


def following(analysis: Analysis) -> Iterator[Outcome]:
    """The refusals of quotas that a pod without any request or limit comes under by obeying another quota.

    What it would state is taken as small: how much there is room for is for the next answer.
    """
    outcomes = analysis.outcomes
    findings = [one for outcome in outcomes if outcome.refusal for one in outcome.refusal.findings]
    first = outcomes[0].draft
    if not findings or first is None or any(one.rule != _RULE for one in findings):
        return
    if qos.class_of(first) != "BestEffort":
        return
    known = {(one.path, one.resource) for one in findings}
    for outcome in admit(_stating(analysis.start.pod, findings), analysis.known.policies, analysis.server):
        refused = outcome.refusal.findings if outcome.refusal else ()
        if (
            refused
            and all(one.rule == _RULE for one in refused)
            and not known & {(o.path, o.resource) for o in refused}
        ):
            yield outcome


def _stating(pod: Pod, findings: Sequence[Finding]) -> Pod:
    spec = pod.spec
    return structs.replace(
        pod,
        spec=structs.replace(
            spec,
            containers=tuple(_container(one, findings) for one in spec.containers or ()),
            init_containers=tuple(_container(one, findings) for one in spec.init_containers or ()),
        ),
    )


def _container(container: Container, findings: Sequence[Finding]) -> Container:
    resources = container.resources or ResourceRequirements()
    sides = {"limits": dict(resources.limits or {}), "requests": dict(resources.requests or {})}
    for finding in findings:
        side, _, name = finding.resource.rpartition(".")
        if finding.path == container.name:
            sides[side or "requests"].setdefault(name, "1m" if name == "cpu" else "1")
    changed = structs.replace(resources, limits=sides["limits"] or None, requests=sides["requests"] or None)
    return structs.replace(container, resources=changed)
