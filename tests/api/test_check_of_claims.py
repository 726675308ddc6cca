"""``check`` and ``explain`` of objects that make no pods: claims, what else quotas count, policies, as the commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli.apiserver import Api
from cli.running import Kres

from kubectl_kres import api as python_api
from kubectl_kres.errors import NotFound, UsageError

Raw = dict[str, Any]


def claim(size: str) -> Raw:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "c", "namespace": "shop"},
        "spec": spec,
    }


def quota() -> Raw:
    hard = {"requests.storage": "4Gi", "configmaps": "2"}
    meta = {"name": "q", "namespace": "shop"}
    return {
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta, "spec": {"hard": hard},
        "status": {"hard": hard, "used": {"requests.storage": "0", "configmaps": "0"}},
    }  # fmt: skip


@pytest.mark.parametrize(("size", "refused"), [("9Gi", True), ("2Gi", False)])
def test_a_claim_is_answered_as_explain_does(size: str, refused: bool) -> None:
    findings = python_api.check(claim(size), policies=[quota()])
    assert [it.report.code for it in findings] == (["KRES116"] if refused else [])
    if refused:
        assert "requests.storage" in findings[0].text()


def test_what_nothing_looks_at_is_said() -> None:
    with pytest.raises(UsageError, match="nothing that makes pods"):
        python_api.check(quota(), policies=[])


CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "shop"}}


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (claim("9Gi"), ("refused", "exceeded quota: q")),
        (claim("2Gi"), ("admitted", "")),
        (CONFIG, ("admitted", "")),
        (quota(), ("admitted", "")),
    ],
)
def test_explain_answers_as_the_command_does(kres: Kres, tmp_path: Path, item: Raw, words: tuple[str, str]) -> None:
    answer = python_api.explain(item, policies=[quota()])
    assert answer.outcome == words[0]
    assert words[1] in answer.refusal
    assert (answer.qos_class, answer.values) == ("", {})
    path = tmp_path / "item.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [item]}))
    also = tmp_path / "quota.json"
    also.write_text(json.dumps(quota()))
    beside = () if item["kind"] == "ResourceQuota" else ("-f", str(also))
    told = kres("explain", "-f", str(path), *beside, "--offline", "-o", "json")
    items = json.loads(told.out)["items"]
    (own,) = [it for it in items if it["subject"]["kind"] == item["kind"]]
    # What --offline supposes is said of the command's bare pod alone.
    assert {**answer.to_dict(), "podWithoutValues": None} == {**own, "podWithoutValues": None}
    assert answer.text()


def test_a_stored_claim_and_a_quota_by_name(kres: Kres, api: Api) -> None:
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}, "status": {"phase": "Active"}}
    api.objects[:] = [claim("2Gi"), quota(), space]
    cluster = python_api.open_cluster(namespace="shop")
    for name in ("pvc/c", "quota/q", "ns/shop"):
        answer = python_api.explain(name, cluster=cluster)
        told = json.loads(kres("explain", name, "-n", "shop", "-o", "json").out)["items"]
        assert [answer.to_dict()] == told, name


def test_what_is_named_and_not_there(api: Api) -> None:
    api.objects[:] = [quota()]
    with pytest.raises(NotFound, match='"none" not found'):
        python_api.explain("pvc/none", cluster=python_api.open_cluster(namespace="shop"))


def test_a_claim_that_grows_costs_what_it_grows_by(api: Api) -> None:
    stored, bounds = claim("2Gi"), quota()
    stored["spec"]["storageClassName"] = "growing"
    stored["status"] = {"phase": "Bound", "capacity": {"storage": "2Gi"}}
    bounds["status"]["used"] = {"requests.storage": "2Gi", "configmaps": "0"}
    made = {
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "growing"},
        "provisioner": "x.test", "allowVolumeExpansion": True,
    }  # fmt: skip
    api.objects[:] = [stored, bounds, made]
    cluster = python_api.open_cluster(namespace="shop")
    grown = {**stored, "spec": {**stored["spec"], "resources": {"requests": {"storage": "4Gi"}}}}
    assert python_api.explain(grown, cluster=cluster).outcome == "admitted"
    grown["spec"]["resources"] = {"requests": {"storage": "5Gi"}}
    answer = python_api.explain(grown, cluster=cluster)
    assert answer.outcome == "refused"
    assert "requested: requests.storage=3Gi, used: requests.storage=2Gi" in answer.refusal
