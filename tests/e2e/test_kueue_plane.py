"""The real Kueue beside what is computed: what it says of each Job, and each fix that is printed, carried out.

KRES_KUEUE: how many generated worlds, 40 without it; KRES_SEED: the first seed.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import build
import kueue_manager
import pytest
from conformance.kueue import charge_fault, preempts, verdict_fault, world_of
from controlplane import ControlPlane
from e2e.conftest import STILL, WORKLOADS
from e2e.kueue_worlds import World, made
from e2e.plugin import environment
from kueue.recorded import store_of
from properties.remedied import put

from kubectl_kres.admission.base.field_path import FieldPath
from kubectl_kres.kueue import model
from kubectl_kres.kueue.rules.world import holds_quota, is_pending
from kubectl_kres.kueue.text.causes import SHORT
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.text.sentences import in_words
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.reports.common.system import turn_of
from kubectl_kres.store.store import Store

WORLDS, SEED = int(os.environ.get("KRES_KUEUE", "40")), int(os.environ.get("KRES_SEED", "1"))
#: Kinds that are read, cluster-wide.
READ = (*(kind.kind for kind in model.KINDS), "Namespace", "LimitRange", "ResourceQuota", "Job")
#: Seconds without a change after which Kueue has said all, and at most.
STILL_FOR, MOST = 5.0, 180.0
ADMITTED, TOO = "it is admitted then", "it waits there, too: "


class Trial(NamedTuple):
    """A fix of a Job, in the copy of its world in which it is carried out."""

    world: World
    job: str
    number: int


class Kueue:
    """The server with Kueue, and what is sent to it."""

    def __init__(self, plane: ControlPlane, kubectl: Path, env: dict[str, str]) -> None:
        self.plane, self.kubectl, self.env = plane, kubectl, env

    def create(self, raw: dict[str, Any]) -> None:
        kind = BY_KIND[raw["kind"]]
        status, answer = self.plane.request("POST", kind.path(raw["metadata"].get("namespace", "")), raw)
        assert status == 201, answer

    def create_all(self, worlds: list[World]) -> None:
        """The worlds beside each other; Jobs a second apart, so that the order of their creation is known."""
        for world in worlds:
            for raw in world.objects:
                self.create(raw)
        for turn in range(max((len(world.jobs) for world in worlds), default=0)):
            time.sleep(1.1)
            for world in worlds:
                if turn < len(world.jobs):
                    self.create(world.jobs[turn])
        self.settle()

    def objects(self) -> list[dict[str, Any]]:
        found = []
        for name in READ:
            kind = BY_KIND[name]
            _, answer = self.plane.request("GET", kind.path())
            found += [{**raw, "kind": name, "apiVersion": kind.api_version} for raw in answer["items"]]
        return found

    def settle(self) -> None:
        """Until nothing changes but what Kueue says of a head again and again."""
        began = since = time.monotonic()
        seen: object = None
        while time.monotonic() - since < STILL_FOR and time.monotonic() - began < MOST:
            _, answer = self.plane.request("GET", BY_KIND[model.WORKLOAD].path())
            found = [_standing(raw) for raw in answer["items"]]
            if found != seen:
                seen, since = found, time.monotonic()
            time.sleep(0.5)

    def run(self, command: str) -> None:
        done = subprocess.run(
            [str(self.kubectl), *shlex.split(command)[1:]], env=self.env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"


def _standing(raw: dict[str, Any]) -> tuple[Any, ...]:
    status = raw.get("status", {})
    told = [(each["type"], each["status"], each["reason"]) for each in status.get("conditions", ())]
    return raw["metadata"]["uid"], told, status.get("admission"), raw["metadata"]["generation"]


@pytest.fixture(scope="module")
def kueue(assets: Path, kubectl: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kueue]:
    """A control plane with the real Kueue."""
    folder = tmp_path_factory.mktemp("kueue")
    with ControlPlane(assets, controllers=WORKLOADS, controller_args=STILL) as plane:
        kueue_manager.start(plane, build.kueue())
        yield Kueue(plane, kubectl, environment(plane.kubeconfig, kubectl, folder))


def of_world(objects: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """The state of one world, as recordings have it."""
    own = [
        raw
        for raw in objects
        if raw["metadata"].get("namespace", raw["metadata"]["name"]) == name
        or (not raw["metadata"].get("namespace") and raw["metadata"]["name"].startswith(f"{name}-"))
    ]
    return {"objects": own, "events": []}


def faults(state: dict[str, Any]) -> Iterator[str]:
    """In what Kueue's answers differ from what is computed."""
    world = world_of(state)
    for workload in world.workloads.values():
        fault = ""
        if holds_quota(workload):
            fault = charge_fault(world, workload)
        elif is_pending(workload):
            answer = world.answer(workload)
            fault = verdict_fault(answer, workload, (), reasons=False)
            if "more needed" in fault and answer.cause == "WaitingForQuota":
                # Who is set aside is not told that others took more meanwhile.
                fault = ""
        if fault:
            yield f"{workload.metadata.namespace}/{workload.metadata.name}: {fault}"
    waits = world.next_admission()
    if waits is not None and not preempts(world):
        yield f"{waits[0].metadata.namespace}/{waits[0].metadata.name} fits and waits"


def fixes(store: Store, space: str, job: str) -> tuple[Remedy, ...]:
    turn = turn_of(store, Subject(ObjectRef("Job", job, space), BY_KIND["Job"]))
    return tuple(map(in_words, turn.fixes)) if turn is not None and turn.state is not None else ()


def carried_out(kueue: Kueue, trial: Trial, remedy: Remedy) -> bool:
    """Carry out a fix: its commands, else its edits of a Job, which is suspended; whether there was anything to do."""
    if remedy.commands:
        for command in remedy.commands:
            kueue.run(command)
        return True
    edits = [edit for edit in remedy.edits if edit.object.kind == "Job"]
    if edits:
        name = edits[0].object.name
        _, raw = kueue.plane.request("GET", BY_KIND["Job"].path(trial.world.name, name))
        for edit in edits:
            put(raw, FieldPath.parse(edit.field), edit.to)
        status, answer = kueue.plane.request("PUT", BY_KIND["Job"].path(trial.world.name, name), raw)
        assert status == 200, answer
        return True
    by_hand: dict[str, Callable[[], None]] = {
        f"create LocalQueue maim in namespace {trial.world.name}": lambda: kueue.create({
            "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue",
            "metadata": {"name": "maim", "namespace": trial.world.name},
            "spec": {"clusterQueue": f"{trial.world.name}-main"},
        }),
        f"create WorkloadPriorityClass {trial.world.name}-urgent": lambda: kueue.create({
            "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass",
            "metadata": {"name": f"{trial.world.name}-urgent"}, "value": 5,
        }),
    }  # fmt: skip
    make = by_hand.get(remedy.text.partition(";")[0].partition(",")[0])
    if make is not None:
        make()
    return make is not None


def outcome(objects: list[dict[str, Any]], trial: Trial, remedy: Remedy) -> str:
    """In what the outcome of a fix differs from what it promised; empty: in nothing."""
    state = of_world(objects, trial.world.name)
    world = world_of(state)
    head = re.match(r"for Job/(\w+), which is first: ", remedy.text)
    job = head[1] if head else trial.job
    own = [
        each
        for each in world.workloads.values()
        if any(owner.name == job for owner in each.metadata.owner_references or ())
    ]
    if not own:
        return f"{remedy.text}: there is no Workload"
    told = model.condition_of(own[0].status.conditions, model.RESERVED)
    says = told.message if told is not None else "nothing"
    if remedy.text.endswith((ADMITTED, f"{ADMITTED}, with those before it")):
        return "" if holds_quota(own[0]) else f"{remedy.text}: Kueue says {says}"
    if TOO in remedy.text:
        cause = "admitted" if holds_quota(own[0]) else world.answer(own[0]).cause
        return "" if SHORT.get(cause) == remedy.text.partition(TOO)[2] else f"{remedy.text}: Kueue says {says}"
    if remedy.text.endswith("it waits its turn then"):
        turn = holds_quota(own[0]) or world.answer(own[0]).cause in {"WaitingForQuota", "behind"}
        return "" if turn else f"{remedy.text}: Kueue says {says}"
    return ""


def test_kueue_says_what_is_computed_and_every_fix_does_what_it_promises(kueue: Kueue):
    worlds = [made(SEED + number, f"w{SEED + number}") for number in range(WORLDS)]
    kueue.create_all(worlds)
    objects = kueue.objects()
    found = [fault for world in worlds for fault in faults(of_world(objects, world.name))]
    trials = []
    for number, world in enumerate(worlds):
        store = store_of(of_world(objects, world.name))
        for job in (raw["metadata"]["name"] for raw in world.jobs):
            names = [f"{world.name}{job[0]}{index}" for index in range(len(fixes(store, world.name, job)))]
            trials += [Trial(made(SEED + number, name), job, index) for index, name in enumerate(names)]
    kueue.create_all([trial.world for trial in trials])
    objects = kueue.objects()
    done: list[tuple[Trial, Remedy]] = []
    count: Counter[str] = Counter()
    for trial in trials:
        again = fixes(store_of(of_world(objects, trial.world.name)), trial.world.name, trial.job)
        if trial.number >= len(again):
            count["another course"] += 1
        elif carried_out(kueue, trial, again[trial.number]):
            done.append((trial, again[trial.number]))
        else:
            count["by hand"] += 1
    kueue.settle()
    objects = kueue.objects()
    for trial, remedy in done:
        fault = outcome(objects, trial, remedy)
        count["kept" if not fault else "not kept"] += 1
        found += [f"{trial.world.name}/{trial.job}: {fault}"] if fault else []
    print(f"{len(worlds)} worlds, {len(trials)} fixes: {dict(count)}")
    assert not found, "\n".join(["", *found])
    assert count["kept"] >= WORLDS // 2
