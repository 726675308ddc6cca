"""KRES209: a name of a quota that nothing is ever counted for."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from kubectl_kres.admission.quota.usage import IGNORED, claim_names
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene

#: What ``count/`` may be followed by, of the groups whose kinds no server adds to.
_COUNTED = {
    "": "configmaps endpoints limitranges persistentvolumeclaims pods podtemplates replicationcontrollers "
    "resourcequotas secrets serviceaccounts services",
    "apps": "controllerrevisions daemonsets deployments replicasets statefulsets",
    "batch": "cronjobs jobs",
}
#: The same as the server writes them, by plural.
_BY_PLURAL = {
    plural: f"{plural}{f'.{group}' if group else ''}" for group, text in _COUNTED.items() for plural in text.split()
}
#: Groups of the API server itself that stand in no domain: a further one has at least one dot.
_OWN_GROUPS = frozenset({"", "apps", "batch", "autoscaling", "policy", "extensions"})
_SERVICES = ("services.loadbalancers", "services.nodeports")
_STORAGE_CLASS, _OF_STORAGE = ".storageclass.storage.k8s.io/", ("requests.storage", "persistentvolumeclaims")
_DEVICE_CLASS = ".deviceclass.resource.k8s.io/"
_NO_KIND = "the plural and the group of a kind that the server has"


def find(scene: Scene) -> Iterator[Broken]:
    """Names of quotas that no object counts for."""
    for quota in scene.store.all("ResourceQuota", scene.namespace):
        used = quota.status.used or {}
        for name in sorted({**(quota.spec.hard or {}), **(quota.status.hard or {})}):
            meant = meant_name(name)
            if not meant and used and name not in used and name.startswith("count/"):
                # The quota controller leaves out of its status what no kind of the server counts for.
                meant = _NO_KIND
            if meant:
                ref = ObjectRef("ResourceQuota", quota.metadata.name, scene.namespace)
                yield Broken(ref, {"name": name, "meant": meant}, f"spec.hard[{name}]")


def meant_name(name: str) -> str:
    """The name that was probably meant, which limits something; empty for a name that something may count for."""
    if name.startswith("count/"):
        return _meant_count(name.removeprefix("count/"))
    if _STORAGE_CLASS in name:
        head, _, tail = name.partition(_STORAGE_CLASS)
        bare = head.removeprefix("requests.").removeprefix("limits.")
        if bare == head and tail in _OF_STORAGE:
            return ""
        of = _OF_STORAGE[1] if tail.startswith(("persistentvolume", "pvc", "count", "claim")) else _OF_STORAGE[0]
        return f"{bare}{_STORAGE_CLASS}{of}"
    if _DEVICE_CLASS in name:
        return (
            ""
            if name.endswith(f"{_DEVICE_CLASS}devices")
            else f"{name.partition(_DEVICE_CLASS)[0]}{_DEVICE_CLASS}devices"
        )
    if "/" not in name or name.startswith("requests.") or claim_names([name]):
        return ""
    return f"requests.{name.removeprefix('limits.')}"


def _meant_count(resource: str) -> str:
    """The same of what follows ``count/``."""
    plural, _, group = resource.partition(".")
    if resource in IGNORED:
        return "none: the server never counts these objects"
    if group in _COUNTED and plural in _COUNTED[group].split():
        return ""
    if group not in _OWN_GROUPS and "." in group:
        return ""
    for own in _SERVICES:
        if own in {resource, f"services.{resource}", f"services.{resource}s"}:
            return own
    known = {entry.rstrip("s"): full for entry, full in _BY_PLURAL.items()}
    close = known.get(plural.lower().rstrip("s"))
    if close is not None and close not in IGNORED:
        return f"count/{close}"
    near = get_close_matches(plural.lower(), [*_BY_PLURAL], 1, 0.8)
    if near and _BY_PLURAL[near[0]] not in IGNORED:
        return f"count/{_BY_PLURAL[near[0]]}"
    return "" if group in {"autoscaling", "policy", "extensions"} else _NO_KIND


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
