"""Remedies run to the letter: the printed commands with kubectl in a fresh copy of the world, then the pods counted."""

from __future__ import annotations

import copy
import json
import secrets
import shlex
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from controlplane import ControlPlane
from e2e.asking import Asking
from e2e.refused_worlds import BESIDE, KATA, Raw, World
from msgspec import Struct
from properties.remedied import put

from kubectl_kres.admission.base.field_path import FieldPath

_PATCH = "application/merge-patch+json"
_READY = {"type": "Ready", "status": "True"}
#: Seconds without any change after which nothing more is waited for; and in total.
_STILL, _MOST = 3.0, 60.0
#: Seconds after which admission has the quotas that were changed.
_LATE = 10.0


class Trial(Struct):
    """What one remedy promised and what came of it. ``fault``: why it could not be tried, or did not do."""

    world: World
    number: int
    text: str
    promised: int = 0
    of: int = 0
    came: int = -1
    fault: str = ""
    shared: bool = False

    @property
    def kept(self) -> bool:
        return not self.fault and self.came == self.promised


class Runs:
    """Tries remedies on one control plane."""

    def __init__(
        self, plane: ControlPlane, asking: Asking, kubectl: Path, env: Mapping[str, str], folder: Path
    ) -> None:
        self.plane, self.kubectl, self.env, self.folder = plane, kubectl, dict(env), folder
        self.asking = asking
        self._lock = threading.Lock()
        self.asking.create(KATA)

    def trials(self, world: World) -> list[Trial]:
        """One for each remedy; none where nothing is refused."""
        space = self.namespace()
        found = self.played(world, space)
        if found is None:
            return []
        remedies = found["fixes"]
        if found["verdict"]["outcome"] in {"admitted", "full"}:
            return []
        if all(one.get("admits") is None for one in remedies):
            return [Trial(world, 0, found["verdict"].get("message", ""), fault="no way was found")]
        tried = []
        for number, one in enumerate(remedies):
            fresh = space if number == 0 else self.namespace()
            again = found if number == 0 else self.played(world, fresh)
            tried.append(self._trial(world, number, one, again, fresh))
        return tried

    def _trial(self, world: World, number: int, told: Raw, again: Raw | None, space: str) -> Trial:
        trial = Trial(world, number, told["text"])
        if told.get("admits") is None:
            trial.fault = "not tried in the engine"
            return trial
        trial.promised, trial.of = told["admits"]["pods"], told["admits"]["wanted"]
        trial.shared = bool(told["shared"])
        if told["contested"]:
            # How much others take is not known, which the answer says.
            trial.came = trial.promised
            return trial
        if again is None or number >= len(again["fixes"]) or again["fixes"][number]["text"] != told["text"]:
            trial.fault = f"the copy is told otherwise: {[one['text'] for one in (again or {}).get('remedies', ())]}"
            return trial
        told = again["fixes"][number]
        for command in told["commands"]:
            done = self.run_kubectl(shlex.split(command)[1:])
            if done.returncode:
                trial.fault = f"{command}: {done.stderr.strip()}"
                return trial
        self._wait_for_quotas(space)
        fault = self._edited(world, told, space)
        if fault:
            trial.fault = fault
            return trial
        if world.kind == "CronJob":
            done = self.run_kubectl(["create", "job", "once", "--from=cronjob/web", "-n", space])
            if done.returncode:
                trial.fault = done.stderr.strip()
                return trial
        trial.came = self._at_rest(world, space, trial.promised)
        if trial.came != trial.promised:
            trial.fault = f"{trial.came} of {trial.promised} came: {self._last_event(space)}"
        return trial

    def played(self, world: World, space: str) -> Raw | None:
        """What explain says once the world is as it is; None where the server does not take the policies."""
        if world.before is not None:
            self._create(world.before, space)
            self._at_rest(world, space, world.wanted)
        for one in world.policies:
            if self.asking.create(one, space).status != 201:
                return None
        self._wait_for_quotas(space)
        for one in world.beside:
            self._create(one, space)
        if world.beside:
            self._at_rest(world, space, 0)
        file = None
        if world.before is not None:
            reply = self._replace(world.workload, space)
        elif world.kind == "Pod":
            reply = 422
        else:
            reply = self._create(world.workload, space)
        if reply not in {200, 201}:
            file = self.folder / f"{space}.json"
            file.write_text(json.dumps(world.workload))
        else:
            self._at_rest(world, space, -1)
        asked = ["-f", str(file)] if file is not None else [f"{world.kind.lower()}/web"]
        done = self.run_kubectl(["kres", "explain", *asked, "-n", space, "-o", "json"])
        if done.returncode:
            raise AssertionError(done.stderr)
        items = json.loads(done.stdout)["items"]
        found: Raw = items[0]
        return found

    def _edited(self, world: World, told: Raw, space: str) -> str:
        """The edits that have no command made in the manifest, which is sent anew; why not, where that fails."""
        own = [one for one in told["edits"] if one["object"]["kind"] == world.kind and not self._by_command(told, one)]
        exists = (
            world.kind != "Pod" and not self.run_kubectl(["get", world.kind.lower(), "web", "-n", space]).returncode
        )
        if not own and exists:
            return ""
        manifest = copy.deepcopy(world.workload)
        for one in own:
            put(manifest, FieldPath.parse(one["field"]), one["to"])
        if exists:
            self.run_kubectl(["delete", world.kind.lower(), "web", "-n", space, "--cascade=foreground", "--wait=true"])
        # What quotas are enforced comes to admission by a watch, which may be late.
        deadline = time.monotonic() + _LATE
        reply = self.asking.create(manifest, space)
        while reply.status == 403 and time.monotonic() < deadline:
            time.sleep(0.5)
            reply = self.asking.create(manifest, space)
        return "" if reply.status == 201 else f"the edited manifest is refused: {reply.body.get('message')}"

    def _by_command(self, told: Raw, edit: Raw) -> bool:
        kind = edit["object"]["kind"].lower()
        return any(f" {kind} " in f" {command} " for command in told["commands"])

    def namespace(self) -> str:
        name = f"advice-{secrets.token_hex(4)}"
        status, answer = self.plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        assert status == 201, answer
        return name

    def _create(self, raw: Raw, space: str) -> int:
        return self.asking.create(raw, space).status

    def _replace(self, raw: Raw, space: str) -> int:
        kind = f"{raw['kind'].lower()}s"
        path = f"/apis/apps/v1/namespaces/{space}/{kind}/web"
        template = raw["spec"]["template"]
        stored = self.plane.request("GET", path)[1]
        stored["spec"]["template"] = {**template, "metadata": {"labels": template["metadata"]["labels"]}}
        return self.plane.request("PUT", path, stored)[0]

    def run_kubectl(self, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
        command = [str(self.kubectl), *words]
        return subprocess.run(
            command, env=self.env, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )

    def _wait_for_quotas(self, space: str) -> None:
        """Until what is enforced is what the spec says."""
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            quotas = self._list(space, "api/v1", "resourcequotas")
            states = [(one.get("status") or {}, one["spec"]["hard"]) for one in quotas]
            if all(status.get("hard") == hard and "used" in status for status, hard in states):
                return
            time.sleep(0.1)

    def _list(self, space: str, group: str, plural: str) -> list[Raw]:
        found: list[Raw] = self.plane.request("GET", f"/{group}/namespaces/{space}/{plural}")[1]["items"]
        return found

    def _at_rest(self, world: World, space: str, expected: int) -> int:
        """Pods of the newest template once nothing changes any more; pods are made Ready, controllers woken."""
        deadline, last, since = time.monotonic() + _MOST, None, time.monotonic()
        while time.monotonic() < deadline:
            pods = self._list(space, "api/v1", "pods")
            for pod in pods:
                self._make_ready(pod)
            count, state = self._newest(world, space, pods)
            if state != last:
                last, since = state, time.monotonic()
            still = time.monotonic() - since
            if still > (1.2 if count == expected else _STILL):
                return count
            self._wake(space)
            time.sleep(0.25)
        return -2

    def _make_ready(self, pod: Raw) -> None:
        conditions = pod["status"].get("conditions") or ()
        if any(one["type"] == "Ready" and one["status"] == "True" for one in conditions):
            return
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 1))
        status = {"phase": "Running", "conditions": [{**_READY, "lastTransitionTime": now}]}
        meta = pod["metadata"]
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/status"
        self.plane.request("PATCH", path, {"status": status}, content_type=_PATCH)

    def _newest(self, world: World, space: str, pods: list[Raw]) -> tuple[int, Any]:
        ours = [one for one in pods if (one["metadata"].get("labels") or {}).get("app") != BESIDE]
        living = [one for one in ours if not one["metadata"].get("deletionTimestamp")]
        owners = {owner["name"]: one for one in living for owner in one["metadata"].get("ownerReferences", ())}
        if world.kind == "Deployment":
            sets = [one for one in self._list(space, "apis/apps/v1", "replicasets") if _owner(one) == "web"]
            sets.sort(key=lambda one: int(one["metadata"]["annotations"]["deployment.kubernetes.io/revision"]))
            newest = sets[-1]["metadata"]["name"] if sets else ""
            count = sum(_owner(one) == newest for one in living)
            state = sorted((one["metadata"]["name"], one["spec"]["replicas"]) for one in sets)
        elif world.kind == "StatefulSet":
            stored = [
                one for one in self._list(space, "apis/apps/v1", "statefulsets") if one["metadata"]["name"] == "web"
            ]
            revision = stored[0]["status"].get("updateRevision") if stored else None
            count = sum(one["metadata"]["labels"].get("controller-revision-hash") == revision for one in living)
            state = [revision]
        else:
            count, state = len(living), sorted(owners)
        return count, (state, sorted(one["metadata"]["uid"] for one in living))

    def _wake(self, space: str) -> None:
        """Whatever waits out a back-off looks again: an annotation is a change."""
        now = {"metadata": {"annotations": {"advice/woken": str(time.time())}}}
        for group, plural in (
            ("apis/apps/v1", "replicasets"), ("apis/apps/v1", "statefulsets"), ("apis/batch/v1", "jobs"),
        ):  # fmt: skip
            for one in self._list(space, group, plural):
                path = f"/{group}/namespaces/{space}/{plural}/{one['metadata']['name']}"
                self.plane.request("PATCH", path, now, content_type=_PATCH)

    def _last_event(self, space: str) -> str:
        events = [one for one in self._list(space, "api/v1", "events") if one["type"] == "Warning"]
        events.sort(key=lambda one: one.get("lastTimestamp") or one["metadata"]["creationTimestamp"])
        return str(events[-1]["message"]) if events else ""


def _owner(pod: Raw) -> str:
    return next((str(one["name"]) for one in pod["metadata"].get("ownerReferences", ())), "")
