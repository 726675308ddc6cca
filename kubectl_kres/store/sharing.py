"""Equal parts of many objects kept once: pods of a workload differ in little more than their names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import force_setattr

from kubectl_kres.model.pod import ContainerStatus, PodSpec, PodStatus

#: Parts that are remembered; beyond that the next ones are compared with each other only.
_MOST = 4_000

#: Texts, and other parts, of the structs of an object.
_METADATA = ("namespace", "generate_name", "creation_timestamp"), ("labels", "annotations", "owner_references")
_SPEC = (
    ("node_name", "restart_policy", "priority_class_name", "preemption_policy"),
    ("containers", "init_containers", "affinity"),
)
_STATUS = ("phase", "qos_class"), ("conditions", "container_statuses", "init_container_statuses")


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
            if not isinstance(holder, PodStatus):
                self._same(holder, parts)
                continue
            for condition in holder.conditions or ():
                self._told(condition, ("type", "status", "last_transition_time"))
            for one in (*(holder.container_statuses or ()), *(holder.init_container_statuses or ())):
                self._of_container(one)

    def _of_container(self, status: ContainerStatus) -> None:
        self._told(status, ("name",))
        self._same(status, ("resources", "allocated_resources", "last_state"))
        if status.state is not None and status.state.running is not None:
            self._told(status.state.running, ("started_at",))

    def _told(self, holder: Any, names: tuple[str, ...]) -> None:
        """The same for texts."""
        texts = self._texts
        for name in names:
            text = getattr(holder, name)
            if text:
                force_setattr(holder, name, texts.setdefault(text, text))

    def _same(self, holder: Any, names: tuple[str, ...]) -> None:
        """The same for parts, compared by their text: Python takes 1 for true."""
        for name in names:
            part = getattr(holder, name)
            if part is not None:
                kept = self._parts.setdefault(self._encode((name, part)), part)
                if kept is not part:
                    force_setattr(holder, name, kept)


def share_with(before: Any, item: Any) -> None:
    """Puts parts of an object that ``item`` takes the place of in the place of equal ones.

    Both are a server's, which writes all quantities as texts.
    """
    for (old, (texts, parts)), (new, _) in zip(_holders(before), _holders(item), strict=False):
        for name in (*texts, *parts):
            part, held = getattr(new, name), getattr(old, name)
            if part is not held and part == held:
                force_setattr(new, name, held)
    for name in ("name", "uid"):
        if getattr(item.metadata, name) == (held := getattr(before.metadata, name)):
            force_setattr(item.metadata, name, held)


def _holders(item: Any) -> Iterator[tuple[Any, tuple[tuple[str, ...], tuple[str, ...]]]]:
    """The structs of an object that hold parts worth sharing, with the names of its texts and of other parts."""
    yield item.metadata, _METADATA
    if isinstance(spec := getattr(item, "spec", None), PodSpec):
        yield spec, _SPEC
    if isinstance(status := getattr(item, "status", None), PodStatus):
        yield status, _STATUS
