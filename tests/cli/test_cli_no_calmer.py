"""What a server says of a file, or waits for, is said by every command that is asked about it."""

from __future__ import annotations

import json
from typing import Any

from cli.apiserver import Api
from cli.running import Kres

Raw = dict[str, Any]
SPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}, "status": {"phase": "Active"}}
ACCOUNT = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": "shop"}}


def workload(kind: str, container: Raw, spec: Raw | None = None, **more: Any) -> Raw:
    template = {"metadata": {"labels": {"a": "web"}}, "spec": {"containers": [container], **(spec or {})}}
    selector: Raw = {"a": "web"} if kind == "ReplicationController" else {"matchLabels": {"a": "web"}}
    version = "v1" if kind == "ReplicationController" else "apps/v1"
    parts = {"replicas": 1, "selector": selector, "template": template, **more}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "web", "namespace": "shop"}, "spec": parts}


def warnings(kres: Kres, path: str) -> list[str]:
    [item] = json.loads(kres(f"explain -f {path} -o json").out)["items"]
    return list(item.get("warnings", ()))


def test_a_template_on_the_hosts_network_has_no_ports_of_the_host_before_its_pods(kres: Kres, api: Api, file):
    space = {**SPACE, "metadata": {"name": "shop", "labels": {"pod-security.kubernetes.io/warn": "baseline"}}}
    api.objects[:] = [space, ACCOUNT]
    container = {"name": "c", "image": "i:1", "ports": [{"containerPort": 80}]}
    given = file(workload("Deployment", container, {"hostNetwork": True}))
    api.version = {"gitVersion": "v1.36.3"}
    said = 'would violate PodSecurity "baseline:latest": host namespaces (hostNetwork=true)'
    assert warnings(kres, given) == [said]
    api.version = {"gitVersion": "v1.27.3"}
    assert warnings(kres, given) == [f'{said}, hostPort (container "c" uses hostPort 80)']


def test_a_template_is_warned_about_once_and_by_its_own_path(kres: Kres, api: Api, file):
    api.objects[:] = [SPACE, ACCOUNT]
    given = file(
        workload("ReplicationController", {"name": "c", "image": "i:1", "resources": {"limits": {"memory": "1.5"}}})
    )
    path = "spec.template.spec.containers[0].resources.limits[memory]"
    assert warnings(kres, given) == [f'{path}: fractional byte value "1500m" is invalid, must be an integer']


def test_a_limit_of_the_pod_below_those_of_its_containers_is_said(kres: Kres, api: Api, file):
    api.version, api.objects[:] = {"gitVersion": "v1.36.3"}, [SPACE, ACCOUNT]
    resources = {"requests": {"memory": "1Mi"}, "limits": {"memory": "80Mi"}}
    level = {"resources": {"limits": {"memory": "60Mi"}}}
    given = file(workload("Deployment", {"name": "c", "image": "i:1", "resources": resources}, level))
    said = "the containers' own memory limits add up to 80Mi"
    assert said in " ".join(kres(f"explain -f {given}").out.split())
    assert said in " ".join(kres(f"explain --all -f {given}").out.split())
    assert "KRES408" in kres(f"check -f {given}").out


def test_what_is_named_beside_files_is_asked_about_after_them(kres: Kres, api: Api, file):
    api.objects[:] = [SPACE, ACCOUNT]
    given = file(workload("Deployment", {"name": "c", "image": "i:1"}))
    found = kres(f"qos -f {given} deploy/web -n shop")
    assert (found.code, found.err) == (0, "")
    assert found.out.startswith("BestEffort: shop/Deployment/web")


def test_volumes_that_are_made_for_pods_leave_it_open_whether_nodes_take_them(kres: Kres, api: Api, file):
    room = {"cpu": "4", "memory": "8Gi", "pods": "9"}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": room}}
    api.objects[:] = [SPACE, ACCOUNT, node]
    claim = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "local"}}
    claim["spec"]["resources"] = {"requests": {"storage": "1Gi"}}  # type: ignore[index]
    given = file(
        workload("StatefulSet", {"name": "c", "image": "i:1"}, serviceName="web", volumeClaimTemplates=[claim])
    )
    out = " ".join(kres(f"simulate -f {given}").out.split())
    assert "A node takes the new pod as far as seen (not computed: the volumes of its volumeClaimTemplates)." in out
    [change] = json.loads(kres(f"simulate -f {given} -o json").out)["items"]
    assert change["nodes"][0]["notComputed"] == ["the volumes of its volumeClaimTemplates"]


def test_amounts_that_the_server_writes_otherwise_are_named_in_files_alone(kres: Kres, api: Api, file):
    hard = {"requests.memory": "1000M", "requests.cpu": "2", "pods": "3"}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "shop"}}
    api.objects[:] = [SPACE, ACCOUNT, {**quota, "spec": {"hard": hard}, "status": {"hard": hard, "used": {}}}]
    found = kres(f"check -f {file({**quota, 'spec': {'hard': hard}})}").out
    assert "note KRES218 shop/ResourceQuota/q\n  the server stores requests.memory 1000M as 1G\n" in found
    limits = [{"type": "Container", "default": {"cpu": 0.5}, "max": {"cpu": "1"}}]
    bounds = {**quota, "kind": "LimitRange", "metadata": {"name": "l", "namespace": "shop"}, "spec": {"limits": limits}}
    found = kres(f"check -f {file(bounds, name='other.json')}").out
    assert "the server stores cpu 0.5 as 500m\n" in found
    assert "KRES218" not in kres("check -n shop").out
