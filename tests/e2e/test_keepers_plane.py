"""What a page promises of its fixes where somebody keeps the objects: commands hold, and what is said to be undone is.

The controllers are real but for Argo CD, Flux and Capsule, whose part ``keepers`` plays. KRES_KEEPERS: how many worlds
(20), KRES_KEEPERS_FIRST: the first seed.
"""

from __future__ import annotations

import json
import os
import random
import secrets
import shlex
import subprocess
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

import crds
import pytest
from controlplane import ControlPlane
from e2e.conftest import STILL, WORKLOADS, watched
from e2e.keepers import (
    DEFINITIONS,
    KEEPINGS,
    PERIOD,
    TENANTS,
    Applier,
    Keeper,
    Keeping,
    TenantKeeper,
    filled,
    path_of,
    value_at,
)
from e2e.plugin import environment
from properties.remedied import put

from kubectl_kres.admission.base.field_path import FieldPath

pytestmark = pytest.mark.e2e

Raw = dict[str, Any]
_WORLDS = int(os.environ.get("KRES_KEEPERS", "20"))
_FIRST = int(os.environ.get("KRES_KEEPERS_FIRST", "1"))
_AT_ONCE = 4
#: Two reconciles, and some time for the answers.
_TWICE = 2 * PERIOD + 1.0
#: Seconds within which pods come, or what is undone goes.
_MOST = 40.0
#: Who keeps what: a tool the Deployment or its quota, an autoscaler the replicas, a Tenant the quota, nobody; or nobody
#: where a rollout lacks the room for one pod more.
_KINDS = ("deployment", "deployment", "quota", "autoscaler", "tenant", "nobody", "rollout")
_QUOTA = "team"
_VERSION, _MERGE = "kept/version", "application/merge-patch+json"


@pytest.fixture(scope="module")
def plane(assets: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane that scales by bounds, and knows what keeps objects."""
    controllers = (*WORKLOADS, "horizontal-pod-autoscaler-controller")
    args = (*STILL, "--horizontal-pod-autoscaler-sync-period=1s")
    with watched(assets, tmp_path_factory.mktemp("audit"), controllers=controllers, controller_args=args) as made:
        crds.install(made, "capsule")
        for one in DEFINITIONS:
            status, answer = made.request("POST", crds.LIST, one)
            assert status == 201, answer
            spec = one["spec"]
            served = f"/apis/{spec['group']}/{spec['versions'][0]['name']}/{spec['names']['plural']}"
            _until(lambda served=served: made.request("GET", served)[0] == 200)
        yield made


def _until(there: Any, most: float = _MOST) -> bool:
    deadline = time.monotonic() + most
    while time.monotonic() < deadline:
        if there():
            return True
        time.sleep(0.2)
    return False


class World:
    """One namespace in which a quota has no room for all pods of a Deployment, and somebody keeps something of it."""

    def __init__(self, plane: ControlPlane, seed: int) -> None:
        rng = random.Random(f"keepers/{seed}")
        self.plane, self.seed, self.name = plane, seed, f"kept-{secrets.token_hex(4)}"
        self.kind = rng.choice(_KINDS)
        self.keeping: Keeping | None = rng.choice(KEEPINGS) if self.kind in {"deployment", "quota"} else None
        self.wanted, self.fits = (wanted := rng.randint(3, 5)), rng.randint(1, wanted - 1)
        self.fits = self.wanted if self.kind == "rollout" else self.fits
        self.resource = rng.choice(("pods", "requests.cpu"))
        #: Of its pods' template; pods of an older one are not counted.
        self.version = "1"
        self.keeper: Keeper | None = None

    def __str__(self) -> str:
        kept = self.keeping.name if self.keeping is not None else self.kind
        return f"seed {self.seed}: {self.kind} kept by {kept}, {self.resource}, {self.fits} of {self.wanted} fit"

    def __enter__(self) -> Self:
        labels = {"capsule.clastix.io/tenant": f"t-{self.name}"} if self.kind == "tenant" else {}
        self._post("/api/v1/namespaces", {"metadata": {"name": self.name, "labels": labels}})
        quota, deployment = self._quota(), self._deployment()
        if self.kind == "tenant":
            self._make_tenant(quota)
        if self.keeping is not None:
            kept = deployment if self.kind == "deployment" else quota
            self._keep(kept, self.keeping)
        self._apply(quota)
        enforced = path_of("ResourceQuota", self.name, _QUOTA)
        assert _until(lambda: "used" in (self.plane.request("GET", enforced)[1].get("status") or {}))
        self._apply(deployment)
        if self.kind == "autoscaler":
            self._make_autoscaler()
        if self.keeper is not None:
            self.keeper.start()
        assert _until(lambda: self.pods() == self.fits), str(self)
        if self.kind == "rollout":
            self._roll()
        assert _until(self._refused), str(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self.keeper is not None:
            self.keeper.close()
        self.plane.request("DELETE", f"/api/v1/namespaces/{self.name}")

    def _quota(self) -> Raw:
        hard = {"pods": str(self.fits)} if self.resource == "pods" else {"requests.cpu": f"{100 * self.fits}m"}
        meta = {"name": _QUOTA, "namespace": self.name}
        return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta, "spec": {"hard": hard}}

    def _deployment(self) -> Raw:
        labels, box = {"app": "web"}, {"name": "app", "image": "img:1", "resources": {"requests": {"cpu": "100m"}}}
        of_pods = {"labels": labels, "annotations": {_VERSION: self.version}}
        spec = {
            "selector": {"matchLabels": labels},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
            "template": {"metadata": of_pods, "spec": {"containers": [box]}},
            **({} if self.kind == "autoscaler" else {"replicas": self.wanted}),
        }
        meta = {"name": "web", "namespace": self.name}
        return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec}

    def _keep(self, kept: Raw, keeping: Keeping) -> None:
        kept["metadata"] |= filled(keeping.metadata, self.name)
        keeper = {**filled(keeping.keeper, self.name), "metadata": {"name": "shop", "namespace": self.name}}
        group = keeper["apiVersion"]
        self._post(f"/apis/{group}/namespaces/{self.name}/{keeper['kind'].lower()}s", keeper)
        self.keeper = Applier(self.plane, kept, keeping.manager, again=keeping.again)

    def _make_tenant(self, quota: Raw) -> None:
        tenant = f"t-{self.name}"
        spec = {"owners": [{"kind": "User", "name": "alice"}],
                "resourceQuotas": {"scope": "Namespace", "items": [{"hard": quota["spec"]["hard"]}]}}  # fmt: skip
        made = self._post(TENANTS, {"apiVersion": "capsule.clastix.io/v1beta2", "kind": "Tenant",
                                    "metadata": {"name": tenant}, "spec": spec})  # fmt: skip
        labels = {"capsule.clastix.io/tenant": tenant, "capsule.clastix.io/resource-quota": "0"}
        owner = {"apiVersion": "capsule.clastix.io/v1beta2", "kind": "Tenant", "name": tenant, "controller": True,
                 "uid": made["metadata"]["uid"]}  # fmt: skip
        quota["metadata"] |= {"labels": labels, "ownerReferences": [owner]}
        self.keeper = TenantKeeper(self.plane, tenant, self.name, _QUOTA)

    def _make_autoscaler(self) -> None:
        target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
        metric = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization",
                                                                             "averageUtilization": 50}}}  # fmt: skip
        spec = {"scaleTargetRef": target, "minReplicas": self.wanted, "maxReplicas": self.wanted, "metrics": [metric]}
        self._post(path_of("HorizontalPodAutoscaler", self.name),
                   {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
                    "metadata": {"name": "web", "namespace": self.name}, "spec": spec})  # fmt: skip

    def _post(self, path: str, raw: Raw) -> Raw:
        status, answer = self.plane.request("POST", path, raw)
        assert status == 201, answer
        made: Raw = answer
        return made

    def _apply(self, raw: Raw) -> None:
        if self.keeper is not None and isinstance(self.keeper, Applier) and self.keeper.source is raw:
            self.keeper.apply()
        else:
            self._post(path_of(raw["kind"], self.name), raw)

    def _roll(self) -> None:
        self.wake()
        web = path_of("Deployment", self.name, "web")
        assert _until(lambda: self.plane.request("GET", web)[1]["status"].get("availableReplicas") == self.wanted)
        self.version = "2"
        patch = {"spec": {"template": {"metadata": {"annotations": {_VERSION: self.version}}}}}
        self.plane.request("PATCH", web, patch, content_type=_MERGE)

    def _pods(self) -> list[Raw]:
        items = self.plane.request("GET", f"/api/v1/namespaces/{self.name}/pods")[1]["items"]
        return [one for one in items if not one["metadata"].get("deletionTimestamp")]

    def pods(self) -> int:
        return sum(one["metadata"]["annotations"][_VERSION] == self.version for one in self._pods())

    def _refused(self) -> bool:
        events = self.plane.request("GET", f"/api/v1/namespaces/{self.name}/events")[1]["items"]
        return any(one["reason"] == "FailedCreate" for one in events)

    def get(self, ref: Raw) -> Raw:
        found: Raw = self.plane.request("GET", path_of(ref["kind"], self.name, ref["name"]))[1]
        return found

    def wake(self) -> None:
        """Make pods Ready, and let controllers that wait out a back-off look again."""
        ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        for one in self._pods():
            if one["status"]["phase"] != "Running":
                path = f"/api/v1/namespaces/{self.name}/pods/{one['metadata']['name']}/status"
                self.plane.request("PATCH", path, {"status": ready}, content_type=_MERGE)
        path = f"/apis/apps/v1/namespaces/{self.name}/replicasets"
        for one in self.plane.request("GET", path)[1]["items"]:
            now = {"metadata": {"annotations": {"kept/woken": str(time.time())}}}
            self.plane.request("PATCH", f"{path}/{one['metadata']['name']}", now, content_type=_MERGE)


class Judge:
    """Runs what is printed, or what is said to be undone, and looks what comes of it."""

    def __init__(self, kubectl: Path, env: Raw) -> None:
        self.kubectl, self.env = kubectl, env

    def run(self, words: Sequence[str]) -> str:
        done = subprocess.run(
            [str(self.kubectl), *words], env=self.env, capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert not done.returncode, (words, done.stderr)
        return done.stdout

    def fixes(self, world: World) -> list[Raw]:
        told = self.run(["kres", "explain", "deploy/web", "-n", world.name, "-o", "json"])
        found: list[Raw] = json.loads(told)["items"][0]["fixes"]
        return found

    def faults(self, plane: ControlPlane, seed: int) -> tuple[list[str], int]:
        """What did not hold, of each fix in a world of its own, and how many fixes were tried."""
        with World(plane, seed) as world:
            number = len(self.fixes(world))
            told = [] if number else [f"{world}: no fix"]
            told += self._fault_of(world, 0) if number else []
        for index in range(1, number):
            with World(plane, seed) as world:
                told += self._fault_of(world, index)
        return told, number

    def _fault_of(self, world: World, index: int) -> list[str]:
        fix = self.fixes(world)[index]
        stays = fix["stays"] or {}
        fault = self._printed(world, fix, stays) if fix["commands"] else self._undone(world, fix, stays)
        return [f"{world}: {fix['text']}: {fault}"] if fault else []

    def _printed(self, world: World, fix: Raw, stays: Raw) -> str:
        """Why the commands do not do, or do not last."""
        if stays.get("state") != "stays":
            return f"a command is printed of what is said to be {stays}"
        for command in fix["commands"]:
            self.run(shlex.split(command)[1:])
        wanted = fix["admits"]["pods"]

        def come() -> bool:
            world.wake()
            return world.pods() == wanted

        if not _until(come):
            return f"{world.pods()} of {wanted} pods came"
        time.sleep(_TWICE)
        if world.pods() != wanted:
            return f"after two reconciles there are {world.pods()} of {wanted} pods"
        kept = [edit for edit in fix["edits"] if edit["object"]["kind"] != "Tenant"]
        now = {edit["field"]: value_at(world.get(edit["object"]), edit["field"]) for edit in kept}
        gone = [edit["field"] for edit in kept if str(now[edit["field"]]) != str(edit["to"])]
        return f"undone: {gone}" if gone else ""

    def _undone(self, world: World, fix: Raw, stays: Raw) -> str:
        """Why a patch of what is said to be undone stays, or goes sooner than said."""
        if stays.get("state") != "undone":
            return f"no command of what is said to be {stays}"
        before = [value_at(world.get(edit["object"]), edit["field"]) for edit in fix["edits"]]
        for edit in fix["edits"]:
            raw = world.get(edit["object"])
            put(raw, FieldPath.parse(edit["field"]), edit["to"])
            status, answer = world.plane.request("PUT", path_of(raw["kind"], world.name, raw["metadata"]["name"]), raw)
            if status != 200:
                return f"the edit is refused: {answer}"

        def back() -> bool:
            now = [value_at(world.get(edit["object"]), edit["field"]) for edit in fix["edits"]]
            return now == before

        if stays["when"] in {"self-heal", "interval", "reconcile"}:
            return "" if _until(back, 10 * PERIOD) else "it is not undone"
        time.sleep(_TWICE)
        if back():
            return f"it is undone before {stays['when']}"
        if isinstance(world.keeper, Applier):
            world.keeper.apply()
        return "" if back() else f"it is not undone by {stays['when']}"


def test_what_is_said_to_stay_stays_and_what_is_not_goes(plane: ControlPlane, kubectl: Path, tmp_path: Path):
    judge = Judge(kubectl, environment(plane.kubeconfig, kubectl, tmp_path))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        seeds = range(_FIRST, _FIRST + _WORLDS)
        results = list(pool.map(lambda seed: judge.faults(plane, seed), seeds))
    tried = sum(number for _, number in results)
    told = [fault for faults, _ in results for fault in faults]
    print(f"{_WORLDS} worlds, {tried} fixes tried, {tried - len(told)} held")
    assert told == [], "\n".join(told)
    assert tried >= _WORLDS
