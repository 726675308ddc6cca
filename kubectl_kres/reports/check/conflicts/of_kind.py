"""The rules that find one kind of conflict among LimitRanges and quotas."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.scene import Scene
from kubectl_kres.reports.namespace.allowed_ranges import ConflictKind


def of_kind(kind: ConflictKind) -> Callable[[Scene], Iterator[Broken]]:
    """What finds them; the first of the objects in conflict that is asked about is named."""

    def find(scene: Scene) -> Iterator[Broken]:
        for conflict in scene.conflicts:
            if conflict.kind != kind:
                continue
            for source in conflict.sources:
                ref = ObjectRef(source.kind, source.name, scene.namespace)
                if scene.asks(ref):
                    yield Broken(ref, {"conflict": conflict.text}, source.field)
                    break

    return find
