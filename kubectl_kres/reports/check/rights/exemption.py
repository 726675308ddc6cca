"""KRES903: an exemption that does not count."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene


def find(_scene: Scene) -> Iterator[Broken]:
    """Nothing: the annotations are read where exemptions are looked up."""
    return iter(())


RULE = Rule(
    code="KRES903",
    title="an exemption without a reason",
    severity="error",
    reason="Who reads the annotation in a year must learn why the finding is not mended: without a reason it "
    "does not count.",
    remedy='Write the code and the reason, as kres.dev/ignore: "KRES401 bounded by the node pool". A semicolon '
    "separates several.",
    message="annotation {annotation} does not count: {why}",
    find=find,
    failing="""
apiVersion: v1
kind: LimitRange
metadata: {name: bounds, namespace: shop, annotations: {kres.dev/ignore: KRES201}}
spec: {limits: [{type: Container, max: {memory: 1Gi}}]}
""",
    passing="""
apiVersion: v1
kind: LimitRange
metadata:
  name: bounds
  namespace: shop
  annotations: {kres.dev/ignore: KRES201 batch jobs state their own}
spec: {limits: [{type: Container, max: {memory: 1Gi}}]}
""",
)
