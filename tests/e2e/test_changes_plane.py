"""Generated changes on a real API server with its workload and quota controllers: what comes was predicted."""

from __future__ import annotations

import json
import os
import random
import re
import secrets
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import msgspec
import pytest
from conformance.compare import amount
from controlplane import ControlPlane
from e2e.change_families import case, changing_request, hard, made, restarted
from e2e.changing import CLASSES, PATHS, STORAGE, Space, Watching, classes, looks
from e2e.plugin import Kres
from e2e.seed import COUNTS, SEED

from kubectl_kres.admission.base.server import Server
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.simulate.change import Apply, Delete, Patch, PlacedStep, ScaleStep, Step, WaitForControllers
from kubectl_kres.simulate.cluster import simulate_steps
from kubectl_kres.simulate.final_states import FinalState
from kubectl_kres.simulate.live import lean_converters
from kubectl_kres.simulate.moves import Kubelet
from kubectl_kres.simulate.simulation import NamespaceSimulation
from kubectl_kres.simulate.state import World
from kubectl_kres.store.store import Origin, Store

pytestmark = pytest.mark.e2e

#: Changes of a run; a run that looks for new ones (KRES_RANDOM) asks for more: KRES_CASES=200.
COUNT = int(os.environ.get("KRES_CASES") or 9)
#: Namespaces at once: most of the time each waits until nothing moves.
AT_ONCE = 16
#: The quota's controller counts from what it has heard so far, which can be too little while pods come and go, and then
#: the server admits more than the quota allows. Nothing predicts that; no end is held against it.
OVERSHOT = "overshot"
#: There are more orders of moves than were tried, which the answer says.
BEYOND = "beyond"
_CLASSES = [
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}
    for name, value in CLASSES.items()
]
_CLASSES += [
    {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}} for name in STORAGE
]
_OBJECT = re.compile(r"Invalid value: (?:\{.*?\}|\[\{.*?\}\]):(?= [`a-z])")
_FAULT = re.compile(r", (?=spec[.:[]|metadata)")
SERVER = Server(disabled_plugins=frozenset({"ServiceAccount"}))


def _step(item: dict[str, Any]) -> Step:
    if "apply" in item:
        return Apply(item["apply"])
    if "delete" in item:
        return Delete(item["delete"]["kind"], item["delete"]["name"])
    if "scale" in item:
        return ScaleStep(item["scale"]["kind"], item["scale"]["name"], item["scale"]["replicas"])
    if "set" in item:
        return Patch(item["set"]["kind"], item["set"]["name"], item["set"]["patch"])
    return WaitForControllers()


def _shown(end: FinalState) -> dict[str, Any]:
    workloads: dict[str, Any] = {}
    for one in end.workloads:
        stored = [looks({"spec": pod, "status": pod}) for number, pod in one.stored for _ in range(number)]
        shown: dict[str, Any] = {"pods": one.pods, "stored": sorted(stored)}
        if one.kind == "Deployment":
            sets = [*([one.newest] if one.newest is not None else []), *one.older]
            shown["sets"] = sorted([item.wanted, item.pods] for item in sets if item.wanted or item.pods)
            shown["updated"] = one.updated
        if one.kind == "StatefulSet":
            shown |= {"names": sorted(one.names), "updated": sorted(one.updated_names)}
        if one.kind == "Job":
            shown |= {"succeeded": one.succeeded, "failed": one.failed}
        workloads[f"{one.kind}/{one.name}"] = shown
    quotas = {one.name: {"hard": dict(one.hard), "used": dict(one.used)} for one in end.quotas}
    return {"workloads": workloads, "quotas": _numbers(quotas), "claims": list(end.claims)}


def _numbers(quotas: dict[str, Any]) -> dict[str, Any]:
    return {
        name: {side: {key: amount(value) for key, value in values.items()} for side, values in held.items()}
        for name, held in quotas.items()
    }


def _played(watching: Watching, index: int) -> tuple[str, int]:
    """What is wrong with a case, if anything, and how many ends were predicted."""
    family, (given, change, ready, jobs) = case(random.Random(f"{SEED}/changes/{index}"), index)
    space = Space(watching, f"changes-{index}-{secrets.token_hex(3)}")
    for item in given:
        space.send({"apply": item})
        space.settle()
    before, there = space.state(), _read(space)
    watching.jobs[space.name] = jobs
    if not ready:
        watching.unready.add(space.name)
    codes = []
    for step in change:
        if "settle" in step:
            space.settle()
        else:
            codes.append(space.send(step))
    space.settle()
    after, heard = space.state(), space.refusals()
    world = World.from_objects(_CLASSES)
    begun = [step for item in given for step in (Apply(item), WaitForControllers())]
    steps = [_step(item) for item in change]
    namespace = NamespaceSimulation(SERVER, world, [*begun, *steps])
    starts = namespace.after([namespace.empty(world)], begun, Kubelet(), between=True).states
    real = {**before, "quotas": _numbers(before["quotas"])}
    kept = [state for state in starts if _shown(namespace.describe_final_state(state)) == real]
    if not kept:
        return _told(
            f"{family} {index}",
            given,
            [],
            before,
            [_shown(namespace.describe_final_state(state)) for state in starts[:3]],
        ), 0
    reached = namespace.after(kept, steps, Kubelet(ready, jobs), between=True)
    ends = [namespace.describe_final_state(state) for state in reached.states]
    found = {**after, "quotas": _numbers(after["quotas"])}
    fitting = [end for end in ends if _shown(end) == found]
    over = bool(_over(found) - {key for end in ends for key in _over(_shown(end))})
    if not fitting and (over or watching.overshot(space.name)):
        return OVERSHOT, len(ends)
    if not fitting and not reached.complete:
        return BEYOND, len(ends)
    if not fitting:
        return _told(f"{family} {index}", given, change, after, [_shown(end) for end in ends[:3]]), len(ends)
    said = [[_worded(answer.code, answer.message) for answer in end.answers] for end in fitting]
    told = [_worded(code, message) for code, message in codes]
    if told not in said:
        differing = [(real, guess) for real, guess in zip(told, said[0], strict=True) if real != guess]
        return _told(f"{family} {index}", given, change, codes, differing), len(ends)
    texts = [_unheard(end, heard) for end in fitting]
    if all(texts):
        return _told(f"{family} {index}", given, change, heard, texts[:3]), len(ends)
    again = _applied_again(there, space.name, given)
    if again:
        return _told(f"{family} {index} again", given, [], "unchanged", again[:3]), len(ends)
    usual = [_shown(end) for end in ends[: reached.usual]]
    if ready and jobs == "run" and found in usual:
        read = _from_what_was_read(there, space.name, steps)
        if _unowned(found) not in read:
            return _told(f"{family} {index} as read", given, change, _unowned(found), read[:3]), len(ends)
    return "", len(ends)


def _read(space: Space) -> Store:
    """The namespace as the command reads it: no more is kept than a simulation needs."""
    store, kept = Store(Origin("cluster")), lean_converters()
    items = [item for kind in PATHS if kind != "Event" for item in ({"kind": kind, **one} for one in space.items(kind))]
    for raw in (*items, *_CLASSES):
        kind = BY_KIND[raw["kind"]]
        item = msgspec.convert({**raw, "apiVersion": kind.api_version}, kind.struct, strict=False)
        store.add(kind.kind, kept.get(kind.kind, lambda value: value)(item))
    return store


def _from_what_was_read(store: Store, space: str, steps: list[Step]) -> list[dict[str, Any]]:
    """The ends of the same steps from there; of pods that nobody made only those of the steps are known."""
    outcome = simulate_steps(store, [PlacedStep(step, space) for step in steps], SERVER, [space])
    namespace, ends = outcome.after.spaces[space]
    return [_unowned(_shown(namespace.describe_final_state(state))) for state in ends.states[: ends.usual]]


def _applied_again(store: Store, space: str, given: list[dict[str, Any]]) -> list[str]:
    """What is said against the same files once more: nothing, whatever is not kept of what is read."""
    found = []
    for raw in given:
        kind, name = raw["kind"], raw["metadata"]["name"]
        if kind != "Pod" and store.get(kind, name, space) is not None:
            [sent] = simulate_steps(store, [PlacedStep(Apply(raw, kept=True), space)], SERVER, [space]).sent
            found += [f"{kind}/{name}: {answer.message}" for answer in sent.answers if not answer.allowed]
    return found


def _unowned(state: dict[str, Any]) -> dict[str, Any]:
    workloads = {name: shown for name, shown in state["workloads"].items() if not name.startswith("Pod/")}
    return {**state, "workloads": workloads}


def _worded(code: int, message: str) -> tuple[int, list[str]]:
    """An answer without what is not computed: whole objects as Go shows them, what is different in them, and the order
    of several faults.
    """
    text = _OBJECT.sub("Invalid value: {...}:", message.partition("\n@@")[0])
    head, opened, rest = text.partition(": [")
    return code, [head, *sorted(_FAULT.split(rest.removesuffix("]")))] if opened else [text]


def _over(state: dict[str, Any]) -> set[tuple[str, str]]:
    """Quota and resource of what is used beyond its hard."""
    quotas = state["quotas"].items()
    return {
        (name, key) for name, held in quotas for key, hard in held["hard"].items() if held["used"].get(key, 0) > hard
    }


def _unheard(end: FinalState, heard: dict[str, str]) -> list[str]:
    """What the controllers were told last and is not among the texts that were predicted."""
    found = []
    for one in end.workloads:
        text = heard.get(f"{one.kind}/{one.name}")
        predicted = [message for refused in one.refused for message in refused.messages]
        if predicted and text is not None and _faults(text) not in map(_faults, predicted):
            found.append(f"{one.kind}/{one.name}: {text} not in {predicted}")
    return found


def _faults(text: str) -> tuple[str, list[str]]:
    """A sentence and the faults that it lists: the server tells those of several resources in any order."""
    head, opened, rest = text.partition(": [")
    return head, sorted(rest.removesuffix("]").split(", ")) if opened else []


def _told(index: str, given: Any, change: Any, real: Any, predicted: Any) -> str:
    lines = [f"case {index} (KRES_SEED={SEED})", *(f"  given {item}" for item in given)]
    lines += [f"  step {item}" for item in change]
    return "\n".join([*lines, f"  real {real}", *(f"  predicted {item}" for item in predicted)])


def test_what_comes_is_among_what_was_predicted(controlplane: ControlPlane, request: pytest.FixtureRequest) -> None:
    classes(controlplane)
    with closing(Watching(controlplane)) as watching, ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(lambda index: _played(watching, index), range(COUNT)))
    overshot, beyond = (sum(text == word for text, _ in results) for word in (OVERSHOT, BEYOND))
    wrong = [text for text, _ in results if text not in {"", OVERSHOT, BEYOND}]
    several = sum(1 for text, ends in results if not text and ends > 1)
    counts = request.config.stash.setdefault(COUNTS, [])
    met = COUNT - len(wrong) - overshot - beyond
    more = f", {overshot} in which the server let in more than a quota allows" if overshot else ""
    more += f", {beyond} with more orders than are tried" if beyond else ""
    counts.append(f"changes: {COUNT} played, {met} met, {several} with several ends{more}, seed {SEED}")
    if wrong:
        pytest.fail("\n".join([f"{len(wrong)} of {COUNT}", *wrong[:20]]), pytrace=False)
    assert overshot + beyond <= COUNT / 20


def _restarting(watching: Watching, at_once: int, kres: Kres) -> tuple[dict[str, Any], dict[str, int]]:
    """Two Deployments of 100m a pod whose next pods have 200m, and room for one of them to grow: what the command says
    of restarts, by name, and how many new pods there are once so many of them were restarted.
    """
    space = Space(watching, f"rollouts-{at_once}-{secrets.token_hex(3)}")
    rolling = {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}}
    for item in (changing_request("100m"), *(made("Deployment", each, 2, **rolling) for each in "ab")):
        space.send({"apply": item})
    space.settle()
    for item in (changing_request("200m"), hard(requests_cpu="600m")):
        space.send({"apply": item})
    space.settle()
    done = kres("simulate", "-n", space.name, "--rollouts", str(at_once), "-o", "json")
    assert (done.returncode, done.stderr) == (0, "")
    [report] = json.loads(done.stdout)["items"]
    for name in "ab"[:at_once]:
        space.send(restarted("Deployment", name, 1))
    space.settle()
    workloads = space.state()["workloads"]
    told = {item["subject"]["name"]: item["rolloutAfter"] for item in report.get("workloads", ())}
    return told, {name: workloads[f"Deployment/{name}"]["updated"] for name in "ab"[:at_once]}


def test_rollouts_at_once_end_where_the_command_says(controlplane: ControlPlane, kres: Kres) -> None:
    """Each alone completes; of two one ends before all of its pods are new."""
    with closing(Watching(controlplane)) as watching, ThreadPoolExecutor(2) as pool:
        alone, both = pool.map(lambda at_once: _restarting(watching, at_once, kres), (1, 2))
    assert alone == ({}, {"a": 2})
    told, updated = both
    assert set(told) == {"a", "b"}
    assert sum(updated.values()) < 4
    assert all(told[name]["updated"] <= updated[name] <= told[name]["best"] for name in updated)
