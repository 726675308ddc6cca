"""KRES209: a name of a quota that nothing is ever counted for."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.admission.quota.usage import claim_names
from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene

#: What ``count/`` may be followed by, of the groups whose kinds no server adds to.
_COUNTED = {
    "": "configmaps endpoints events limitranges persistentvolumeclaims pods podtemplates replicationcontrollers "
    "resourcequotas secrets serviceaccounts services",
    "apps": "controllerrevisions daemonsets deployments replicasets statefulsets",
    "batch": "cronjobs jobs",
}
_DEVICE_CLASS = ".deviceclass.resource.k8s.io/"


def find(scene: Scene) -> Iterator[Broken]:
    """Names of quotas that no object counts for."""
    for quota in scene.quotas:
        for name in sorted(quota.hard):
            meant = _meant(name)
            if meant:
                ref = quota.source.ref
                yield Broken(ref, {"name": name, "meant": meant}, f"spec.hard[{name}]")


def _meant(name: str) -> str:
    """What was probably meant; empty for a name that something may count for."""
    if name.startswith("count/"):
        plural, _, group = name.removeprefix("count/").partition(".")
        known = _COUNTED.get(group, "").split()
        if not known or plural in known:
            return ""
        close = next((name for name in known if name.rstrip("s") == plural.rstrip("s")), "")
        return f"count/{close}{f'.{group}' if group else ''}" if close else "the plural of a kind of that group"
    if "/" not in name or name.startswith("requests.") or claim_names([name]) or _DEVICE_CLASS in name:
        return ""
    return f"requests.{name.removeprefix('limits.')}"


RULE = Rule(
    code="KRES209",
    title="a quota name that nothing counts for",
    severity="warning",
    reason="The API server stores the quota and never enforces the name: what looks limited is not.",
    remedy="Correct the name.",
    message="{name} limits nothing: meant may be {meant}",
    find=find,
    failing="""
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: {hard: {nvidia.com/gpu: '4', count/deployment.apps: '10'}}
status: {hard: {nvidia.com/gpu: '4', count/deployment.apps: '10'}, used: {}}
""",
    passing="""
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec:
  hard:
    requests.nvidia.com/gpu: '4'
    count/deployments.apps: '10'
    count/widgets.example.com: '3'
status:
  hard:
    requests.nvidia.com/gpu: '4'
    count/deployments.apps: '10'
    count/widgets.example.com: '3'
  used: {}
""",
)
