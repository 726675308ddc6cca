"""A file of what the cluster has already, and a file whose rollout is refused: three commands say the same."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from cli.apiserver import Api
from cli.running import Kres

#: What the server writes into each template.
FILLED_IN = {"schedulerName": "default-scheduler", "restartPolicy": "Always", "dnsPolicy": "ClusterFirst"}
REPLICAS = 2
COMMANDS = (
    "explain -f {} -n shop --exit-code",
    "check -f {} -n shop --exit-code",
    "simulate -f {} -n shop --exit-code",
)


def written(kind: str, **spec: Any) -> dict[str, Any]:
    """A workload as its file has it."""
    resources = {"requests": {"cpu": 0.1, "memory": "64Mi"}, "limits": {"memory": "64Mi"}}
    container = {"name": "app", "image": "app:1", "resources": resources}
    template = {"metadata": {"labels": {"app": kind}}, "spec": {"containers": [container], "nodeSelector": {"a": "b"}}}
    counted = {} if kind == "DaemonSet" else {"replicas": REPLICAS}
    spec = {"selector": {"matchLabels": {"app": kind}}, "template": template, **counted, **spec}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": kind.lower()}, "spec": spec}


def stored(file: dict[str, Any], pods: int, *, ready: bool) -> list[dict[str, Any]]:
    """The same as a server holds it, with what its controller made of it."""
    one = copy.deepcopy(file)
    kind, name = one["kind"], one["metadata"]["name"]
    one["metadata"] |= {"namespace": "shop", "generation": 1, "uid": name}
    spec = one["spec"]["template"]["spec"]
    spec |= FILLED_IN
    spec["containers"][0]["resources"]["requests"]["cpu"] = "100m"
    counts = {
        "replicas": pods,
        "updatedReplicas": pods,
        "readyReplicas": pods * ready,
        "availableReplicas": pods * ready,
    }
    daemon = {"desiredNumberScheduled": pods, "currentNumberScheduled": pods, "updatedNumberScheduled": pods}
    one["status"] = {"observedGeneration": 1, **(daemon if kind == "DaemonSet" else counts)}
    made, label = [one], {"controller-revision-hash": f"{name}-1"}
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": name, "controller": True}
    if kind == "Deployment":
        label = {"pod-template-hash": "1"}
        template = copy.deepcopy(one["spec"]["template"])
        template["metadata"]["labels"] |= label
        notes = {"deployment.kubernetes.io/revision": "1"}
        metadata = {"name": f"{name}-1", "namespace": "shop", "ownerReferences": [owner], "annotations": notes}
        made.append({
            "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata,
            "spec": {"replicas": pods, "selector": {"matchLabels": label}, "template": template},
            "status": {"replicas": pods},
        })  # fmt: skip
        owner = {**owner, "kind": "ReplicaSet", "name": f"{name}-1"}
    else:
        one["status"] |= {"currentRevision": f"{name}-1", "updateRevision": f"{name}-1"}
        metadata = {"name": f"{name}-1", "namespace": "shop", "ownerReferences": [owner]}
        data = {"spec": {"template": {**one["spec"]["template"], "$patch": "replace"}}}
        revision = {"apiVersion": "apps/v1", "kind": "ControllerRevision", "revision": 1}
        made.append({**revision, "metadata": metadata, "data": data})
    for number in range(pods):
        labels = {"app": kind, **label}
        metadata = {"name": f"{name}-{number}", "namespace": "shop", "labels": labels, "ownerReferences": [owner]}
        status = {"phase": "Running" if ready else "Pending"}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}
        made.append({**pod, "spec": copy.deepcopy(one["spec"]["template"]["spec"]), "status": status})
    return made


def quota(pods: int) -> dict[str, Any]:
    """One that its pods fill."""
    hard = {"pods": str(pods)}
    metadata = {"name": "team", "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": hard},
            "status": {"hard": hard, "used": hard}}  # fmt: skip


KINDS = ("StatefulSet", "Deployment", "DaemonSet")


@pytest.mark.parametrize("kinds", [*((kind,) for kind in KINDS), KINDS], ids="-".join)
@pytest.mark.parametrize("denied", [False, True], ids=["revisions", "no-revisions"])
@pytest.mark.parametrize("full", [False, True], ids=["open", "full"])
@pytest.mark.parametrize(("existing", "ready"), [(1, False), (2, False), (2, True)])
def test_a_redeploy_changes_nothing(
    api: Api, kres: Kres, file: Callable[..., str], kinds: tuple[str, ...], denied: bool, full: bool,
    existing: int, ready: bool,
):  # fmt: skip
    """Also where an ordered StatefulSet waits for its first pod, so that one of two is there."""
    if denied:
        api.denied.add("controllerrevisions")
    files = [written(kind) for kind in kinds]
    total = 0
    for one in files:
        number = existing if one["kind"] == "StatefulSet" else 1 if one["kind"] == "DaemonSet" else REPLICAS
        api.objects += stored(one, number, ready=ready)
        total += number
    lacks = full and existing < REPLICAS and "StatefulSet" in kinds
    if full:
        api.objects.append(quota(total))
    name = file(*files)
    for command in COMMANDS:
        code, out, err = kres(command.format(name))
        if lacks and command.startswith(("explain", "check")):
            continue  # The pod that it lacks is refused, whoever applies the file.
        assert code == 0, (command, out, err)
        assert "nothing changes" in out.lower(), (command, out)
        assert "KRES1" not in out.replace("KRES104", "") and "orse" not in out, (command, out)


@pytest.mark.parametrize(("kind", "surges"), [("Deployment", True), ("StatefulSet", False), ("DaemonSet", False)])
def test_a_rollout_under_a_full_quota(api: Api, kres: Kres, file: Callable[..., str], kind: str, surges: bool):
    """Refused where a new pod comes before an old one goes; as a real server does, see tests/e2e."""
    one = written(kind)
    number = 1 if kind == "DaemonSet" else REPLICAS
    api.objects += [*stored(one, number, ready=True), quota(number)]
    one["spec"]["template"]["spec"]["containers"][0]["image"] = "app:2"
    name = file(one)
    explained, checked = kres(COMMANDS[0].format(name)), kres(COMMANDS[1].format(name))
    assert (explained.code, checked.code) == (int(surges), int(surges)), (explained.out, checked.out)
    assert ("error KRES101" in checked.out) == surges
    assert "nothing changes" not in explained.out + checked.out


def test_an_edit_that_the_server_refuses(api: Api, kres: Kres, file: Callable[..., str]):
    """A selector is written once."""
    one = written("Deployment")
    api.objects += stored(one, REPLICAS, ready=True)
    one["spec"]["selector"]["matchLabels"] = {"app": "other"}
    one["spec"]["template"]["metadata"]["labels"] = {"app": "other"}
    name = file(one)
    explained, checked = kres(COMMANDS[0].format(name)), kres(COMMANDS[1].format(name))
    assert (explained.code, checked.code) == (1, 1), (explained.out, checked.out)
    assert "error KRES116" in checked.out and "field is immutable" in checked.out


def test_the_next_command_of_check_says_the_same(api: Api, kres: Kres, file: Callable[..., str]):
    """A file without a namespace, asked about in one whose quota is full."""
    api.objects.append(quota(1))
    name = file(written("Deployment"))
    checked = kres(f"check -f {name} -n shop")
    assert checked.code == 1
    [line] = {line.strip() for line in checked.out.splitlines() if "next kubectl kres" in line}
    code, out, _ = kres(f"{line.removeprefix('next kubectl kres ')} --exit-code")
    assert code == 1 and out.startswith("refused: shop/Deployment/deployment"), (line, out)
