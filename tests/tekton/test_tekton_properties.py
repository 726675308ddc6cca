"""What holds for every TaskRun: division gains nothing, present values stay, the journal tells the whole story."""

from __future__ import annotations

from typing import Any

import msgspec
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from tekton.made import config, limit_range, resources, results, step, taskrun, world

from kubectl_kres.provenance.journal import Assumption, replay
from kubectl_kres.provenance.rules import RULES
from kubectl_kres.quantity import parse
from kubectl_kres.tekton.model import TaskRun
from kubectl_kres.tekton.rules.controller.taskrun import RunResult

FEW = examples(80)

TEXTS = {
    "cpu": st.sampled_from(["0", "1m", "0.5", "2", "1e0", "100m"]),
    "memory": st.sampled_from(["0", "1", "64Mi", "1.5Gi", "1k", "100M"]),
    "ephemeral-storage": st.sampled_from(["1Gi", "10"]),
    "nvidia.com/gpu": st.sampled_from(["1", "4"]),
}
LISTS = st.fixed_dictionaries({}, optional=TEXTS)
VALUES = st.builds(resources, LISTS, LISTS)
STEPS = st.lists(st.builds(step, st.just(""), LISTS, LISTS), min_size=1, max_size=4).map(
    lambda steps: [{**one, "name": f"s{index}"} for index, one in enumerate(steps)]
)
SIDECARS = st.lists(st.builds(step, st.just("db"), LISTS, LISTS), max_size=1)
ENTRIES = st.dictionaries(
    st.sampled_from(["default", "prefix-step", "prefix-sidecar", "prepare", "step-s0", "prefix-step-s1"]),
    st.fixed_dictionaries({}, optional={"requests": LISTS, "limits": LISTS}),
    max_size=3,
)
RANGES = st.lists(
    st.fixed_dictionaries({}, optional=dict.fromkeys(("defaultRequest", "min", "default"), LISTS)), max_size=2
).map(lambda items: [limit_range(f"l{index}", **item) for index, item in enumerate(items)])


@st.composite
def runs(draw: st.DrawFn) -> TaskRun:
    spec: dict[str, Any] = {}
    if draw(st.booleans()):
        spec["computeResources"] = draw(VALUES)
    elif draw(st.booleans()):
        spec["stepSpecs"] = [{"name": "s0", "computeResources": draw(VALUES)}]
    template = {"computeResources": draw(VALUES)} if draw(st.booleans()) else None
    return taskrun(draw(STEPS), sidecars=draw(SIDECARS), template=template, **spec)


def values(one: RunResult) -> dict[str, str]:
    """What Tekton submits, by path."""
    assert one.submitted is not None
    spec = one.submitted.spec
    return {
        f"spec.{group}[{index}].resources.{side}[{name}]": text
        for group, containers in (("initContainers", spec.init_containers), ("containers", spec.containers))
        for index, held in enumerate(containers or ())
        if held.resources is not None
        for side, amounts in (("limits", held.resources.limits), ("requests", held.resources.requests))
        for name, text in (amounts or {}).items()
    }


@FEW
@given(runs(), RANGES, ENTRIES)
def test_replaying_the_journal_gives_the_pod(run, ranges, entries):
    for one in results(run, world(*ranges, settings=config(entries))):
        if one.built_pod is None:
            continue
        assert replay({}, one.built_pod.journal) == values(one)
        assert {entry.rule for entry in one.journal if not isinstance(entry, Assumption)} <= set(RULES)
        if one.outcome is not None and one.outcome.allowed:
            kept = {path: str(quantity) for path, quantity in one.outcome.draft.values().items()}
            told = replay({}, one.journal)
            assert {path: told[path] for path in kept} == kept


@FEW
@given(runs(), RANGES, ENTRIES, RANGES)
def test_a_limit_range_changes_no_present_value(run, before, entries, more):
    settled = config(entries)
    renamed = [msgspec.structs.replace(one, metadata=msgspec.structs.replace(one.metadata, name=f"m{index}"))
               for index, one in enumerate(more)]  # fmt: skip
    plain = [values(one) for one in results(run, world(settings=settled)) if one.built_pod is not None]
    for one in results(run, world(*before, *renamed, settings=settled)):
        if one.built_pod is None:
            continue
        found = values(one)
        assert any(all(found.get(path) == text for path, text in held.items() if parse(text)) for held in plain)
        added = {path for held in plain for path in found if path not in held}
        assert not any(".limits[" in path for path in added)


@FEW
@given(STEPS, VALUES)
def test_shares_never_add_up_to_more_than_the_whole(steps, whole):
    run = taskrun([{"name": one["name"]} for one in steps], computeResources=whole)
    (one,) = {id(found.built_pod): found for found in results(run)}.values()
    asked = whole.get("requests") or whole.get("limits") or {}
    found = values(one)
    for name, text in asked.items():
        parts = [parse(found[f"spec.containers[{index}].resources.requests[{name}]"]) for index in range(len(steps))]
        total = sum(part.nano for part in parts)
        assert total <= parse(text).round_up().nano
        unit = 10**9 if name in {"memory", "ephemeral-storage"} else 10**6
        assert parse(text).nano - total < len(steps) * unit
