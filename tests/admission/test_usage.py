"""What objects count for, and which names of a quota concern their kind."""

from __future__ import annotations

import msgspec
import pytest
from admission.samples import container, pod

from kubectl_kres.admission.base.draft import draft_pod, parse_list
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.quota.usage import (
    claim_names,
    claim_usage,
    object_usage,
    pod_names,
    pod_usage,
    service_names,
    service_usage,
)
from kubectl_kres.model.quota_objects import PersistentVolumeClaim, Service

HARD = [
    "pods", "count/pods", "cpu", "requests.cpu", "limits.cpu", "memory", "requests.storage", "hugepages-2Mi",
    "requests.hugepages-1Gi", "requests.example.com/gpu", "example.com/gpu", "limits.example.com/gpu", "services",
    "count/services", "services.nodeports", "persistentvolumeclaims", "configmaps", "count/deployments.apps",
    "gold.storageclass.storage.k8s.io/requests.storage", "requests.deviceclass.resource.kubernetes.io/big",
]  # fmt: skip


def test_which_names_concern_which_kind():
    assert pod_names(HARD) == [
        "pods", "count/pods", "cpu", "requests.cpu", "limits.cpu", "memory", "hugepages-2Mi", "requests.hugepages-1Gi",
        "requests.example.com/gpu", "requests.deviceclass.resource.kubernetes.io/big",
    ]  # fmt: skip
    assert service_names(HARD) == ["services", "count/services", "services.nodeports"]
    assert claim_names(HARD) == [
        "requests.storage", "persistentvolumeclaims", "gold.storageclass.storage.k8s.io/requests.storage",
    ]  # fmt: skip


def shown(usage: dict) -> dict[str, str]:
    return {name: str(quantity) for name, quantity in usage.items()}


def test_a_pod():
    given = pod(
        container(
            limits={"cpu": "1", "example.com/gpu": "1", "hugepages-2Mi": "2Mi"},
            requests={"cpu": "500m", "ephemeral-storage": "1Gi", "example.com/gpu": "1", "hugepages-2Mi": "2Mi"},
        ),
        overhead={"cpu": "250m", "memory": "64Mi"},
    )
    draft = draft_pod(given, Server())
    assert shown(pod_usage(draft)) == {
        "count/pods": "1",
        "pods": "1",
        "cpu": "750m",
        "requests.cpu": "750m",
        "limits.cpu": "1250m",
        "memory": "64Mi",
        "requests.memory": "64Mi",
        "ephemeral-storage": "1Gi",
        "requests.ephemeral-storage": "1Gi",
        "hugepages-2Mi": "2Mi",
        "requests.hugepages-2Mi": "2Mi",
        "requests.example.com/gpu": "1",
    }
    assert shown(pod_usage(draft, terminal=True)) == {"count/pods": "1"}


@pytest.mark.parametrize(
    ("spec", "balancers", "ports"),
    [
        ({}, "0", "0"),
        ({"type": "NodePort", "ports": [{"port": 80}, {"port": 443}]}, "0", "2"),
        ({"type": "LoadBalancer", "ports": [{"port": 80}, {"port": 443, "nodePort": 30443}]}, "1", "2"),
        (
            {
                "type": "LoadBalancer",
                "allocateLoadBalancerNodePorts": False,
                "ports": [{"port": 80}, {"port": 443, "nodePort": 30443}],
            },
            "1",
            "1",
        ),
    ],
)
def test_a_service(spec, balancers, ports):
    assert shown(service_usage(msgspec.convert({"spec": spec}, Service))) == {
        "count/services": "1",
        "services": "1",
        "services.loadbalancers": balancers,
        "services.nodeports": ports,
    }


@pytest.mark.parametrize(
    ("annotation", "named", "asked", "granted", "version", "counted"),
    [
        (None, "", "1500m", None, (1, 36), {"requests.storage": "2"}),
        (None, "", "1Gi", "2Gi", (1, 36), {"requests.storage": "2Gi"}),
        (None, "", "1Gi", "2Gi", (1, 31), {"requests.storage": "1Gi"}),
        (
            "fast",
            "slow",
            "1Gi",
            None,
            (1, 36),
            {
                "requests.storage": "1Gi",
                "fast.storageclass.storage.k8s.io/requests.storage": "1Gi",
                "fast.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
            },
        ),
        (None, "slow", None, None, (1, 36), {"slow.storageclass.storage.k8s.io/persistentvolumeclaims": "1"}),
    ],
)
def test_a_claim(annotation, named, asked, granted, version, counted):
    """Whole bytes; the beta annotation wins over the class; an allocated size counts once the gate is on."""
    annotations = {"volume.beta.kubernetes.io/storage-class": annotation} if annotation else None
    raw = {"metadata": {"annotations": annotations}, "spec": {"storageClassName": named}}
    requests = parse_list({"storage": asked} if asked else None, "r")
    allocated = parse_list({"storage": granted} if granted else None, "a")
    usage = claim_usage(msgspec.convert(raw, PersistentVolumeClaim), requests, allocated, Server(version))
    assert shown(usage) == {"persistentvolumeclaims": "1", "count/persistentvolumeclaims": "1", **counted}


@pytest.mark.parametrize(
    ("resource", "names"),
    [
        ("deployments.apps", {"count/deployments.apps"}),
        ("configmaps", {"count/configmaps", "configmaps"}),
        ("resourcequotas", {"count/resourcequotas", "resourcequotas"}),
    ],
)
def test_any_other_object(resource, names):
    assert object_usage(resource).keys() == names
