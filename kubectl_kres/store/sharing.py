"""Sharing of equal parts between objects: pods of a workload differ in little more than their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from sys import intern
from typing import Any, NamedTuple

from msgspec.structs import force_setattr

from kubectl_kres.model import pod
from kubectl_kres.model.content_key import content_key
from kubectl_kres.model.objects import Condition, Metadata, OwnerReference
from kubectl_kres.model.workload import WorkloadSpec

#: Parts, and texts, that are remembered at least: those that were met last.
_MOST = 4_000


class _Names(NamedTuple):
    """Fields of a struct that are worth sharing: texts of which a cluster has few, other texts, and other parts."""

    few: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


_ITEM = _Names(("kind", "api_version"))
_POD = _Names(_ITEM.few, (), ("status",))
_METADATA = _Names(
    ("namespace",), ("generate_name", "creation_timestamp"), ("labels", "annotations", "owner_references")
)
_SPEC = _Names(
    ("node_name", "restart_policy", "priority_class_name", "preemption_policy"),
    (),
    ("containers", "init_containers", "affinity"),
)
_STATUS = _Names(("phase", "qos_class"), (), ("conditions", "container_statuses", "init_container_statuses"))
_WORKLOAD = _Names(parts=("selector", "strategy", "update_strategy"))
_TEMPLATE = _Names(parts=("labels", "annotations"))
_OF_TEMPLATE = _Names(
    ("restart_policy", "priority_class_name", "scheduler_name"),
    ("service_account_name",),
    ("containers", "init_containers", "affinity", "security_context", "volumes", "node_selector", "tolerations"),
)
_CONTAINER = _Names((), ("name", "image"), ("resources", "resize_policy"))
_PROBES = ("liveness_probe", "readiness_probe", "startup_probe")
#: The same of what parts consist of.
_WITHIN: Mapping[type, _Names] = {
    pod.PodStatus: _STATUS,
    pod.Container: _CONTAINER,
    pod.DetailedContainer: _Names((), _CONTAINER.texts, (*_CONTAINER.parts, "ports", "security_context", *_PROBES)),
    pod.ContainerStatus: _Names((), ("name",), ("resources", "allocated_resources", "state", "last_state")),
    pod.ResourceRequirements: _Names(parts=("limits", "requests")),
    OwnerReference: _Names(("kind", "api_version"), ("name", "uid")),
    Condition: _Names(("type", "status", "reason")),
}


class _Recent:
    """Values by key; what was not asked for lately is forgotten."""

    def __init__(self) -> None:
        self._recent: dict[Any, Any] = {}
        self._previous: dict[Any, Any] = {}

    def remember(self, key: Any, value: Any) -> Any:
        """Return what is remembered for the key, else the value from now on."""
        kept = self._recent.get(key)
        if kept is None:
            kept = self._previous.get(key, value)
            if len(self._recent) >= _MOST:
                self._previous, self._recent = self._recent, {}
            self._recent[key] = kept
        return kept


class Sharing:
    """Remembers parts of the objects that it was shown."""

    def __init__(self) -> None:
        self._texts, self._parts = _Recent(), _Recent()

    def share(self, item: Any) -> None:
        """Put parts of earlier objects in the place of equal ones. Nothing else can tell the difference.

        What is read for the scheduler has other structs, and stays as it is.
        """
        if not isinstance(item.metadata, Metadata):
            return
        for holder, names in _holders(item):
            self._share(holder, names)

    def _share(self, holder: Any, names: _Names) -> None:
        """Parts are compared by their text: Python takes 1 for true."""
        for name in names.few:
            if text := getattr(holder, name):
                force_setattr(holder, name, intern(text))
        for name in names.texts:
            if text := getattr(holder, name):
                force_setattr(holder, name, self._texts.remember(text, text))
        for name in names.parts:
            part = getattr(holder, name)
            if part is None:
                continue
            # A container of a pod can look like one of a template, of which more is known.
            what = type(part[0]).__name__ if isinstance(part, tuple) and part else ""
            kept = self._parts.remember(content_key((name, what, part)), part)
            if kept is part:
                self._share_parts(part)
            else:
                force_setattr(holder, name, kept)

    def _share_parts(self, part: Any) -> None:
        """The same for what a part that is new consists of."""
        if isinstance(part, dict):
            pairs = [
                (intern(name), self._texts.remember(value, value) if isinstance(value, str) else value)
                for name, value in part.items()
            ]
            part.clear()
            part.update(pairs)
        for item in part if isinstance(part, tuple) else (part,):
            if (names := _WITHIN.get(type(item))) is not None:
                self._share(item, names)


class Siblings:
    """The object that came last of those whose names one maker generated: the next one is like it, however late."""

    def __init__(self) -> None:
        self._last_by_name: dict[str, Any] = {}

    def share(self, item: Any) -> None:
        """Put parts of the last one in the place of equal ones."""
        other = self._last_by_name.get(item.metadata.generate_name)
        if other is not None and type(other) is type(item):
            share_with(other, item)

    def add_object(self, item: Any) -> None:
        """It is the last one now."""
        if item.metadata.generate_name:
            self._last_by_name[item.metadata.generate_name] = item

    def remove_object(self, item: Any) -> None:
        """It is not kept for the sake of others."""
        maker = item.metadata.generate_name
        if self._last_by_name.get(maker) is item:
            del self._last_by_name[maker]


def share_with(before: Any, item: Any) -> None:
    """Put parts of an object that ``item`` takes the place of, or is like, in the place of equal ones.

    Both are a server's, which writes all quantities as texts.
    """
    for name in ("spec", "status"):
        part = getattr(before, name, None)
        if part is not None and getattr(item, name, None) == part:
            force_setattr(item, name, part)
    for (old, names), (new, _) in zip(_replaceable(before), _replaceable(item), strict=False):
        for name in (*names.few, *names.texts, *names.parts):
            part, result = getattr(new, name), getattr(old, name)
            if part is result:
                continue
            if part == result:
                force_setattr(new, name, result)
            elif isinstance(part, dict) and isinstance(result, dict):
                part.update((key, text) for key, text in result.items() if part.get(key) == text)
    for name in ("name", "uid"):
        if getattr(item.metadata, name) == (result := getattr(before.metadata, name)):
            force_setattr(item.metadata, name, result)


def _replaceable(item: Any) -> Iterator[tuple[Any, _Names]]:
    """As ``_holders``, and the status of a pod, which may differ in a part."""
    yield from _holders(item)
    if isinstance(item, pod.Pod):
        yield item.status, _STATUS


def _holders(item: Any) -> Iterator[tuple[Any, _Names]]:
    """Yield the structs of an object that hold parts worth sharing."""
    yield item, _POD if isinstance(item, pod.Pod) else _ITEM
    yield item.metadata, _METADATA
    if isinstance(spec := getattr(item, "spec", None), pod.PodSpec):
        yield spec, _SPEC
    if isinstance(spec, WorkloadSpec):
        yield spec, _WORKLOAD
        if spec.template is not None:
            yield spec.template.metadata, _TEMPLATE
            yield spec.template.spec, _OF_TEMPLATE
