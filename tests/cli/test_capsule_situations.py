"""Situations that people reported of Capsule: rules and quotas of a Tenant, quotas over namespaces, migration."""

from __future__ import annotations

import json
import zlib
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest
from cli.running import Kres

from kubectl_kres.capsule.versions import NEWEST, PINNED, parse_version, remarks

NAMESPACE = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": "oven", "labels": {"capsule.clastix.io/tenant": "bakery", "resource-policy": "managed"}},
}


def tenant(*rules: Any, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "capsule.clastix.io/v1beta2",
        "kind": "Tenant",
        "metadata": {"name": "bakery", "uid": "1111"},
        "spec": {"owners": [{"kind": "User", "name": "baker"}], "rules": list(rules), **spec},
        "status": {"namespaces": ["oven"], "size": 1, "state": "Active"},
    }


def rule(resources: Any = None, action: str = "deny", **workloads: Any) -> dict[str, Any]:
    inside = {"targets": ["pod/containers"], **({"resources": resources} if resources else {}), **workloads}
    return {"enforce": {"action": action, "workloads": inside}}


def deployment(resources: Any = None, replicas: int = 1) -> dict[str, Any]:
    container = {"name": "main", "image": "nginx", **({"resources": resources} if resources else {})}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "loaf", "namespace": "oven"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "loaf"}},
            "template": {"metadata": {"labels": {"app": "loaf"}}, "spec": {"containers": [container]}},
        },
    }


def shared(hard: Any, used: Any, **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "capsule.clastix.io/v1beta2",
        "kind": "GlobalResourceQuota",
        "metadata": {"name": "bakery-all", **metadata},
        "spec": {
            "namespaceSelectors": [{"matchLabels": {"capsule.clastix.io/tenant": "bakery"}}],
            "quota": {"hard": hard},
        },
        "status": {"namespaces": ["oven"], "namespaceCount": 1, "total": {"hard": hard, "used": used}},
    }


THE_RULE = rule(
    {
        "requests": {"cpu": {"policy": "Default", "value": "100m"}},
        "limits": {"cpu": {"policy": "Remove"}, "memory": {"policy": "MatchRequest"}},
    }
)
WRITTEN = {"requests": {"memory": "64Mi"}, "limits": {"cpu": "1", "memory": "256Mi"}}


def test_rule_sets_values_with_its_place_in_the_tenant(kres: Kres, file: Callable[..., str]) -> None:
    done = kres(
        f"explain deploy/loaf -n oven -o json --offline -f {file(NAMESPACE, tenant(THE_RULE), deployment(WRITTEN))}"
    )
    (answer,) = [item for item in json.loads(done.out)["items"] if item["subject"]["kind"] == "Deployment"]
    (container,) = answer["containers"]
    values = {(value["resource"], value["side"]): value for value in container["values"]}
    assert values["cpu", "requests"]["value"] == "1"
    assert "value" not in values["cpu", "limits"]
    assert values["memory", "limits"]["value"] == "64Mi"
    place = "spec.rules[0].enforce.workloads.resources.limits[memory]"
    whole = kres(f"explain -f {file(NAMESPACE, tenant(THE_RULE), deployment(WRITTEN))} --offline --all").out
    assert f"Tenant/bakery {place}" in whole


@pytest.mark.parametrize("word", ["tenant/bakery", "ns/oven"])
def test_tenant_and_namespace_list_the_rules(kres: Kres, file: Callable[..., str], word: str, tmp_path: Any) -> None:
    snapshot = _snapshot(kres, file, tmp_path, NAMESPACE, tenant(THE_RULE), deployment(WRITTEN))
    out = kres(f"explain {word} --all --snapshot {snapshot}").out
    assert "limits.memory:" in out
    assert "Tenant/bakery spec.rules[0].enforce.workloads" in out


def test_rule_refuses_in_the_words_of_the_webhook(kres: Kres, file: Callable[..., str]) -> None:
    ratio = rule({"limits": {"cpu": {"policy": "Ratio", "value": "2"}}})
    resources = {"requests": {"cpu": "100m"}, "limits": {"cpu": "1"}}
    done = kres(f"explain -f {file(NAMESPACE, tenant(ratio), deployment(resources))} --offline")
    out = " ".join(done.out.split())
    assert (
        'admission webhook "generic.rules.validating.projectcapsule.dev" denied the request: workload resource' in out
    )
    assert "set limits.cpu of container main to at most 200m, or requests.cpu to at" in out


@pytest.mark.parametrize("limits", [{"cpu": "200m"}, None])
def test_remedy_of_a_ratio_is_true(kres: Kres, file: Callable[..., str], limits: Any) -> None:
    """With what the refusal proposes the pod comes, and without a limit the rule sets one."""
    ratio = rule({"limits": {"cpu": {"policy": "Ratio", "value": "2"}}})
    resources = {"requests": {"cpu": "100m"}, **({"limits": limits} if limits else {})}
    out = kres(f"explain -f {file(NAMESPACE, tenant(ratio), deployment(resources))} --offline").out
    assert out.startswith("admitted")


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"enforce": {"action": "warn", "workloads": {"qosClasses": ["BestEffort"]}}}, "spec.rules[0].enforce.action"),
        (rule({"limits": {"cpu": {"policy": "Halve"}}}), "limits[cpu].policy: 'Halve' is not known"),
        (rule({"limits": {"cpu": {"policy": "Ratio", "value": "many"}}}), "limits[cpu].value"),
        (rule(None, burst={"cpu": 2}), "workloads.burst: not known"),
        (rule(None, schedulers=[{"exact": ["x"]}]), "workloads.schedulers: not computed"),
        ({**THE_RULE, "audience": [{"kind": "User", "name": "eve"}]}, "spec.rules[0].audience"),
    ],
)
def test_unknown_parts_of_a_rule_are_named_with_their_place(
    kres: Kres, file: Callable[..., str], changed: Any, named: str
) -> None:
    done = kres(f"explain -f {file(NAMESPACE, tenant(changed), deployment(WRITTEN))} --offline")
    assert named in " ".join(done.out.split())
    assert "admitted" in done.out


def test_shared_quota_refuses_wherever_quotas_are_asked(kres: Kres, file: Callable[..., str], tmp_path: Any) -> None:
    objects = (
        NAMESPACE,
        shared({"requests.cpu": "2"}, {"requests.cpu": "1900m"}),
        deployment({"requests": {"cpu": "500m"}}),
    )
    snapshot = _snapshot(kres, file, tmp_path, *objects)
    said = (
        'resource exceeds GlobalResourceQuota "bakery-all": requests.cpu (requested=500m, current=1900m, '
        "projected=2400m, hard=2, exceededBy=400m)"
    )
    explained = " ".join(kres(f"explain deploy/loaf -n oven --snapshot {snapshot}").out.split())
    assert said in explained
    assert "raise requests.cpu of GlobalResourceQuota/bakery-all to 2400m" in explained
    assert "kubectl patch globalresourcequota bakery-all --type merge -p" in explained
    assert """'{"spec":{"quota":{"hard":{"requests.cpu":"2400m"}}}}'""" in explained
    assert "refused" in kres(f"explain deploy -n oven --snapshot {snapshot}").out
    assert "no such pod fits" in kres(f"quota --fit deploy/loaf -n oven --snapshot {snapshot}").out
    assert "Deployment/loaf" in kres(f"quota --denied -n oven --snapshot {snapshot}").out
    assert "KRES101" in kres(f"check -n oven --snapshot {snapshot}").out


def test_shared_quota_of_a_rule_is_raised_in_the_rule(kres: Kres, file: Callable[..., str]) -> None:
    owner = {"apiVersion": "capsule.clastix.io/v1beta2", "kind": "Tenant", "name": "bakery", "uid": "1111"}
    quota = shared({"requests.cpu": "2"}, {"requests.cpu": "1900m"}, ownerReferences=[{**owner, "controller": True}])
    quota["metadata"]["name"] = "bakery-cpu"
    made = {"quota": [{"name": "cpu", "hard": {"requests.cpu": "2"}}]}
    objects = (NAMESPACE, tenant(made), quota, deployment({"requests": {"cpu": "500m"}}))
    out = kres(f"explain -f {file(*objects)} --offline -o json").out
    (answer,) = [item for item in json.loads(out)["items"] if item["subject"]["kind"] == "Deployment"]
    edit = answer["fixes"][0]["edits"][0]
    assert (edit["object"]["kind"], edit["field"], edit["to"]) == (
        "Tenant",
        "spec.rules[0].quota[0].hard[requests.cpu]",
        "2400m",
    )


def _tenants(scope: str, used: str = "2", hard: str = "0") -> list[dict[str, Any]]:
    spaces = [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "labels": {"capsule.clastix.io/tenant": "quay"}},
        }
        for name in ("quay-a", "quay-b")
    ]
    owner = tenant(resourceQuotas={"scope": scope, "items": [{"hard": {"requests.cpu": "2"}}]})
    owner["metadata"]["name"] = "quay"
    owner["status"] = {"namespaces": ["quay-a", "quay-b"], "size": 2, "state": "Active"}
    quotas = [
        {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {
                "name": "capsule-quay-0",
                "namespace": name,
                "labels": {"capsule.clastix.io/tenant": "quay", "capsule.clastix.io/resource-quota": "0"},
            },
            "spec": {"hard": {"requests.cpu": most}},
            "status": {"hard": {"requests.cpu": most}, "used": {"requests.cpu": use}},
        }
        for name, most, use in (("quay-a", "2", used), ("quay-b", hard, "0"))
    ]
    second = deployment({"requests": {"cpu": "500m"}})
    second["metadata"]["namespace"] = "quay-b"
    return [*spaces, owner, *quotas, second]


@pytest.mark.parametrize(
    ("scope", "used", "hard", "to"),
    [("Tenant", "2", "0", "2500m"), ("Tenant", "1800m", "200m", "2300m"), ("Namespace", "2", "0", "500m")],
)
def test_figure_for_a_tenants_quota_is_the_tenants(
    kres: Kres, file: Callable[..., str], tmp_path: Any, scope: str, used: str, hard: str, to: str
) -> None:
    snapshot = _snapshot(kres, file, tmp_path, *_tenants(scope, used, hard))
    out = kres(f"explain deploy/loaf -n quay-b -o json --snapshot {snapshot}").out
    edit = (json.loads(out).get("items") or [json.loads(out)])[0]["fixes"][0]["edits"][0]
    assert (edit["object"]["kind"], edit["object"]["name"]) == ("Tenant", "quay")
    assert (edit["field"], edit["to"]) == ("spec.resourceQuotas.items[0].hard[requests.cpu]", to)


def test_migration_claims_nothing_for_what_is_idle(kres: Kres, file: Callable[..., str], tmp_path: Any) -> None:
    snapshot = _snapshot(kres, file, tmp_path, *_tenants("Tenant")[:-1])
    done = kres(f"migrate tenant/quay --snapshot {snapshot}")
    assert done.code == 0, done.err
    assert done.out.count("kind: ResourcePoolClaim") == 1
    assert "they use nothing; they claim before they use: quay-b" in done.out


def test_versions_say_where_they_may_differ() -> None:
    assert not list(remarks(PINNED, "rules"))
    (newer,) = remarks((NEWEST[0], NEWEST[1] + 1, 0), "pools")
    assert "is newer than 0.15.1" in newer
    (sets,) = remarks(parse_version("v0.14.2"), "rules")
    assert "no longer refuse any" in sets
    (unknown,) = remarks(None, "rules")
    assert "could not be read" in unknown
    assert parse_version("latest") is None


@pytest.mark.parametrize(("version", "word"), [("0.14.0", "refused"), ("0.14.2", "admitted"), ("0.16.0", "admitted")])
def test_version_of_the_definitions_decides(
    kres: Kres, file: Callable[..., str], tmp_path: Any, version: str, word: str
) -> None:
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "tenants.capsule.clastix.io", "labels": {"app.kubernetes.io/version": version}},
        "spec": {},
    }
    ratio = rule({"limits": {"cpu": {"policy": "Ratio", "value": "2"}}})
    objects = (NAMESPACE, tenant(ratio), definition, deployment({"requests": {"cpu": "100m"}, "limits": {"cpu": "1"}}))
    out = kres(f"explain deploy/loaf -n oven --snapshot {_snapshot(kres, file, tmp_path, *objects)}").out
    assert out.startswith(word)
    assert ("Capsule 0.16.0 is newer" in out) == (version == "0.16.0")


def _snapshot(kres: Kres, file: Callable[..., str], tmp_path: Any, *objects: dict[str, Any]) -> str:
    """A snapshot of a cluster in which these are."""
    del kres, file
    by_kind: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for each in objects:
        body = {key: value for key, value in each.items() if key not in {"kind", "apiVersion"}}
        metadata = {"uid": f"u-{each['kind']}-{each['metadata']['name']}", "resourceVersion": "5", **each["metadata"]}
        metadata.setdefault("creationTimestamp", "2026-11-26T09:00:00Z")
        by_kind[each["kind"]].append({**body, "metadata": metadata})
    kinds = sorted(by_kind)
    needs = [{"need": {"kind": kind}, "coverage": {"state": "read"}} for kind in sorted({*kinds, *_EMPTY})]
    head = {
        "kres": "snapshot", "format": 1, "version": "0.1.0", "origin": "test", "time": "2026-11-26T10:00:00Z",
        "server": "v1.36.3", "context": "test", "coverage": needs,
        "counts": {kind: len(by_kind[kind]) for kind in kinds},
    }  # fmt: skip
    lines = [_json(head), *(_json({"kind": kind, "items": by_kind[kind]}) for kind in kinds)]
    text = ("\n".join(lines) + "\n").encode()
    end = f'{{"end":true,"objects":{len(objects)},"coverage":null,"crc32":'.encode()
    path = tmp_path / "s.kres"
    path.write_bytes(text + end + f"{zlib.crc32(end, zlib.crc32(text))}}}\n".encode())
    return str(path)


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


_EMPTY = (
    *(
        "LimitRange",
        "ResourceQuota",
        "Pod",
        "ReplicaSet",
        "Event",
        "HorizontalPodAutoscaler",
        "PriorityClass",
        "Deployment",
    ),
    *("RuntimeClass", "StatefulSet", "DaemonSet", "Job", "CronJob", "ReplicationController", "PersistentVolumeClaim"),
    *(
        "Namespace",
        "Tenant",
        "GlobalResourceQuota",
        "CustomQuota",
        "GlobalCustomQuota",
        "ResourcePool",
        "ResourcePoolClaim",
    ),
)
