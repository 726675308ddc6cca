"""Objects of files that a Tenant refuses beside pods, and what becomes of workloads when a Tenant changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from cli.running import Kres
from cli.test_capsule_situations import NAMESPACE, _snapshot, deployment, rule, tenant

_COUNT = "resources.capsule.clastix.io/cakes.shop.example_v1"


def _object(kind: str, version: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "x", "namespace": "oven"}, "spec": spec}


_PATHS = [{"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "s", "port": {"number": 80}}}}]
#: What is sent, what the Tenant says, the words of the refusal and those of a fix.
_REFUSED = {
    "service": (
        _object("Service", "v1", type="NodePort", ports=[{"port": 80}]),
        {"serviceOptions": {"allowedServices": {"nodePort": False}}},
        "NodePort service types are forbidden",
        '{"spec":{"serviceOptions":{"allowedServices":{"nodePort":true}}}}',
    ),
    "ingress": (
        _object("Ingress", "networking.k8s.io/v1", ingressClassName="outer", rules=[{"host": "a.example"}]),
        {"ingressOptions": {"allowedClasses": {"allowed": ["inner"]}}},
        "Ingress Class outer is forbidden",
        "name inner in spec.ingressClassName",
    ),
    "host": (
        _object("Ingress", "networking.k8s.io/v1", rules=[{"host": "a.example", "http": {"paths": _PATHS}}]),
        {"ingressOptions": {"allowedHostnames": {"allowed": ["b.example"]}}},
        "Hostnames [a.example] are not valid",
        "use host b.example",
    ),
    "wildcard": (
        _object("Ingress", "networking.k8s.io/v1", rules=[{"host": "*.b.example", "http": {"paths": _PATHS}}]),
        {},
        "Wildcard denied for tenant bakery",
        "write out the hosts",
    ),
    "count": (
        _object("Cake", "shop.example/v1"),
        {},
        "resource cakes.shop.example_v1 has reached quota limit of 3 items",
        "delete one of its 3 cakes",
    ),
}


@pytest.mark.parametrize("name", _REFUSED)
def test_objects_of_a_file_are_held_against_the_tenant(
    kres: Kres, file: Callable[..., str], tmp_path: Any, name: str
) -> None:
    sent, spec, words, fix = _REFUSED[name]
    owner = tenant(**spec)
    owner["metadata"]["annotations"] = {f"quota.{_COUNT}": "3", f"used.{_COUNT}": "3"}
    snapshot, ask = _snapshot(kres, file, tmp_path, NAMESPACE, owner), file(sent, name="ask.json")
    done = kres(f"explain -f {ask} --snapshot {snapshot}")
    assert words in " ".join(done.out.split())
    found = kres(f"check -f {ask} --snapshot {snapshot}")
    assert found.code == 1
    text = " ".join(found.out.split())
    assert words in text
    assert fix in text


def test_one_more_namespace_than_a_tenant_may_have_is_refused(
    kres: Kres, file: Callable[..., str], tmp_path: Any
) -> None:
    snapshot = _snapshot(kres, file, tmp_path, NAMESPACE, tenant(namespaceOptions={"quota": 1}))
    more = {**NAMESPACE, "metadata": {**NAMESPACE["metadata"], "name": "oven-2"}}
    done = kres(f"explain -f {file(more, name='ask.json')} --snapshot {snapshot}")
    assert "Cannot exceed Namespace quota" in done.out
    assert "full: Tenant/bakery" in kres(f"explain tenant/bakery --snapshot {snapshot}").out


_QUOTA = {"items": [{"hard": {"pods": "1"}}], "scope": "Tenant"}
_RANGE = {"items": [{"limits": [{"type": "Container", "max": {"memory": "32Mi"}}]}]}
_MEMORY = {"limits": {"memory": "64Mi"}}


@pytest.mark.parametrize(
    ("spec", "rules", "words"),
    [
        ({"containerRegistries": {"allowed": ["r.example"]}}, (), "registry is forbidden"),
        ({"imagePullPolicies": ["Never"]}, (), "ImagePullPolicy Always for container main is forbidden"),
        ({"limitRanges": _RANGE}, (), "maximum memory usage per Container is 32Mi"),
        ({"resourceQuotas": _QUOTA}, (), "capsule-bakery-0"),
        ({}, (rule(action="deny", qosClasses=["Burstable"]),), "QoS"),
    ],
)
def test_a_changed_tenant_is_followed_to_its_pods(
    kres: Kres, file: Callable[..., str], tmp_path: Any, spec: Any, rules: Any, words: str
) -> None:
    snapshot = _snapshot(kres, file, tmp_path, NAMESPACE, tenant(), deployment(_MEMORY, replicas=2))
    changed = tenant(*rules, **spec)
    del changed["status"]
    done = kres(f"simulate -f {file(changed, name='ask.json')} --snapshot {snapshot} -o json")
    assert words in done.out
    assert "is not simulated" not in json.dumps(json.loads(done.out))


def test_a_tenant_that_does_not_change_changes_nothing(kres: Kres, file: Callable[..., str], tmp_path: Any) -> None:
    same = tenant(containerRegistries={"allowed": ["r.example"]})
    snapshot = _snapshot(kres, file, tmp_path, NAMESPACE, same, deployment(_MEMORY))
    done = kres(f"simulate -f {file(same, name='ask.json')} --snapshot {snapshot}")
    assert "Nothing changes" in done.out


def test_a_tenant_that_is_cordoned_says_what_that_means(kres: Kres) -> None:
    done = kres("simulate --demo --set tenant/ml:spec.cordoned=true")
    assert "what its users create, change or delete in its namespaces is refused" in " ".join(done.out.split())
