"""Fixes of huge pages are whole pages, on both sides: the server refuses all others."""

from __future__ import annotations

import pytest
from cli.running import Kres

from kubectl_kres.reports.scheduling.lowered_requests import round_down, sides_of

PODS = """
apiVersion: v1
kind: LimitRange
metadata: {name: lr, namespace: default}
spec: {limits: [{type: Container, max: {hugepages-2Mi: 5Mi}}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: default}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      containers:
      - {name: app, image: i, resources: {requests: {cpu: 1m, hugepages-2Mi: 8Mi}, limits: {hugepages-2Mi: 8Mi}}}
"""


def test_a_bound_is_kept_in_whole_pages(kres: Kres, tmp_path):
    (tmp_path / "w.yaml").write_text(PODS)
    found = kres("explain", "-f", str(tmp_path / "w.yaml"), "--offline", "-o", "brief")
    assert "set limits.hugepages-2Mi and requests.hugepages-2Mi of container app to 4Mi" in found.out


@pytest.mark.parametrize(
    ("resource", "number", "down", "sides"),
    [
        ("hugepages-2Mi", 5 << 20, 4 << 20, ("requests", "limits")),
        ("hugepages-1Gi", 1500 << 20, 1 << 30, ("requests", "limits")),
        ("nvidia.com/gpu", 3, 3, ("requests", "limits")),
        ("memory", (5 << 20) + 1, 5 << 20, ("requests",)),
        ("cpu", 333, 333, ("requests",)),
    ],
)
def test_what_is_lowered_for_a_node(resource: str, number: int, down: int, sides: tuple[str, ...]):
    assert (round_down(resource, number), sides_of(resource)) == (down, sides)
