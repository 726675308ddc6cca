"""Pools and claims with recorded statuses on a real API server, read by an administrator and by tenants."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from controlplane import ControlPlane
from credentials import kubeconfig, write_private
from e2e.plugin import Kres

pytestmark = pytest.mark.e2e

VECTORS = Path(__file__).parents[1] / "vectors" / "capsule"
CAPSULE = "/apis/capsule.clastix.io/v1beta2"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
#: A case in which one claim holds, one does not fit and others are queued.
CASE = ("ordered-queue.json", "freed-room-waits-for-the-first")


class Estate:
    """The recorded state before the first step, with names of its own."""

    def __init__(self, plane: ControlPlane, recorded: tuple[str, str] = CASE) -> None:
        self.plane = plane
        file, name = recorded
        cases = json.loads((VECTORS / file).read_text())["cases"]
        self.case = next(one for one in cases if one["name"] == name)
        self.expect = self.case["expect_before_steps"]
        self.suffix = secrets.token_hex(3)
        self.uids: dict[str, str] = {}

    def name(self, text: str) -> str:
        return f"{text}-{self.suffix}"

    def send(self, method: str, path: str, body: Any = None) -> Any:
        status, answer = self.plane.request(method, path, body)
        assert status in {200, 201}, answer
        return answer

    def make(self) -> None:
        """Objects first, then their statuses, with the UIDs that this server gave."""
        for one in self.case["given"]["namespaces"]:
            meta = {"name": self.name(one["metadata"]["name"]), "labels": {"team": self.suffix}}
            self.send("POST", "/api/v1/namespaces", {"metadata": meta})
        for pool in self.case["given"]["pools"]:
            spec = {**pool["spec"], "selectors": [{"matchLabels": {"team": self.suffix}}]}
            made = self.send("POST", f"{CAPSULE}/resourcepools", self.body("ResourcePool", pool, spec))
            self.uids[f"uid:ResourcePool/{pool['metadata']['name']}"] = made["metadata"]["uid"]
        for claim in self.case["given"]["claims"]:
            spec = {**claim["spec"], "pool": self.name(claim["spec"]["pool"])}
            made = self.send("POST", self.claims(claim), self.body("ResourcePoolClaim", claim, spec))
            key = f"{claim['metadata']['namespace']}/{claim['metadata']['name']}"
            self.uids[f"uid:ResourcePoolClaim/{key}"] = made["metadata"]["uid"]
        self.state()

    def state(self) -> None:
        """What the controllers wrote."""
        for name, pool in self.expect["pools"].items():
            self.status(f"{CAPSULE}/resourcepools/{self.name(name)}", self.placed(pool["status"]))
        for key, claim in self.expect["claims"].items():
            if claim is None:
                continue
            space, _, name = key.partition("/")
            path = f"{CAPSULE}/namespaces/{self.name(space)}/resourcepoolclaims/{name}"
            self.status(path, self.placed(claim["status"]))

    def claims(self, claim: dict[str, Any]) -> str:
        return f"{CAPSULE}/namespaces/{self.name(claim['metadata']['namespace'])}/resourcepoolclaims"

    def body(self, kind: str, one: dict[str, Any], spec: dict[str, Any]) -> dict[str, Any]:
        name = one["metadata"]["name"]
        meta = {"name": self.name(name) if kind == "ResourcePool" else name}
        return {"apiVersion": "capsule.clastix.io/v1beta2", "kind": kind, "metadata": meta, "spec": spec}

    def status(self, path: str, status: Any) -> None:
        held = self.send("GET", path)
        self.send("PUT", f"{path}/status", {**held, "status": status})

    def placed(self, status: dict[str, Any]) -> dict[str, Any]:
        """A recorded status with this server's names, UIDs and times."""
        spaces = {one["metadata"]["name"] for one in self.case["given"]["namespaces"]}
        found = dict(status)
        found["conditions"] = [
            {"lastTransitionTime": "2026-11-20T03:00:00Z", **one} for one in status.get("conditions", ())
        ]
        if "pool" in found:
            found["pool"] = {"name": self.name(found["pool"]["name"]), "uid": self.uids[found["pool"]["uid"]]}
        if "namespaces" in found:
            found["namespaces"] = [self.name(one) for one in found["namespaces"]]
        if "claims" in found:
            found["claims"] = {
                self.name(space): [{**one, "namespace": self.name(space), "uid": self.uids[one["uid"]]} for one in held]
                for space, held in found["claims"].items()
                if space in spaces
            }
        return found


@pytest.fixture(scope="module")
def estate(extended: ControlPlane) -> Iterator[Estate]:
    found = Estate(extended)
    found.make()
    yield found
    extended.request("DELETE", f"{CAPSULE}/resourcepools/{found.name('green')}")


@pytest.fixture
def tenant(estate: Estate, tmp_path: Path) -> Callable[..., str]:
    """Makes a kubeconfig of a user with the rules given, in one namespace only."""

    def make(*resources: str, space: str = "a", group: str = "capsule.clastix.io") -> str:
        plane, name = estate.plane, f"tenant-{secrets.token_hex(3)}"
        where = estate.name(space)
        rules = [
            {"apiGroups": [group], "resources": list(resources), "verbs": ["get", "list"]},
            {"apiGroups": [""], "resources": ["resourcequotas"], "verbs": ["get", "list"]},
        ]
        account = {"kind": "ServiceAccount", "name": name, "namespace": where}
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name}
        core, rbac = f"/api/v1/namespaces/{where}", f"{RBAC}/namespaces/{where}"
        estate.send("POST", f"{core}/serviceaccounts", {"metadata": {"name": name}})
        estate.send("POST", f"{rbac}/roles", {"metadata": {"name": name}, "rules": rules})
        binding = {"metadata": {"name": name}, "roleRef": role, "subjects": [account]}
        estate.send("POST", f"{rbac}/rolebindings", binding)
        token = estate.send("POST", f"{core}/serviceaccounts/{name}/token", {"spec": {}})["status"]["token"]
        config = tmp_path / f"{name}.json"
        write_private(config, kubeconfig(plane.url, token, plane.ca_file.read_bytes()))
        return str(config)

    return make


def items(done: Any) -> list[dict[str, Any]]:
    assert done.stdout, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["items"]
    return found


def waiting(estate: Estate) -> list[str]:
    """The claims that wait, by the recording, as namespace/name."""
    found = []
    for key, claim in estate.expect["claims"].items():
        said = {one["type"]: one for one in claim["status"]["conditions"]}
        if said["Exhausted"]["status"] == "True":
            found.append(key)
    return found


def test_states_are_those_of_the_recording(estate: Estate, extended_kres: Kres) -> None:
    done = extended_kres("claims", "-A", "--pool", estate.name("green"), "-o", "json")
    assert (done.returncode, done.stderr) == (0, "")
    states = {f"{one['subject']['namespace']}/{one['subject']['name']}": one["state"] for one in items(done)}
    parts = [key.partition("/") for key in estate.expect["claims"]]
    assert states.keys() == {f"{estate.name(space)}/{name}" for space, _, name in parts}
    for key in estate.expect["claims"]:
        space, _, name = key.partition("/")
        assert (states[f"{estate.name(space)}/{name}"] in {"exhausted", "queued"}) == (key in waiting(estate))
    assert extended_kres("claims", "-A", "--waiting", "--exit-code").returncode == 1


def test_the_pool_is_that_of_the_recording(estate: Estate, extended_kres: Kres) -> None:
    (found,) = items(extended_kres("pools", estate.name("green"), "-o", "json"))
    status = estate.expect["pools"]["green"]["status"]
    assert {one["name"]: one["available"] for one in found["uses"]} == status["allocation"]["available"]
    assert len(found["queue"]) == len(waiting(estate))
    assert [one["name"] for one in found["namespaces"]] == [estate.name(one) for one in status["namespaces"]]
    assert all(one["matchedSelectors"] == [f"team={estate.suffix}"] for one in found["namespaces"])


def _unread(text: str) -> set[str]:
    """The kinds of the one line about what could not be read."""
    [line] = text.splitlines()
    kinds, _, why = line.removeprefix("unread").partition(" (")
    assert why == "no permission)"
    return {kind.strip() for kind in kinds.split(",")}


def test_a_tenant_is_answered_from_the_claim_alone(
    estate: Estate, extended_kres: Kres, tenant: Callable[..., str]
) -> None:
    """A real 403 for pools: exit 0, what is short is said, and what could not be seen."""
    space, _, name = waiting(estate)[0].partition("/")
    config = tenant("resourcepoolclaims", space=space)
    done = extended_kres("claims", name, "-n", estate.name(space), "--kubeconfig", config)
    assert (done.returncode, _unread(done.stderr)) == (0, {"resourcepools", "customresourcedefinitions"})
    assert "unread  ResourcePool: resourcepools.capsule.clastix.io is forbidden" in done.stdout
    whole = extended_kres("claims", name, "-n", estate.name(space), "--kubeconfig", config, "--all").stdout
    assert "the controller says: requested:" in whole
    explained = extended_kres("explain", f"claim/{name}", "-n", estate.name(space), "--kubeconfig", config)
    assert (explained.returncode, "resourcepools" in _unread(explained.stderr)) == (0, True)
    listed = extended_kres("claims", "-n", estate.name(space), "--kubeconfig", config)
    assert (listed.returncode, listed.stdout.splitlines()[0].split()[0]) == (0, "STATE")


def test_pools_that_may_not_be_read_are_told_of_by_claims_or_in_the_servers_words(
    estate: Estate, extended_kres: Kres, tenant: Callable[..., str]
) -> None:
    """A real 403 for pools: what the own namespace says, and where that is nothing, the error."""
    for words in (("pools",), ("pools", estate.name("green")), ("explain", f"pool/{estate.name('green')}")):
        done = extended_kres(*words, "-n", estate.name("a"), "--kubeconfig", tenant("resourcepoolclaims"))
        assert (done.returncode, "resourcepools" in _unread(done.stderr)) == (0, True)
        assert done.stdout.startswith(f"pool {estate.name('green')}, as your namespaces show it: 1 namespace")
        assert " is forbidden: User " in " ".join(done.stdout.split())
    done = extended_kres("pools", "-n", estate.name("a"), "--kubeconfig", tenant("tenants"))
    assert done.returncode == 3
    assert "resourcepools.capsule.clastix.io is forbidden" in done.stderr
    assert "kubectl kres claims" in done.stderr


def test_claims_of_a_forbidden_namespace(estate: Estate, extended_kres: Kres, tenant: Callable[..., str]) -> None:
    config = tenant("resourcepoolclaims", space="a")
    done = extended_kres("claims", "-n", estate.name("a"), "-n", "default", "--kubeconfig", config)
    assert done.returncode == 3
    assert 'cannot list resource "resourcepoolclaims"' in done.stderr
    assert "STATE" in done.stdout


def test_without_capsule_there_is_a_whole_answer(kres: Kres) -> None:
    """The other control plane serves none of its kinds."""
    for command in ("claims", "pools"):
        done = kres(command, "-A")
        assert (done.returncode, done.stdout) == (0, "")
        assert "Capsule is not installed" in done.stderr
