"""What was recorded of Capsule's controllers, played as steps of a change: the same answers, the same end."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from conformance import capsule
from conformance.compare import faults
from conformance.pools import PARTS, flat, state

from kubectl_kres.admission.base.server import Server
from kubectl_kres.simulate.change import Apply, Delete, Patch, PlacedStep, Step, WaitForControllers
from kubectl_kres.simulate.cluster import simulate_steps
from kubectl_kres.store.store import Origin, Store

Raw = dict[str, Any]
RECORDED = Path(__file__).parents[1] / "vectors" / "capsule"
FILES = sorted(path.stem for path in RECORDED.glob("*.json"))
#: A number that nobody gives an object of a file, and what is told of the order in which objects came.
COMPARED = ("rejected", *(part for part in PARTS if part != "pools.generation"))


def cases(name: str) -> Iterator[Raw]:
    """Those that may end in one way, and are about what files hold: pods come from workloads here."""
    for case in json.loads((RECORDED / f"{name}.json").read_text())["cases"]:
        about = [step.get("object", {}).get("kind") for step in case["steps"]]
        if case.get("deterministic") is not False and "Pod" not in about and not case["given"].get("pods"):
            yield case


def created(item: Raw, kind: str) -> Raw:
    """The object as it was sent, with the time and the UID that the server gave it."""
    sent, metadata = item.get("sent") or {}, item["metadata"]
    space = f"{metadata['namespace']}/" if "namespace" in metadata else ""
    own = {key: metadata[key] for key in ("name", "namespace", "creationTimestamp") if key in metadata}
    own["uid"] = f"uid:{kind}/{space}{metadata['name']}"
    if not sent:
        own = {**metadata, **own}
    version = {"apiVersion": "v1"} if kind == "Namespace" else {"apiVersion": item["apiVersion"]}
    spec = {"spec": sent.get("spec", item.get("spec"))} if kind != "Namespace" else {}
    return {**version, "kind": kind, "metadata": {**sent.get("metadata", {}), **own}, **spec}


def step_of(step: Mapping[str, Any]) -> PlacedStep:
    if step["do"] == "wait":
        return PlacedStep(WaitForControllers())
    item = step["object"]
    kind, metadata = item.get("kind", "Namespace"), item["metadata"]
    found: Step
    if step["do"] == "create":
        found = Apply(created({**item, "sent": step.get("sent")}, kind))
    elif step["do"] == "delete":
        found = Delete(kind, metadata["name"])
    else:
        patch = {key: value for key, value in item.items() if key not in {"kind", "apiVersion"}}
        found = Patch(kind, metadata["name"], patch)
    return PlacedStep(found, metadata.get("namespace", ""))


def played(case: Raw) -> Raw:
    """The end of the change in the shape of a recorded answer."""
    steps: list[PlacedStep] = []
    names: list[Any] = []
    for group, kind in (("namespaces", "Namespace"), ("pools", "ResourcePool"), ("claims", "ResourcePoolClaim")):
        for index, item in enumerate(case["given"].get(group, ())):
            steps.append(PlacedStep(Apply(created(item, kind)), item["metadata"].get("namespace", "")))
            names.append({"given": group, "index": index})
    steps += map(step_of, case["steps"])
    names += range(len(case["steps"]))
    outcome = simulate_steps(Store(Origin("cluster", "here")), steps, Server(), ())
    # What the webhook only takes off again is told as not allowed, with the server's 200.
    refused = {
        sent.number - 1: answer for sent in outcome.sent for answer in sent.answers if answer.code >= 400
    }  # fmt: skip
    rejected = [{"step": names[at], "code": one.code, "message": one.message} for at, one in refused.items()]
    made = [one.step for at, one in enumerate(steps) if at not in refused]
    uids = [step.object["metadata"]["uid"] for step in made if isinstance(step, Apply)]
    return {"rejected": rejected, **flat(state(outcome.after.worlds["capsule"], uids))}


@pytest.mark.parametrize("name", FILES)
def test_the_recorded_end_is_that_of_the_change(name: str):
    wrong, tried = [], 0
    for case in cases(name):
        tried += 1
        expected = [
            {**answer, "rejected": [{k: v for k, v in one.items() if k != "reason"} for one in answer["rejected"]]}
            for answer in capsule.answers(case)
        ]
        told = faults(expected, [played(case)], COMPARED, complete=False, loose=capsule.loose(case, case))
        wrong += [(case["name"], told[:2])] if told else []
    assert tried
    assert not wrong, (len(wrong), wrong[:3])
