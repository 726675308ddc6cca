"""What versions of Capsule make of the same Tenant, by one table, and how the table and its page agree."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from kubectl_kres.capsule.model import Tenant
from kubectl_kres.capsule.rules.tenant_classes import ClaimClasses, lists_of
from kubectl_kres.capsule.rules.tenant_objects import ObjectWebhooks
from kubectl_kres.capsule.rules.workload_rules import rules_of_tenant, webhook_of
from kubectl_kres.capsule.versions import CHANGES, parse_version, remarks, unknown_text
from kubectl_kres.model.objects import decode_object
from kubectl_kres.model.quota_objects import DeviceClass, PersistentVolumeClaim

_DEVICES = {
    name: decode_object({"metadata": {"name": name, "labels": {"tier": name}}}, DeviceClass)
    for name in ("big", "small")
}


def _tenant(**spec: Any) -> Tenant:
    return decode_object({"metadata": {"name": "bakery"}, "spec": spec}, Tenant)


def _claim_on_devices(*names: str) -> dict[str, Any]:
    requests = [{"name": name, "exactly": {"deviceClassName": name}} for name in names]
    return {
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "c"},
        "spec": {"devices": {"requests": requests}},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("version", "names", "refused"),
    [
        ("0.11.2", ("small",), False),
        ("0.12.0", ("small",), True),
        ("0.14.0", ("big", "small"), False),
        ("0.15.0", ("big", "small"), True),
    ],
)
def test_claims_on_devices(version: str, names: tuple[str, ...], refused: bool) -> None:
    tenant = _tenant(deviceClasses={"matchLabels": {"tier": "big"}})
    lists = lists_of(tenant, devices=_DEVICES, version=parse_version(version))
    assert (ObjectWebhooks(lists).review(_claim_on_devices(*names)) is not None) == refused


@pytest.mark.parametrize(("version", "code"), [("0.12.4", 500), ("0.13.0", 0)])
def test_claims_that_select_volumes(version: str, code: int) -> None:
    raw = {"metadata": {"name": "c"}, "spec": {"selector": {"matchLabels": {"a": "b"}}}}
    refusal = ClaimClasses(lists_of(_tenant(), version=parse_version(version))).review(
        decode_object(raw, PersistentVolumeClaim)
    )
    assert (refusal.code if refusal is not None else 0) == code


@pytest.mark.parametrize(("version", "code"), [("0.12.4", 500), ("0.13.0", 403)])
def test_claims_that_name_volumes_of_others(version: str, code: int) -> None:
    raw = {"metadata": {"name": "c"}, "spec": {"volumeName": "v"}}
    lists = lists_of(_tenant(), volumes={"v": {}}, version=parse_version(version))
    refusal = ClaimClasses(lists).review(decode_object(raw, PersistentVolumeClaim))
    assert refusal is not None
    assert refusal.code == code


@pytest.mark.parametrize(
    ("version", "resources", "classes", "refuses"),
    [
        ("0.13.6", False, False, None),
        ("0.13.7", False, True, True),
        ("0.14.0", True, True, True),
        ("0.14.2", True, True, False),
    ],
)
def test_rules_about_pods(version: str, resources: bool, classes: bool, refuses: bool | None) -> None:
    workloads = {"resources": {"limits": {"cpu": {"policy": "Remove"}}}, "qosClasses": ["Guaranteed"]}
    tenant = _tenant(rules=[{"enforce": {"action": "deny", "workloads": workloads}}])
    webhook = webhook_of(rules_of_tenant(tenant, None).rules, parse_version(version))
    assert (webhook is not None) == (resources or classes)
    if webhook is not None:
        (rule,) = webhook.rules
        assert (bool(rule.limits), bool(rule.qos), webhook.refuses) == (resources, classes, refuses)
    assert bool(unknown_text("resource-rules", parse_version(version))) != resources


def test_what_is_followed_and_was_read_is_not_remarked() -> None:
    assert list(remarks(parse_version("0.13.7"), "rules")) == []
    (text,) = remarks(parse_version("0.15.1"), "classes")
    assert "a pattern that does not compile" in text


def test_the_page_has_the_table() -> None:
    page = (Path(__file__).parents[2] / "docs" / "capsule-versions.md").read_text()
    rows = re.findall(r"^\| ([0-9.]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", page, re.MULTILINE)
    assert rows == [
        (
            ".".join(map(str, change.version)), change.area, change.text or "was not read",
            "followed" if change.followed_as is not None else "said",
        )
        for change in CHANGES
        if change.version >= (0, 12, 0)
    ]  # fmt: skip
