"""The pod's effective figures and its QoS class, against definitions written down another way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st
from properties.generated import CPU, FEW, MEMORY, pod, pods, policies, requirements

from kubectl_kres.admission.base.draft import SIDES, Draft, draft_pod
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.pod import aggregate as qos
from kubectl_kres.admission.pod.aggregate import explain_total, sum_pod
from kubectl_kres.admission.request.new_pod import admit
from kubectl_kres.quantity import Quantity, parse, stored_quantity

Raw = Mapping[str, Any]


def drafts(raw: Raw, held: Any) -> Iterator[Draft]:
    yield from (outcome.draft for outcome in admit(pod(raw), held, Server()) if outcome.draft is not None)


def amounts(values: Mapping[str, Quantity]) -> dict[str, int]:
    return {name: quantity.nano for name, quantity in values.items()}


@FEW
@given(pods(), policies())
def test_every_total_recomputes_from_the_terms_that_are_kept(raw, held):
    for draft in drafts(raw, held):
        for side in SIDES:
            for name, value in sum_pod(draft, side).items():
                of = explain_total(draft, side, name, value)
                assert parse(of.value) == value
                assert sum(parse(term.value).nano for term in of.terms if term.kept) == value.nano, of
                event(of.rule)


def timeline(draft: Draft, side: str) -> Iterator[dict[str, int]]:
    """What runs at each moment of the pod's life, added up: each init step with the sidecars so far, then the rest."""
    started: list[dict[str, int]] = []
    for slot in draft.inits:
        own = amounts(slot.amounts_of(side))
        if slot.role == "sidecar":
            started.append(own)
            yield added(started)
        else:
            yield added([*started, own])
    yield added([*started, *(amounts(slot.amounts_of(side)) for slot in draft.containers)])


def added(parts: list[dict[str, int]]) -> dict[str, int]:
    return {name: sum(part.get(name, 0) for part in parts) for part in parts for name in part}


@FEW
@given(pods(), policies())
def test_the_effective_figure_is_the_highest_moment(raw, held):
    for draft in drafts(raw, held):
        for side in SIDES:
            moments = list(timeline(draft, side))
            most = {name: max(moment.get(name, 0) for moment in moments) for moment in moments for name in moment}
            if draft.pod is not None:
                kept = {"cpu", "memory", "hugepages-2Mi"}
                most |= {name: q.nano for name, q in draft.pod.amounts_of(side).items() if name in kept}
            for name, quantity in draft.overhead.items():
                if side == "requests" or most.get(name):
                    most[name] = most.get(name, 0) + quantity.nano
            assert amounts(sum_pod(draft, side)) == most


@FEW
@given(pods(level=False), st.data())
def test_the_effective_request_never_falls_when_a_container_asks_for_more(raw, data):
    draft = draft_pod(pod(raw), Server())
    more = draft.copy()
    slot = data.draw(st.sampled_from([*more.containers, *more.inits]))
    name, texts = data.draw(st.sampled_from([("cpu", CPU), ("memory", MEMORY)]))
    extra = parse(data.draw(st.sampled_from(texts)))
    slot.requests[name] = slot.requests[name] + extra if name in slot.requests else extra
    before, after = amounts(sum_pod(draft, "requests")), amounts(sum_pod(more, "requests"))
    for resource, amount in before.items():
        assert after[resource] >= amount
    assert after[name] - before.get(name, 0) <= extra.nano


def positive(requirement: Raw | None, side: str) -> dict[str, Fraction]:
    """cpu and memory above zero."""
    values = ((requirement or {}).get(side) or {}).items()
    found = {name: Fraction(stored_quantity(text).nano) for name, text in values if name in {"cpu", "memory"}}
    return {name: amount for name, amount in found.items() if amount > 0}


def class_by_definition(raw: Raw) -> str:
    """From the stored pod: of the pod level where it says anything, else of all containers and init containers."""
    spec = raw["spec"]
    level = spec.get("resources") or {}
    parts = [level] if any(level.get(side) for side in SIDES) else []
    if not parts:
        parts = [one.get("resources") for key in ("containers", "initContainers") for one in spec.get(key) or ()]
    if not any(positive(part, side) for part in parts for side in SIDES):
        return "BestEffort"
    all_limited = all(positive(part, "limits").keys() == {"cpu", "memory"} for part in parts)
    # From 1.37 on those of each container are compared, before it was their sums.
    agree = all(positive(part, "limits") == positive(part, "requests") for part in parts)
    return "Guaranteed" if all_limited and agree else "Burstable"


@FEW
@given(pods(rare=False), policies(quota=0))
def test_the_class_is_the_one_of_the_definition(raw, held):
    for outcome in admit(pod(raw), held, Server()):
        if outcome.object is not None:
            # What is read back can show pod-level requests that the class never saw.
            shown = outcome.object["status"]["qosClass"]
            lifted = {entry.path for entry in outcome.journal if getattr(entry, "rule", "").startswith("pod-level/")}
            if not lifted:
                assert shown == class_by_definition(outcome.object)
            event(shown)


@FEW
@given(st.lists(st.sampled_from([("1", "1Gi", "1", "1Gi"), ("1", "1Gi", "2", "1Gi"), ("2", "1Gi", "1", "1Gi"),
                                 ("", "1Gi", "1", "1Gi"), ("0", "1Gi", "0", "1Gi"), ("", "", "", "")]),
                min_size=1, max_size=3), st.none() | requirements(rare=False))  # fmt: skip
def test_the_class_of_guaranteed_looking_pods(rows, level):
    """Requests and limits that nearly or fully agree, in each container or only in sum."""
    containers = [
        {
            "name": f"c{index}",
            "resources": {
                "requests": {name: text for name, text in (("cpu", row[0]), ("memory", row[1])) if text},
                "limits": {name: text for name, text in (("cpu", row[2]), ("memory", row[3])) if text},
            },
        }
        for index, row in enumerate(rows)
    ]
    raw = {"metadata": {"name": "p"}, "spec": {"containers": containers}}
    if level is not None:
        raw["spec"]["resources"] = level
    draft = draft_pod(pod(raw), Server())
    told = qos.explain(draft)
    assert told.name == qos.compute_class(draft) == class_by_definition(raw)
    if told.name != "BestEffort":
        assert bool(told.culprits) == (told.name == "Burstable")
    event(told.name)
