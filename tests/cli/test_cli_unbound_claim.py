"""``explain pvc/NAME`` of a claim that is admitted and not bound: why, in the controller's words, and what to do."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cli.apiserver import Api
from cli.running import Kres

REF = "shop/PersistentVolumeClaim/data"
SAID = "no persistent volumes available for this claim and no storage class is set"
FIRST = "waiting for first consumer to be created before binding"


def claim(phase: str = "Pending", **spec: Any) -> dict[str, Any]:
    own = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **spec}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "shop", "creationTimestamp": "2026-11-20T00:00:00Z"},
        "spec": own,
        "status": {"phase": phase},
    }


def event(reason: str, message: str) -> dict[str, Any]:
    about = {"kind": "PersistentVolumeClaim", "name": "data", "namespace": "shop"}
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "data.1", "namespace": "shop"},
        "involvedObject": about,
        "type": "Normal",
        "reason": reason,
        "message": message,
        "lastTimestamp": "2026-11-20T00:01:00Z",
    }


def storage_class(*, default: bool) -> dict[str, Any]:
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"} if default else {}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "fast", "annotations": annotations},
        "provisioner": "x.test",
    }


@pytest.mark.parametrize(
    ("objects", "first", "fix", "code"),
    [
        (
            (claim(), event("FailedBinding", SAID), storage_class(default=False)),
            f"admitted, but waits: {REF}: no StorageClass is the default and the claim names none: {SAID}",
            "fix     set spec.storageClassName to a StorageClass, mark one as the default, or create a",
            1,
        ),
        (
            (claim(storageClassName="gone"), storage_class(default=True)),
            f"admitted, but waits: {REF}: StorageClass gone does not exist",
            "fix     create StorageClass gone, or create a PersistentVolume that fits it",
            1,
        ),
        (
            (claim(storageClassName="fast"), event("ProvisioningFailed", "no space"), storage_class(default=True)),
            f"admitted, but waits: {REF}: no volume was found or made for it: no space",
            "fix     create a PersistentVolume that fits it",
            1,
        ),
        (
            (claim(storageClassName="fast"), event("WaitForFirstConsumer", FIRST), storage_class(default=True)),
            f"admitted, starting: {REF}: it is bound once a pod that uses it has a node: {FIRST}",
            "",
            0,
        ),
        ((claim("Bound"), storage_class(default=True)), f"admitted: {REF}", "", 0),
    ],
)  # fmt: skip
def test_why_it_is_not_bound(kres: Kres, api: Api, objects: tuple[Any, ...], first: str, fix: str, code: int):
    api.objects += objects
    found = kres("explain pvc/data --exit-code")
    text = " ".join(found.out.split())
    assert found.code == code and text.startswith(first), text
    assert " ".join(fix.split()) in text and ("fix " in text) == bool(fix)


def test_without_the_right_to_read_classes_or_events_nothing_is_claimed_of_them(kres: Kres, api: Api):
    api.objects.append(claim())
    api.denied = {"storageclasses", "events"}
    found = kres("explain pvc/data")
    assert found.code == 4  # a default class that cannot be seen may be there
    assert "data: no volume was found or made for it (for " in " ".join(found.out.split())
    [item] = json.loads(kres("explain pvc/data -o json").out)["items"]
    assert item["runState"]["reason"] == "UnboundVolumeClaim" and "StorageClass" not in item["runState"]["detail"]
