"""How a change recorded with the workload and quota controllers is put to ``kubectl_kres.simulate``."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from conformance.compare import Loose, Path, faults
from conformance.namespace import ACCOUNT

from kubectl_kres.admission.base.server import Server
from kubectl_kres.simulate.change import Apply, Delete, Patch, ScaleStep, Step, WaitForControllers
from kubectl_kres.simulate.final_states import FinalState, FinalWorkload
from kubectl_kres.simulate.moves import Kubelet
from kubectl_kres.simulate.requests import StepAnswer
from kubectl_kres.simulate.simulation import NamespaceSimulation
from kubectl_kres.simulate.state import World

Data = Mapping[str, Any]

COMPARED = ("requests", "workloads", "quotas", "claims", "before")

NOT_COMPARED: dict[str, str] = {}

#: What came before is the same for every end, and stands with the first.
OPTIONAL = ("before",)

#: What stands in every recorded cluster.
CLUSTER = (
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000},
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "low"}, "value": 10},
    {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "gold"},
     "allowVolumeExpansion": True},
    {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "bronze"}},
    ACCOUNT,
)  # fmt: skip

#: At most so many texts of one end, where several quotas refuse.
_MOST_TEXTS = 64
_EVENTS = (
    "Error creating: {}",
    "Create Pod {name} in StatefulSet {owner} failed error: {}",
    "Create Claim {name} for Pod {pod} in StatefulSet {owner} failed error: {}",
    'Failed to create new replica set "{owner}-*": {}',
)


def play(case: Data, file: Data) -> list[dict[str, Any]]:
    """Every end of the change, in the shape of ``expect``, with the state before it."""
    version = re.match(r"v?(\d+)\.(\d+)", file["server"]["version"]).groups()
    server = Server(version=(int(version[0]), int(version[1])))
    given: list[Step] = []
    for item in case["given"]:
        given += [Apply(item), WaitForControllers()]
    steps = [step_of(item) for item in case["change"]]
    world = World.from_objects(CLUSTER)
    namespace = NamespaceSimulation(server, world, [*given, *steps])
    jobs = case.get("jobs", "run")
    before = namespace.after([namespace.empty(world)], given, Kubelet(), between=False)
    starts = [state for state in before.states if _is_before(case, namespace.describe_final_state(state))]
    if not starts:
        return [
            {**shown, "before": _before(namespace.describe_final_state(state))}
            for state in before.states
            for shown in [{}]
        ]
    kubelet = Kubelet(ready=case.get("kubelet") != "given only", jobs=jobs)
    # The recorder's wait was seen to end before the controllers were done: each step may overtake them.
    found = namespace.after(starts, steps, kubelet, between=True)
    shown = (_shown(namespace.describe_final_state(state)) for state in found.states)
    return [{**end, "before": case["before"]} for ends in shown for end in ends]


def required(_case: Data, _file: Data) -> bool:
    """All of them."""
    return True


def loose(_case: Data, _file: Data) -> Loose:
    """Quotas are compared by amount."""

    def of_quota(path: Path) -> bool:
        return "quotas" in path

    return of_quota


def answers(case: Data) -> list[Data]:
    """The recorded ends but those that hold a stale count; what arbitrary order wrote is sorted."""
    variants = [one["expect"] for one in case.get("variants", ()) if not one.get("stale")]
    ends = [_sorted(end) for end in (case["expect"], *variants)]
    if "before" in case:
        ends[0]["before"] = case["before"]
    return ends


def step_of(item: Data) -> Step:
    """A step of a recorded or generated change."""
    if "apply" in item:
        return Apply(item["apply"])
    if "delete" in item:
        return Delete(item["delete"]["kind"], item["delete"]["name"])
    if "scale" in item:
        return ScaleStep(item["scale"]["kind"], item["scale"]["name"], item["scale"]["replicas"])
    if "set" in item:
        return Patch(item["set"]["kind"], item["set"]["name"], item["set"]["patch"])
    return WaitForControllers()


def _sorted(end: Data) -> dict[str, Any]:
    """An end with lists in one order, and with the events that were not heard but could have been."""
    workloads = {}
    for name, workload in end["workloads"].items():
        refusals = sorted(map(_ordered, workload["refusals"]))
        heard = [text for text in workload.get("events", ()) if not _is_event(text, workload["refusals"])]
        shown = {**workload, "refusals": refusals, "unexplained": heard, "stored": _by_text(workload["stored"])}
        shown.pop("events", None)
        workloads[name] = shown
    requests = [
        {**answer, "message": _ordered(answer["message"])} if "message" in answer else answer
        for answer in end["requests"]
    ]
    return {**end, "requests": requests, "workloads": workloads, "claims": end.get("claims", [])}


def _is_event(text: str, refusals: Sequence[str]) -> bool:
    """Whether an event is one of those that carry a refusal."""
    for pattern in _EVENTS:
        head, _, tail = pattern.partition("{}")
        shape = re.sub(r"\\\{\w+\\\}", r"\\S+", re.escape(head))
        for refusal in refusals:
            if re.fullmatch(f"{shape}{re.escape(refusal)}{re.escape(tail)}", text):
                return True
    return False


def _by_text(stored: Sequence[Data]) -> list[Data]:
    return sorted(stored, key=lambda item: repr(sorted(item.items(), key=lambda pair: pair[0])))


def _is_before(case: Data, end: FinalState) -> bool:
    return "before" not in case or not faults(
        [{"before": case["before"]}], [{"before": _before(end)}], ("before",), complete=False, loose=loose(case, case)
    )


def _before(end: FinalState) -> dict[str, Any]:
    shown = next(_shown(end, refusals=False))
    found = {"workloads": shown["workloads"], "quotas": shown["quotas"]}
    for workload in found["workloads"].values():
        del workload["unexplained"]
    return {**found, **({"claims": shown["claims"]} if shown["claims"] else {})}


def _shown(end: FinalState, *, refusals: bool = True) -> Iterator[dict[str, Any]]:
    """An end in the shape of ``expect``, once for each choice of texts where any of several can come."""
    choices = [
        tuple(itertools.product(*(refused.messages for refused in workload.refused))) if refusals else ((),)
        for workload in end.workloads
    ]
    for texts in itertools.islice(itertools.product(*choices), _MOST_TEXTS):
        workloads = {
            f"{workload.kind}/{workload.name}": _workload(workload, sorted(set(map(_ordered, said))))
            for workload, said in zip(end.workloads, texts, strict=True)
        }
        yield {
            "requests": [_answer(answer) for answer in end.answers],
            "workloads": workloads,
            "quotas": {quota.name: {"hard": dict(quota.hard), "used": dict(quota.used)} for quota in end.quotas},
            "claims": sorted(end.claims),
        }


def _answer(answer: StepAnswer) -> dict[str, Any]:
    shown: dict[str, Any] = {"allowed": answer.allowed, "code": answer.code}
    if answer.message:
        shown["message"] = _ordered(answer.message)
    return {**shown, **({"warnings": list(answer.warnings)} if answer.warnings else {})}


def _ordered(message: str) -> str:
    """A bracketed list has no order: its parts are sorted, here and in what was recorded."""
    match = re.fullmatch(r"(.*? is (?:forbidden|invalid): )\[(.*)\]", message)
    return f"{match[1]}[{', '.join(sorted(match[2].split(', ')))}]" if match else message


def _workload(end: FinalWorkload, texts: Sequence[str]) -> dict[str, Any]:
    shown: dict[str, Any] = {"wanted": end.wanted, "pods": end.pods, "ready": end.ready}
    if end.kind == "Deployment":
        newest = [end.newest.wanted, end.newest.pods] if end.newest is not None else None
        shown |= {"updated": end.updated, "sets": {"new": newest, "old": [[one.wanted, one.pods] for one in end.older]}}
    if end.kind == "StatefulSet":
        shown |= {"updated": end.updated, "names": list(end.names), "updatedNames": list(end.updated_names)}
    if end.kind == "Job":
        shown |= {"succeeded": end.succeeded, "failed": end.failed, "conditions": list(end.conditions)}
    stored = _by_text([{"pods": number, **pod} for number, pod in end.stored])
    return {**shown, "stored": stored, "refusals": list(texts), "unexplained": []}
