"""The objects of one namespace, with the cluster's classes: what a change is applied to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from kubectl_kres.admission.request.new_pod import Policies, policies_of
from kubectl_kres.errors import QuantityError
from kubectl_kres.model.pod import PodTemplateSpec
from kubectl_kres.model.policy import LimitRange, PriorityClass, ResourceQuota, RuntimeClass
from kubectl_kres.model.quota_objects import ResourceClaimTemplate
from kubectl_kres.model.raw import Raw, decoded
from kubectl_kres.model.workload import template_in
from kubectl_kres.quantity import parse
from kubectl_kres.simulate.layered import LayeredMapping

#: Kind and name of an object; classes of the cluster stand beside what is in the namespace.
Key = tuple[str, str]

#: What a world holds where it was read: Tekton's runs depend on it, and admission looks at nothing of it.
OF_RUNS = ("Task", "StepAction", "ConfigMap")
CONTROLLED = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "Job")
_DECIDING = (
    "LimitRange", "PriorityClass", "RuntimeClass", "StorageClass", "Namespace", "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "DeviceClass",
    "ResourceClaimTemplate",
)  # fmt: skip
#: What ``policies`` and ``admitting`` are made of.
_LOOKED_UP = frozenset({
    *("LimitRange", "PriorityClass", "RuntimeClass", "StorageClass", "DeviceClass", "ResourceClaimTemplate"),
})  # fmt: skip
_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


def key_of(raw: Raw) -> Key:
    """Kind and name, or the beginning of a name that the server completes."""
    metadata = raw.get("metadata") or {}
    return str(raw.get("kind", "")), str(metadata.get("name") or metadata.get("generateName") or "")


class World:
    """Objects as stored, never changed in place.

    ``whole`` has the keys of those that a file gave, of which nothing was left out.
    ``parameters``: objects that policies take parameters from, as far as steps changed them; None: deleted.
    """

    def __init__(
        self,
        objects: Mapping[Key, Raw],
        whole: Mapping[Key, bool] | None = None,
        parameters: Mapping[tuple[str, str, str], Raw | None] | None = None,
    ) -> None:
        self.objects = objects if isinstance(objects, LayeredMapping) else LayeredMapping(objects)
        self.whole = whole if isinstance(whole, LayeredMapping) else LayeredMapping(whole or {})
        self.parameters = parameters or {}
        self._policies: Policies | None = None
        self._quotas: list[ResourceQuota] | None = None
        self._deciding: str | None = None
        self._admitting: bytes | None = None

    @classmethod
    def of(cls, objects: Iterable[Raw]) -> World:
        """A world of objects as read."""
        return cls({key_of(raw): raw for raw in objects})

    def having(self, raw: Raw, *, whole: bool = False) -> World:
        """The world with an object in the place of any of its name."""
        key = key_of(raw)
        written = self.whole.having(key, True) if whole and key not in self.whole else self.whole
        return self._keeping(World(self.objects.having(key, raw), written, self.parameters), key[0])

    def _keeping(self, world: World, kind: str) -> World:
        """Return another world with what was found in this one and does not depend on objects of ``kind``."""
        if kind != "ResourceQuota":
            world._quotas = self._quotas
        if kind not in _LOOKED_UP:
            world._policies, world._admitting = self._policies, self._admitting
        if kind not in _DECIDING:
            world._deciding = self._deciding
        return world

    def lacking(self, key: Key) -> World:
        """The world without an object."""
        objects = {other: raw for other, raw in self.objects.items() if other != key}
        return World(objects, {other: True for other in self.whole if other != key}, self.parameters)

    def with_parameter(self, key: tuple[str, str, str], raw: Raw | None) -> World:
        """The world with a parameter of policies as it is now; None: there is none any more."""
        return World(self.objects, self.whole, {**self.parameters, key: raw})

    def of_kind(self, kind: str) -> list[Raw]:
        """The objects of a kind, by name."""
        return [self.objects[key] for key in sorted(self.objects) if key[0] == kind]

    @property
    def quotas(self) -> list[ResourceQuota]:
        """The quotas of the namespace."""
        if self._quotas is None:
            self._quotas = [decoded(raw, ResourceQuota) for raw in self.of_kind("ResourceQuota")]
        return self._quotas

    @property
    def policies(self) -> Policies:
        """What admission looks up, without quotas."""
        if self._policies is None:
            limits = [decoded(raw, LimitRange) for raw in self.of_kind("LimitRange")]
            priorities = [decoded(raw, PriorityClass) for raw in self.of_kind("PriorityClass")]
            runtimes = [decoded(raw, RuntimeClass) for raw in self.of_kind("RuntimeClass")]
            classes = self.of_kind("StorageClass")
            default = [raw["metadata"]["name"] for raw in classes if _is_default(raw)]
            self._policies = msgspec.structs.replace(
                policies_of(limits, (), priorities or None, runtimes or None),
                expandable={raw["metadata"]["name"]: bool(raw.get("allowVolumeExpansion")) for raw in classes},
                default_storage=default[0] if default else "",
                extended={
                    raw["metadata"]["name"]: name
                    for raw in self.of_kind("DeviceClass")
                    if (name := str((raw.get("spec") or {}).get("extendedResourceName") or ""))
                },
                claim_templates={
                    raw["metadata"]["name"]: decoded(raw, ResourceClaimTemplate)
                    for raw in self.of_kind("ResourceClaimTemplate")
                },
            )
        return self._policies

    @property
    def deciding(self) -> str:
        """What tells worlds apart in which pods are stored differently. A text, since that is hashed only once."""
        if self._deciding is None:
            result = ((key, id(raw)) for key, raw in self.objects.items() if key[0] in _DECIDING)
            changed = ((key, id(raw)) for key, raw in self.parameters.items())
            self._deciding = repr((sorted(result), sorted(changed)))
        return self._deciding

    @property
    def admitting(self) -> bytes:
        """What admission itself looks up for a pod, quotas apart: the same in worlds that store pods alike."""
        if self._admitting is None:
            limits = [raw.get("spec") for raw in self.of_kind("LimitRange")]
            classes = [self.of_kind("PriorityClass"), self.of_kind("RuntimeClass")]
            self._admitting = msgspec.json.encode([limits, classes], enc_hook=str)
        return self._admitting


def _is_default(raw: Raw) -> bool:
    annotations = (raw.get("metadata") or {}).get("annotations") or {}
    return bool(annotations.get(_DEFAULT_CLASS) == "true")


def template_raw(raw: Raw) -> Raw:
    """The pod template of a workload; empty without one."""
    place = template_in(raw)
    return place[1] if place is not None else {}


def template_key(template: Raw) -> bytes:
    """Equal for templates that a controller takes for the same: notation of amounts and defaults play no part."""
    struct = decoded(template, PodTemplateSpec)
    return msgspec.json.encode(_plain(msgspec.to_builtins(struct, enc_hook=str)), order="sorted")


_AMOUNTS = frozenset({"limits", "requests", "overhead"})
_DEFAULTS = {"restartPolicy": ("", "Always"), "preemptionPolicy": ("", "PreemptLowerPriority"), "priority": (None, 0)}


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    result: dict[str, Any] = {}
    for key, item in value.items():
        if key in _AMOUNTS and isinstance(item, Mapping):
            result[key] = {name: _amount(amount) for name, amount in item.items()}
        elif item not in _DEFAULTS.get(key, ()) and key not in {"creationTimestamp", "name!"}:
            result[key] = _plain(item)
    return {key: item for key, item in result.items() if item not in ({}, [])}


def _amount(value: Any) -> Any:
    try:
        return str(parse(str(value)).nano)
    except QuantityError:
        return str(value)
