"""The steps of a change, and what an object is once a step was carried out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from kubectl_kres.model.objects import Raw
from kubectl_kres.model.workload_kinds import SCALED
from kubectl_kres.simulate.state import Key, key_of
from kubectl_kres.simulate.system import pod_writers

#: Numbers that stay as they are where a file does not say them.
_KEPT = {**dict.fromkeys(SCALED, ("replicas",)), "Job": ("completions", "parallelism")}
#: Lists that a strategic merge patch merges, with the key of their elements; of a Task --set names elements like that.
_MERGED = {
    "containers": "name",
    "initContainers": "name",
    "ephemeralContainers": "name",
    "volumes": "name",
    "env": "name",
    "imagePullSecrets": "name",
    "resourceClaims": "name",
    "steps": "name",
    "sidecars": "name",
    "ports": "containerPort",
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
    "hostAliases": "ip",
    "topologySpreadConstraints": "topologyKey",
    "containerRecommendations": "containerName",
    "containerPolicies": "containerName",
}


class Apply(Struct, frozen=True):
    """An object as a file holds it: created, or put in the place of the one of its name. ``kept``: what the file does
    not say stays as it is (replicas), as with kubectl apply. ``refused``: what is said of it before anything else looks
    at it, since there is no such kind or namespace.
    """

    object: Raw
    kept: bool = False
    refused: str = ""
    label: str = ""


class Delete(Struct, frozen=True):
    """An object and what it owns are deleted."""

    kind: str
    name: str
    label: str = ""


class ScaleStep(Struct, frozen=True):
    """The number of replicas, as kubectl scale sets it."""

    kind: str
    name: str
    replicas: int
    label: str = ""


class Patch(Struct, frozen=True):
    """A strategic merge patch."""

    kind: str
    name: str
    patch: Raw
    label: str = ""


class Evict(Struct, frozen=True):
    """Who writes into pods by this object evicts old ones until nothing changes; of each pass a step."""

    kind: str
    name: str
    label: str = ""


class WaitForControllers(Struct, frozen=True):
    """Wait until the controllers are at rest."""


class ParameterStep(Struct, frozen=True):
    """A step about an object that policies take parameters from, and where that stands: in a namespace, or in none.

    ``in_namespace``: it is the namespace that is simulated.
    """

    step: Apply | Delete | Patch
    api_version: str
    namespace: str
    in_namespace: bool


Step = Apply | Delete | ScaleStep | Patch | Evict | WaitForControllers | ParameterStep


class PlacedStep(Struct, frozen=True):
    """A step and the namespace of its object; empty for a cluster-scoped object."""

    step: Step
    namespace: str = ""


def key_of_step(step: Step) -> Key:
    """Return the object that a step is about."""
    if isinstance(step, ParameterStep):
        return key_of_step(step.step)
    if isinstance(step, Apply):
        return key_of(step.object)
    return ("", "") if isinstance(step, WaitForControllers) else (step.kind, step.name)


def apply_step(step: Step, stored: Raw | None) -> dict[str, Any]:
    """Return the object as it is sent to be stored. ``stored``: the one that is there."""
    if isinstance(step, Apply):
        return _taken_over(step, stored)
    result = stored or {}
    if isinstance(step, ScaleStep):
        return {**result, "spec": {**(result.get("spec") or {}), "replicas": step.replicas}}
    return strategic_merge(result, step.patch) if isinstance(step, Patch) else dict(result)


def _taken_over(step: Apply, stored: Raw | None) -> dict[str, Any]:
    """Return what a file does not own stays: identity, status and, where the file says nothing, replicas."""
    sent = dict(step.object)
    if stored is None:
        return sent
    metadata = stored.get("metadata") or {}
    identity = {
        key: metadata[key] for key in ("uid", "creationTimestamp", "ownerReferences", "generation") if key in metadata
    }
    sent["metadata"] = {**(sent.get("metadata") or {}), **identity}
    # What is written into pods stands in a status: with that of a file its controller is taken to agree.
    if "status" in stored and not (sent["kind"] in pod_writers() and sent.get("status")):
        sent["status"] = stored["status"]
    if step.kept:
        stored_spec, spec = stored.get("spec") or {}, sent.get("spec") or {}
        kept = {
            key: stored_spec[key]
            for key in _KEPT.get(sent["kind"], ())
            if stored_spec.get(key) is not None and key not in spec
        }
        sent["spec"] = {**spec, **kept} if kept else spec
    return sent


def strategic_merge(stored: Any, patch: Any, key: str = "") -> Any:
    """Return a strategic merge patch applied. Source: apimachinery strategicpatch."""
    if isinstance(patch, Mapping):
        result = dict(stored) if isinstance(stored, Mapping) else {}
        for name, value in patch.items():
            if value is None:
                result.pop(name, None)
            else:
                result[name] = strategic_merge(result.get(name), value, name)
        return result
    if isinstance(patch, list) and key in _MERGED and isinstance(stored, list):
        return _merged_list(stored, patch, _MERGED[key])
    return patch


def _merged_list(stored: list[Any], patch: list[Any], key: str) -> list[Any]:
    result = list(stored)
    for item in patch:
        name = item.get(key)
        position = next((index for index, other in enumerate(result) if other.get(key) == name), None)
        plain = {field: value for field, value in item.items() if field != "$patch"}
        if item.get("$patch") == "delete":
            result = [other for other in result if other.get(key) != name]
        elif position is None:
            result.append(strategic_merge({}, plain))
        else:
            result[position] = strategic_merge(result[position], plain)
    return result


def difference(old: Raw, new: Raw) -> dict[str, Any]:
    """Return a merge patch that makes of the stored object what a file holds: labels and annotations stay, the spec is
    the file's.
    """
    patch: dict[str, Any] = {}
    metadata = new.get("metadata") or {}
    tags = {key: metadata[key] for key in ("labels", "annotations") if metadata.get(key)}
    if tags:
        patch["metadata"] = tags
    spec = _build_patch(old.get("spec") or {}, new.get("spec") or {})
    return {**patch, "spec": spec} if spec else patch


def _build_patch(old: Raw, new: Raw) -> dict[str, Any]:
    """Return the merge patch that turns ``old`` into ``new``; removed keys are null."""
    result: dict[str, Any] = {}
    for key, value in new.items():
        outcome = old.get(key)
        if isinstance(value, Mapping) and isinstance(outcome, Mapping):
            inner = _build_patch(outcome, value)
            if inner:
                result[key] = inner
        elif value != outcome:
            result[key] = value
    # The pool that a webhook chose stays where a file names none.
    return result | {key: None for key in old if key not in new and key != "pool"}
