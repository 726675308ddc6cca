"""Where each value of a YAML document begins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import yaml

from kubectl_kres.manifests import scalar
from kubectl_kres.manifests.document import PathStep


class _Place:
    """Where a walk stands in a list or map: the index or key it is at, None before a key."""

    __slots__ = ("step",)

    def __init__(self, *, items: bool) -> None:
        self.step: PathStep | None = 0 if items else None

    def next(self) -> None:
        """The value at the step is complete."""
        self.step = self.step + 1 if isinstance(self.step, int) else None


def values(events: Iterable[Any]) -> Iterator[tuple[list[PathStep | None], Any]]:
    """The path of each value with the mark where it begins, in the order of the text."""
    stack: list[_Place] = []
    for event in events:
        if isinstance(event, yaml.CollectionEndEvent):
            stack.pop()
        elif not isinstance(event, yaml.NodeEvent):
            continue
        elif stack and stack[-1].step is None:
            stack[-1].step = _key_text(event)
            continue
        else:
            yield [place.step for place in stack], event.start_mark
            if isinstance(event, yaml.CollectionStartEvent):
                stack.append(_Place(items=isinstance(event, yaml.SequenceStartEvent)))
                continue
        if stack:
            stack[-1].next()


def _key_text(event: Any) -> str:
    """The key as text; of an alias its anchor, which is near enough to find a place."""
    if isinstance(event, yaml.AliasEvent):
        return str(event.anchor)
    return scalar.key(scalar.resolve(event.value, plain=event.implicit[0], tag=event.tag or ""))
