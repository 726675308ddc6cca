"""A remedy, done as its sentence says, removes what it is for; and remedies done one after the other come to an end."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import assume, event, given
from hypothesis import strategies as st
from properties.generated import COMMON, FEW, QUANTITIES, pod, pods, policies
from properties.remedied import obey

from kubectl_kres.admission.create import policies_of
from kubectl_kres.admission.outcome import Finding, Outcome
from kubectl_kres.admission.pods import Policies, admit
from kubectl_kres.admission.server import Server
from kubectl_kres.model.policy import LimitRange
from kubectl_kres.quantity import parse
from kubectl_kres.reports.remedy import NOTHING, remedies

Raw = dict[str, Any]
#: Rules whose remedies are sentences that a program can follow.
FOLLOWED = {
    "limitrange/min",
    "limitrange/max",
    "limitrange/ratio",
    "validation/request-over-limit",
    "validation/request-equals-limit",
    "validation/limit-required",
    "pod-level/request-below-containers",
    "pod-level/container-limit",
    "quota/exceeded",
    "quota/must-specify",
}


def told(raw: Raw, held: Policies) -> tuple[tuple[Outcome, ...], tuple[str, ...]]:
    outcomes = admit(pod(raw), held, Server())
    return outcomes, remedies(outcomes, limits=held.limits)


def key(finding: Finding) -> tuple[str, ...]:
    return finding.rule, finding.path, finding.resource, finding.source.name if finding.source else ""


def findings(outcomes: tuple[Outcome, ...]) -> set[tuple[str, ...]]:
    return {key(finding) for outcome in outcomes if outcome.refusal for finding in outcome.refusal.findings}


@FEW
@given(pods(), policies(limits=1))
def test_the_first_remedy_removes_its_finding(raw, held):
    outcomes, texts = told(raw, held)
    first = next((one.refusal for one in outcomes if one.refusal), None)
    assume(first is not None and first.findings[0].rule in FOLLOWED)
    assume("in sum" not in texts[0] or (len(raw["spec"]["containers"]) == 1 and "initContainers" not in raw["spec"]))
    finding = first.findings[0]
    event(finding.rule)
    after, _ = told(*obey(texts[0], raw, held))
    assert key(finding) not in findings(after), texts[0]


@FEW
@given(st.sampled_from(COMMON), st.data())
def test_a_limit_that_a_limit_range_fills_in_is_not_raised_over_its_max(name, data):
    """What validation asks for is not what the LimitRange refuses next."""
    texts = QUANTITIES[name][1:]
    request, most = data.draw(st.sampled_from(texts)), data.draw(st.sampled_from(texts))
    default = data.draw(st.sampled_from([text for text in texts if parse(text) <= parse(most)]))
    item = {"type": "Container", "max": {name: most}, "default": {name: default}, "defaultRequest": {name: default}}
    held = policies_of([msgspec.convert({"metadata": {"name": "cap"}, "spec": {"limits": [item]}}, LimitRange)], [])
    container = {"name": "c0", "resources": {"requests": {name: request}}}
    raw = {"metadata": {"name": "p"}, "spec": {"containers": [container]}}
    outcomes, sentences = told(raw, held)
    if all(one.allowed for one in outcomes):
        assert sentences == (NOTHING,)
        return
    event("a max" if "the max of" in sentences[0] else "a default")
    after, left = told(*obey(sentences[0], raw, held))
    assert left == (NOTHING,) and all(one.allowed for one in after), sentences[0]


@FEW
@given(pods(), policies(limits=2, quota=1))
def test_remedies_come_to_an_end(raw, held):
    # How containers share what they may have in sum is not for a program to choose, unless there is only one.
    alone = len(raw["spec"]["containers"]) == 1 and not {"initContainers", "resources"} & set(raw["spec"])
    assume(alone or not any(item.type == "Pod" for limits in held.limits for item in limits.items))
    for step in range(60):
        outcomes, texts = told(raw, held)
        if texts == (NOTHING,):
            assert all(one.allowed for one in outcomes)
            event(f"{step} steps")
            return
        assert not all(one.allowed for one in outcomes)
        if texts[0].startswith("change a LimitRange: "):
            event("contradictory")
            return
        raw, held = obey(texts[0], raw, held)
    raise AssertionError(texts)
