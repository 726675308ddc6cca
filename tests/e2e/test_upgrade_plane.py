"""What ``simulate --kube-version`` says of generated worlds is the difference between two real servers.

``make test`` compares the newest server with one that emulates the version before, which has all that gates switch.
``KRES_UPGRADES=200`` makes so many worlds; ``KRES_OLDER_ASSETS`` names a folder with binaries of the version before.
"""

from __future__ import annotations

import http.client
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from controlplane import ControlPlane
from e2e.asking import Asking, answer
from e2e.seed import COUNTS, SEED
from e2e.upgrades import World, worlds

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.base.versions import NEWEST
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef, decode_object
from kubectl_kres.reports.changes.upgrade import UpgradeChange, changes_in
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.store.store import READ, Origin, ReadRequest, Store

pytestmark = pytest.mark.e2e

COUNT = int(os.environ.get("KRES_UPGRADES") or 25)
BEFORE = (NEWEST[0], NEWEST[1] - 1)
_DECODER = msgspec.json.Decoder(float_hook=str)


@pytest.fixture(scope="module")
def answers(assets: Path) -> Iterator[tuple[Server, list[dict[str, Any]], list[dict[str, Any]]]]:
    """The server before, and what both servers say of every pod, by world and name; one runs after the other."""
    older = os.environ.get("KRES_OLDER_ASSETS")
    version = f"{BEFORE[0]}.{BEFORE[1]}"
    before = Server(BEFORE, binary=None if older else NEWEST)
    first = _said(Path(older), []) if older else _said(assets, [f"--emulated-version={version}"])
    yield before, first, _said(assets, [])


def _said(assets: Path, arguments: list[str]) -> list[dict[str, Any]]:
    options: dict[str, Any] = {"controllers": (), "apiserver_args": arguments}
    with ControlPlane(assets, **options) as plane, Asking(plane) as asking:
        made = list(worlds(SEED, COUNT))
        for world in made:
            _build(asking, world)
        time.sleep(5)
        for world in made:
            _settle(asking, world)
        return [{pod["metadata"]["name"]: _answer(asking, world, pod) for pod in world.pods} for world in made]


def _build(asking: Asking, world: World) -> None:
    for one in (world.space, *world.policies):
        assert asking.create(one).status == 201, one
    for one in world.objects:
        reply = asking.create(one, world.name)
        assert reply.status == 201, reply.body
        if one["kind"] == "ResourceQuota":
            hard = one["spec"]["hard"]
            status = {"hard": hard, "used": dict.fromkeys(hard, "0")}
            assert asking.put({**reply.body, "status": status}, "status").status == 200


def _settle(asking: Asking, world: World) -> None:
    """Waits until the policies, the last that are seen, decide about the world."""
    for _ in range(50 if world.policies else 0):
        first = _answer(asking, world, world.pods[0])
        time.sleep(0.1)
        if first == _answer(asking, world, world.pods[0]):
            return


def _answer(asking: Asking, world: World, pod: dict[str, Any]) -> dict[str, Any]:
    """Without an answer where the server drops the connection. Of lists, whose order is arbitrary, the causes tell."""
    try:
        said = answer(asking.create(pod, world.name, dry=True))
    except http.client.RemoteDisconnected:
        return {"allowed": False, "code": 0}
    if ": [" in said.get("message", "") and "causes" in said:
        del said["message"]
    return said


def _store(world: World) -> Store:
    store = Store(Origin("files"))
    kinds = ("Namespace", "Pod", "LimitRange", "ResourceQuota", "PriorityClass", "RuntimeClass")
    for kind in (
        *kinds,
        *(f"{name}AdmissionPolicy{end}" for name in ("Validating", "Mutating") for end in ("", "Binding")),
    ):
        store.cover(ReadRequest(kind), READ)
    for one in (world.space, *world.objects, *world.policies):
        raw = json.loads(json.dumps(one))
        if one["kind"] in {"LimitRange", "ResourceQuota"}:
            raw["metadata"]["namespace"] = world.name
        if one["kind"] == "ResourceQuota":
            hard = one["spec"]["hard"]
            raw["status"] = {"hard": hard, "used": dict.fromkeys(hard, "0")}
        store.add(one["kind"], decode_object(raw, BY_KIND[one["kind"]].struct))
    return store


def _subject(world: World, pod: dict[str, Any]) -> Subject:
    raw = _DECODER.decode(json.dumps(pod).encode())
    raw["metadata"]["namespace"] = world.name
    return Subject(ObjectRef("Pod", pod["metadata"]["name"], world.name), BY_KIND["Pod"], raw, "world.yaml")


def _predicted(world: World, before: Server) -> dict[str, UpgradeChange]:
    subjects = [_subject(world, pod) for pod in world.pods]
    found = changes_in(_store(world), world.name, subjects, EvaluationOptions(before), Server())
    return {change.subject.name: change for change in found.workloads}


def test_what_an_upgrade_changes(answers: Any, request: pytest.FixtureRequest) -> None:
    before, first, last = answers
    wrong, changed, effects = [], 0, dict[str, int]()
    for world, old, new in zip(worlds(SEED, COUNT), first, last, strict=True):
        said = _predicted(world, before)
        for pod in world.pods:
            name = pod["metadata"]["name"]
            differs = old[name] != new[name]
            changed += differs
            change = said.get(name)
            if change is not None:
                effects[change.effect] = effects.get(change.effect, 0) + 1
            if differs is not (change is not None) or (change is not None and not _fits(change, old[name], new[name])):
                wrong.append(
                    json.dumps([world.name, world.objects, world.policies, pod, old[name], new[name], str(change)])
                )
    line = (
        f"seed {SEED}: {COUNT} upgrades: {changed} of {sum(map(len, first))} pods differ {effects}; {len(wrong)} wrong"
    )
    request.config.stash[COUNTS] = [*request.config.stash.get(COUNTS, []), line]
    assert changed >= COUNT // 5
    if wrong:
        pytest.fail("\n".join([f"seed {SEED} (KRES_SEED): {line}", *wrong[:5]]), pytrace=False)


def _fits(change: UpgradeChange, old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether the effect is what both servers show, and why is said."""
    if not change.reasons:
        return False
    if old["allowed"] != new["allowed"]:
        return change.effect == ("admitted" if new["allowed"] else "refused")
    if not new["allowed"]:
        return change.effect == "message" and new.get("message", "") in change.after
    classes = [side["object"]["status"]["qosClass"] for side in (old, new)]
    return change.effect == ("class" if classes[0] != classes[1] else change.effect)
