"""Kinds that are not built in: those of the table are judged part by part, of any other nothing is certain."""

from __future__ import annotations

import json
from pathlib import Path

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
