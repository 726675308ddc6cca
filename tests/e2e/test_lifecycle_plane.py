"""What ends and what is there already: namespaces that go, objects that exist, statuses that controllers write."""

from __future__ import annotations

import itertools
import json
import random
import secrets
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from controlplane import ControlPlane
from e2e.plugin import Kres
from e2e.saying import unordered
from e2e.seed import SEED

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.resize import resize
from kubectl_kres.store.store import READ, Origin, ReadRequest, Store

pytestmark = pytest.mark.e2e

CONTAINER = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m"}}}
LABELS = {"app": "web"}
SECONDS = 150


def made(kind: str, name: str, spec: Any, **metadata: Any) -> dict[str, Any]:
    version = BY_KIND[kind].api_version if kind in BY_KIND else "v1"
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **metadata}, "spec": spec}


def template(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"labels": LABELS}, "spec": {"containers": [CONTAINER], **spec}}


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < deadline, "the server does not settle"
        time.sleep(0.3)


OBJECTS = {
    "Pod": made("Pod", "one", {"containers": [CONTAINER]}),
    "Deployment": made("Deployment", "one", {"selector": {"matchLabels": LABELS}, "template": template()}),
    "Job": made("Job", "one", {"template": template(restartPolicy="Never")}),
    "ResourceQuota": made("ResourceQuota", "one", {"hard": {"pods": "1"}}),
    "PersistentVolumeClaim": made("PersistentVolumeClaim", "one", {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}),
}  # fmt: skip


@pytest.fixture(scope="module")
def ending(controlplane: ControlPlane) -> Iterator[str]:
    """A namespace that is being deleted, and stays so: an object in it waits for somebody."""
    name = f"ending-{secrets.token_hex(3)}"
    assert controlplane.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})[0] == 201
    path = f"/api/v1/namespaces/{name}/configmaps"
    held = {"metadata": {"name": "held", "finalizers": ["example.com/wait"]}}
    assert controlplane.request("POST", path, held)[0] == 201
    controlplane.request("DELETE", f"/api/v1/namespaces/{name}")
    phase = lambda: controlplane.request("GET", f"/api/v1/namespaces/{name}")[1]["status"]["phase"]  # noqa: E731
    until(lambda: phase() == "Terminating")
    yield name
    merge = "application/merge-patch+json"
    controlplane.request("PATCH", f"{path}/held", {"metadata": {"finalizers": None}}, content_type=merge)


@pytest.mark.parametrize("kind", OBJECTS)
def test_a_namespace_that_is_being_deleted(
    controlplane: ControlPlane, kres: Kres, ending: str, tmp_path: Any, kind: str
) -> None:
    sent = OBJECTS[kind]
    status, answer = controlplane.request("POST", f"{BY_KIND[kind].path(ending)}?dryRun=All", sent)
    path = tmp_path / "one.json"
    path.write_text(json.dumps(sent))
    verdict = json.loads(kres("explain", "-n", ending, "-f", str(path), "-o", "json").stdout)["items"][0]["verdict"]
    assert (status, answer["message"]) == (verdict["code"], verdict["message"])
    assert (verdict["allowed"], verdict["code"]) == (False, 403)


def test_a_pod_that_exists(controlplane: ControlPlane, kres: Kres, namespace: str, tmp_path: Any) -> None:
    sent = OBJECTS["Pod"]
    assert controlplane.request("POST", BY_KIND["Pod"].path(namespace), sent)[0] == 201
    status, answer = controlplane.request("POST", BY_KIND["Pod"].path(namespace), sent)
    path = tmp_path / "one.json"
    path.write_text(json.dumps(sent))
    found = json.loads(kres("explain", "-n", namespace, "-f", str(path), "-o", "json").stdout)["items"][0]
    assert any(f"{status} {answer['message']}" in one["text"] for one in found["assumptions"])


def test_statuses_that_controllers_write(
    controlplane: ControlPlane, kres: Kres, namespace: str, tmp_path: Any, request: pytest.FixtureRequest
) -> None:
    """A cron job whose job runs, the job, a daemon set with a node: each is read, and none is lost in a snapshot."""
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{namespace}"}}
    assert controlplane.request("POST", "/api/v1/nodes", node)[0] == 201
    # Other tests count nodes.
    request.addfinalizer(lambda: controlplane.request("DELETE", f"/api/v1/nodes/{node['metadata']['name']}"))
    job = {"spec": {"template": template(restartPolicy="Never")}}
    cron = made("CronJob", "cron", {"schedule": "* * * * *", "jobTemplate": job})
    daemon = made("DaemonSet", "daemon", {"selector": {"matchLabels": LABELS}, "template": template()})
    for one in (cron, daemon, OBJECTS["Job"]):
        assert controlplane.request("POST", BY_KIND[one["kind"]].path(namespace), one)[0] == 201

    def status(kind: str, name: str) -> dict[str, Any]:
        return controlplane.request("GET", BY_KIND[kind].path(namespace, name))[1].get("status", {})

    until(lambda: bool(status("CronJob", "cron").get("active")) and status("Job", "one").get("active") == 1)
    until(lambda: "desiredNumberScheduled" in status("DaemonSet", "daemon"))
    for name in ("cronjob/cron", "job/one", "daemonset/daemon"):
        for command in (("explain", name), ("diff", name), ("quota", "--fit", name)):
            found = kres(*command, "-n", namespace)
            assert found.returncode in {0, 1}, found.stderr
    assert "cron" in kres("explain", "cronjobs", "-n", namespace).stdout
    path = tmp_path / "all.kres"
    written = kres("snapshot", "-n", namespace, "--out", str(path))
    assert written.returncode == 0, written.stderr
    assert "cronjob" in kres("explain", "cronjob/cron", "--snapshot", str(path), "-o", "name").stdout
    controlplane.request("DELETE", BY_KIND["CronJob"].path(namespace, "cron"))


@pytest.mark.parametrize("names", ["abc", "ab"])
def test_patches_in_any_order(controlplane: ControlPlane, namespace: str, names: str) -> None:
    """Strategic merge patches as users write them: containers in another order than stored, some left out, some new."""
    containers = [{**CONTAINER, "name": name} for name in names]
    sent = made("Pod", "many", {"containers": containers, "initContainers": [{**CONTAINER, "name": "init"}]})
    status, stored = controlplane.request("POST", BY_KIND["Pod"].path(namespace), sent)
    assert status == 201
    rng, wrong = random.Random(f"{SEED}/{names}"), []
    every = names + "z"
    orders = [order for size in range(1, len(every) + 1) for order in itertools.permutations(every, size)]
    for order in orders:
        patch = {"spec": {"containers": [_change(rng, name) for name in order]}}
        if rng.random() < 0.2 and "z" not in order:
            # As kubectl edit sends it: the patch has the order that it names.
            patch["spec"]["containers"].sort(key=lambda one: one["name"])
            patch["spec"]["$setElementOrder/containers"] = [{"name": name} for name in names]
        status, answer = controlplane.request(
            "PATCH", f"{BY_KIND['Pod'].path(namespace, 'many')}/resize?dryRun=All", patch,
            content_type="application/strategic-merge-patch+json",
        )  # fmt: skip
        verdict = resize(
            _store(namespace, stored),
            Subject(ObjectRef("Pod", "many", namespace), BY_KIND["Pod"]),
            patch,
            EvaluationOptions(),
        ).verdict
        same = unordered(verdict.message) == unordered(answer["message"]) if status != 200 else verdict.allowed
        if verdict.code != status or not same:
            wrong.append(
                f"{json.dumps(patch)}: {status} {answer.get('message')}; computed {verdict.code} {verdict.message}"
            )
    assert not wrong, "\n".join(wrong)


def _change(rng: random.Random, name: str) -> dict[str, Any]:
    cpu = rng.choice(("50m", "100m", "2", "1x"))
    return rng.choice(({"name": name}, {"name": name, "resources": {"requests": {"cpu": cpu}}}))


def _store(namespace: str, stored: dict[str, Any]) -> Store:
    store = Store(Origin("cluster"))
    store.add("Pod", msgspec.convert({"kind": "Pod", **stored}, Pod))
    for kind in ("LimitRange", "ResourceQuota"):
        store.cover(ReadRequest(kind, namespace), READ)
    return store
