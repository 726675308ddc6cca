"""Names of a quota that the server takes and counts nothing for, so that they limit nothing."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from kubectl_kres.admission.quota.usage import IGNORED, claim_names
from kubectl_kres.record import Sentence

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


class UncountedName(Sentence, frozen=True):
    """A name that limits nothing. ``meant``: the one that probably was; empty: some plural and group that there is.

    ``never``: no other name limits those objects either.
    """

    meant: str = ""
    never: bool = False


def uncounted_name(name: str, used: Collection[str]) -> UncountedName | None:
    """Return what was probably meant by a name that limits nothing; None for one that something may count for.

    ``used``: the names that the quota's status has a count for; none: the controller has not counted yet.
    """
    if name.startswith("count/"):
        # The quota controller leaves out of its status what no kind of the server counts for.
        left_out = bool(used) and name not in used
        return _meant_count(name.removeprefix("count/")) or (UncountedName() if left_out else None)
    meant = _meant_name(name)
    return UncountedName(meant) if meant else None


def _meant_name(name: str) -> str:
    """Return the name that was probably meant, which limits something; empty for a name that something may count
    for.
    """
    if _STORAGE_CLASS in name:
        head, _, tail = name.partition(_STORAGE_CLASS)
        bare = head.removeprefix("requests.").removeprefix("limits.")
        if bare == head and tail in _OF_STORAGE:
            return ""
        owner_text = (
            _OF_STORAGE[1] if tail.startswith(("persistentvolume", "pvc", "count", "claim")) else _OF_STORAGE[0]
        )
        return f"{bare}{_STORAGE_CLASS}{owner_text}"
    if _DEVICE_CLASS in name:
        return (
            ""
            if name.endswith(f"{_DEVICE_CLASS}devices")
            else f"{name.partition(_DEVICE_CLASS)[0]}{_DEVICE_CLASS}devices"
        )
    if "/" not in name or name.startswith("requests.") or claim_names([name]):
        return ""
    return f"requests.{name.removeprefix('limits.')}"


def _meant_count(resource: str) -> UncountedName | None:
    """Return the name that was probably meant after ``count/``; None: something may count for it."""
    plural, _, group = resource.partition(".")
    if resource in IGNORED:
        return UncountedName(never=True)
    if group in _COUNTED and plural in _COUNTED[group].split():
        return None
    if group not in _OWN_GROUPS and "." in group:
        return None
    for service_name in _SERVICES:
        if service_name in {resource, f"services.{resource}", f"services.{resource}s"}:
            return UncountedName(service_name)
    names_by_singular = {entry.rstrip("s"): full for entry, full in _BY_PLURAL.items()}
    close = names_by_singular.get(plural.lower().rstrip("s"))
    if close is not None and close not in IGNORED:
        return UncountedName(f"count/{close}")
    near = get_close_matches(plural.lower(), [*_BY_PLURAL], 1, 0.8)
    if near and _BY_PLURAL[near[0]] not in IGNORED:
        return UncountedName(f"count/{_BY_PLURAL[near[0]]}")
    return None if group in {"autoscaling", "policy", "extensions"} else UncountedName()
