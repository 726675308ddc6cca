"""Kinds that are not built in: those of the table are judged part by part, of any other nothing is certain."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.running import Kres

T = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
RAY = {"headGroupSpec": {"template": T}, "workerGroupSpecs": [{"groupName": "small", "replicas": 3, "template": T}]}


def test_each_part_is_judged(kres: Kres, tmp_path: Path):
    path = tmp_path / "ray.yaml"
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": {"pods": "2"}}}
    cluster = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "ray"}, "spec": RAY}
    path.write_text("\n---\n".join(map(json.dumps, (quota, cluster))))
    items = json.loads(kres(f"explain -f {path} --offline -o json").out)["items"]
    words = {one["subject"]["name"]: one["verdict"]["outcome"] for one in items if "verdict" in one}
    assert words == {"ray-head": "admitted", "ray-small": "partly"}


def test_a_kind_that_is_not_known_makes_the_answer_uncertain(kres: Kres, tmp_path: Path):
    path = tmp_path / "other.yaml"
    path.write_text("apiVersion: example.test/v1\nkind: Widget\nmetadata: {name: w}\n")
    code, out, err = kres(f"explain -f {path} --offline")
    assert code == 4
    assert "not looked at: 1 Widget" in out
    assert "whether a Widget of example.test/v1 makes pods is not known" in err


@pytest.mark.parametrize("kind", ["argoproj.io/v1alpha1 Rollout", "apps.kruise.io/v1alpha1 CloneSet"])
def test_what_is_like_a_deployment_is_called_by_its_own_name(kres: Kres, tmp_path: Path, kind: str):
    path, (version, name) = tmp_path / "web.yaml", kind.split()
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": {"pods": "2"}}}
    web = {"apiVersion": version, "kind": name, "metadata": {"name": "web"}, "spec": {"replicas": 3, "template": T}}
    path.write_text("\n---\n".join(map(json.dumps, (quota, web))))
    code, out, _ = kres(f"explain -f {path} --offline -o json")
    judged = [item for item in json.loads(out)["items"] if item.get("subject", {}).get("kind") == name]
    assert [(item["subject"]["name"], item["verdict"]["outcome"]) for item in judged] == [("web", "partly")]
    assert code == 0


RUNNER = {"apiVersion": "example.test/v1", "kind": "Runner", "metadata": {"name": "r"}, "spec": {"template": T}}
PLAIN = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, **T}


def test_how_many_pods_come_of_a_template_in_a_kind_that_is_not_known_is_uncertain(kres: Kres, tmp_path: Path):
    path = tmp_path / "runner.yaml"
    path.write_text(json.dumps(RUNNER))
    code, out, err = kres(f"explain -f {path} --offline")
    assert code == 4
    assert out.splitlines()[0] == ("admitted as far as seen: default/Runner/r; how many pods it makes is not known")
    assert "how many pods a Runner of example.test/v1 makes is not known" in err


@pytest.mark.parametrize(
    ("other", "code"),
    [
        ("example.test/v1 Widget", 4),
        ("monitoring.coreos.com/v1 Prometheus", 4),
        ("monitoring.coreos.com/v1 ServiceMonitor", 0),
        ("external-secrets.io/v1 ExternalSecret", 0),
        ("networking.k8s.io/v1 Ingress", 0),
    ],
)
def test_what_stands_beside_a_pod_makes_the_answer_uncertain_if_it_may_make_pods(
    kres: Kres, tmp_path: Path, other: str, code: int
):
    path, (version, kind) = tmp_path / "all.yaml", other.split()
    beside = {"apiVersion": version, "kind": kind, "metadata": {"name": "o"}, "spec": {}}
    path.write_text("\n---\n".join(map(json.dumps, (PLAIN, beside))))
    found = kres(f"explain -f {path} --offline")
    assert (found.code, found.out.splitlines()[-1]) == (code, f"not looked at: 1 {kind}")
    assert (f"whether a {kind} of {version} makes pods is not known" in found.err) == bool(code)


@pytest.mark.parametrize("named", ["tenant/media", "clusterqueue/media", "quota/team"])
def test_what_makes_no_pods_is_led_to_explain(kres: Kres, named: str):
    code, out, err = kres(f"diff {named} --demo")
    assert (code, out) == (2, "")
    assert " make no pods\n" in err and "/NAME answers about them\n" in err
