"""A remedy that is printed, played as a change, lets the object in: over every recorded refusal of the API server."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from properties.remedied import applied

from kubectl_kres.admission.base.server import Server
from kubectl_kres.model.kinds import BY_KIND, KINDS
from kubectl_kres.model.objects import ObjectRef, decode_object
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.common.remedy import CreateObject, Remedy
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.simulate.change import Apply, PlacedStep
from kubectl_kres.simulate.cluster import ChangeOutcome, simulate_steps
from kubectl_kres.store.store import READ, Origin, ReadRequest, Store

Raw = dict[str, Any]
RECORDED = Path(__file__).parents[1] / "vectors" / "admission"
SPACE = "ns"
#: The recordings with pods that are refused and can be let in, with the least number of ways that are tried.
FILES = {
    "limitrange-defaults": 4,
    "limitrange-min-max-ratio": 15,
    "limitrange-multiple": 3,
    "quantities": 4,
    "quota-deny": 15,
    "quota-limited": 1,
    "quota-must-specify": 5,
    "quota-scopes": 1,
    "random": 250,
    "warnings": 1,
}


def refused(name: str) -> Iterator[tuple[Mapping[str, Any], list[Raw], Raw, Server]]:
    """The recorded creations of pods that the server refused: the case, what was there, and the pod."""
    file = json.loads((RECORDED / f"{name}.json").read_text())
    for case in file.get("cases", ()):
        request = case["request"]
        if request.get("operation") != "CREATE" or case["expect"].get("allowed", True):
            continue
        item = request["object"]
        if item.get("kind") != "Pod" or not (item.get("metadata") or {}).get("name"):
            continue
        given = case.get("given", ())
        if isinstance(given, str):
            given = file["fixtures"][given]["given"]
        yield case, [placed(one) for one in given], placed(item), Server()


def placed(item: Raw) -> Raw:
    kind = BY_KIND.get(item["kind"])
    space = {"namespace": SPACE} if kind is None or kind.namespaced else {}
    return {**copy.deepcopy(item), "metadata": {**item["metadata"], **space}}


def settled(objects: list[Raw], server: Server) -> list[Raw]:
    """The objects once their quotas were counted."""
    steps = [PlacedStep(Apply(one), one["metadata"].get("namespace", "")) for one in objects]
    outcome = simulate_steps(empty(), steps, server, [SPACE])
    [end, *_] = outcome.after.final_states(SPACE)
    status = {quota.name: {"hard": dict(quota.hard), "used": dict(quota.used)} for quota in end.quotas}
    return [
        {**one, "status": status[one["metadata"]["name"]]} if one["kind"] == "ResourceQuota" else one for one in objects
    ]


def empty() -> Store:
    store = Store(Origin("cluster", "here"))
    for kind in KINDS:
        store.cover(ReadRequest(kind.kind), READ)
    return store


def held(objects: list[Raw]) -> Store:
    store = empty()
    for raw in objects:
        running = {**raw, "status": {"phase": "Running"}} if raw["kind"] == "Pod" else raw
        store.add(raw["kind"], decode_object(running, BY_KIND[raw["kind"]].detail))
    return store


def after(remedy: Remedy, given: list[Raw], pod: Raw, server: Server) -> ChangeOutcome:
    """The change that a remedy and the pod make."""
    edits = [edit for edit in remedy.edits if not isinstance(edit, CreateObject)]
    *policies, sent = applied(edits, [*given, pod])
    created = [placed(dict(edit.manifest)) for edit in remedy.edits if isinstance(edit, CreateObject)]
    before = {json.dumps(one, sort_keys=True) for one in given}
    changed = [one for one in policies if json.dumps(one, sort_keys=True) not in before]
    steps = [PlacedStep(Apply(one), one["metadata"].get("namespace", "")) for one in (*created, *changed, sent)]
    return simulate_steps(held(given), steps, server, [SPACE])


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", sorted(FILES))
def test_a_remedy_that_is_simulated_lets_the_pod_in(name: str):
    wrong, tried = [], 0
    for case, given, pod, server in refused(name):
        try:
            there = settled(given, server)
            subject = Subject(ObjectRef("Pod", pod["metadata"]["name"], SPACE), BY_KIND["Pod"], pod, "pod.yaml")
            remedies = explain(held(there), subject, EvaluationOptions(server)).fixes
        except msgspec.ValidationError:
            continue
        for remedy in remedies:
            if not remedy.edits or remedy.admits is None or remedy.admits.pods < remedy.admits.wanted:
                continue
            tried += 1
            outcome = after(remedy, there, pod, server)
            answers = [answer.message for sent in outcome.sent for answer in sent.answers if not answer.allowed]
            if answers:
                wrong.append((case.get("name", case.get("id")), sentence_text(remedy.text), answers[:1]))
    assert not wrong, (len(wrong), wrong[:5])
    assert tried >= FILES[name]


def test_without_its_edits_the_pod_is_refused_as_it_was_recorded():
    for _, given, pod, server in refused("quota-deny"):
        outcome = after(Remedy("nothing"), settled(given, server), pod, server)
        answers = [answer.allowed for sent in outcome.sent for answer in sent.answers]
        assert not all(answers)
