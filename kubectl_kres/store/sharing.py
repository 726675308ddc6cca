"""Equal parts of many objects kept once: pods of a workload differ in little more than their names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import force_setattr

from kubectl_kres.model.pod import Container, ContainerStatus, DetailedContainer, PodSpec, PodStatus
from kubectl_kres.model.workload import WorkloadSpec

#: Parts that are remembered; beyond that the next ones are compared with each other only.
_MOST = 4_000

#: Texts, and other parts, of the structs of an object, and of the structs in those parts.
_ITEM = ("kind", "api_version"), ()
_METADATA = ("namespace", "generate_name", "creation_timestamp"), ("labels", "annotations", "owner_references")
_SPEC = (
    ("node_name", "restart_policy", "priority_class_name", "preemption_policy"),
    ("containers", "init_containers", "affinity"),
)
_STATUS = ("phase", "qos_class"), ("conditions", "container_statuses", "init_container_statuses")
_CONTAINER = ("name", "image"), ("resources", "resize_policy")
_WORKLOAD = (), ("selector", "strategy", "update_strategy")
_TEMPLATE = (), ("labels", "annotations")
_OF_TEMPLATE = (
    ("restart_policy", "priority_class_name", "service_account_name", "scheduler_name"),
    ("containers", "init_containers", "affinity", "security_context", "volumes", "node_selector", "tolerations"),
)
_DETAILS = ("ports", "security_context", "liveness_probe", "readiness_probe", "startup_probe")
_OF_CONTAINER = ("name",), ("resources", "allocated_resources", "state", "last_state")


class Sharing:
    """Remembers parts of the objects that it was shown."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._parts: dict[bytes, Any] = {}
        self._encode = msgspec.json.Encoder().encode

    def share(self, item: Any) -> None:
        """Puts parts of earlier objects in the place of equal ones. Nothing else can tell the difference."""
        if len(self._parts) + len(self._texts) > _MOST:
            self._parts.clear()
            self._texts.clear()
        for holder, (texts, parts) in _holders(item):
            self._told(holder, texts)
            for part in self._same(holder, parts):
                self._within(part)

    def _within(self, part: Any) -> None:
        """The same for what a part that is new consists of."""
        if isinstance(part, dict):
            for name, value in part.items():
                if isinstance(value, str):
                    part[name] = self._texts.setdefault(value, value)
        for item in part if isinstance(part, tuple) else ():
            names = _CONTAINER if isinstance(item, Container) else _OF_CONTAINER
            if isinstance(item, Container | ContainerStatus):
                self._told(item, names[0])
                self._same(item, names[1])
            if isinstance(item, DetailedContainer):
                self._same(item, _DETAILS)

    def _told(self, holder: Any, names: tuple[str, ...]) -> None:
        """The same for texts."""
        texts = self._texts
        for name in names:
            text = getattr(holder, name)
            if text:
                force_setattr(holder, name, texts.setdefault(text, text))

    def _same(self, holder: Any, names: tuple[str, ...]) -> list[Any]:
        """The same for parts, compared by their text: Python takes 1 for true. Those that were not known before."""
        new = []
        for name in names:
            part = getattr(holder, name)
            if part is not None:
                # A container of a pod can look like one of a template, of which more is known.
                what = type(part[0]).__name__ if isinstance(part, tuple) and part else ""
                kept = self._parts.setdefault(self._encode((name, what, part)), part)
                if kept is not part:
                    force_setattr(holder, name, kept)
                else:
                    new.append(part)
        return new


def share_with(before: Any, item: Any) -> None:
    """Puts parts of an object that ``item`` takes the place of in the place of equal ones.

    Both are a server's, which writes all quantities as texts.
    """
    for (old, (texts, parts)), (new, _) in zip(_holders(before), _holders(item), strict=False):
        for name in (*texts, *parts):
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


def _holders(item: Any) -> Iterator[tuple[Any, tuple[tuple[str, ...], tuple[str, ...]]]]:
    """The structs of an object that hold parts worth sharing, with the names of its texts and of other parts."""
    yield item, _ITEM
    yield item.metadata, _METADATA
    if isinstance(spec := getattr(item, "spec", None), PodSpec):
        yield spec, _SPEC
    if isinstance(spec, WorkloadSpec):
        yield spec, _WORKLOAD
        if spec.template is not None:
            yield spec.template.metadata, _TEMPLATE
            yield spec.template.spec, _OF_TEMPLATE
    if isinstance(status := getattr(item, "status", None), PodStatus):
        yield status, _STATUS
