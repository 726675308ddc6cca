"""What became of a store in one go."""

from __future__ import annotations

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.store.coverage import Need


class Changes:
    """What was added, changed and gone, each object once and in the order of its first change.

    ``needs``: those whose coverage changed, or whose list became complete.
    """

    def __init__(self) -> None:
        self.added: dict[ObjectRef, None] = {}
        self.changed: dict[ObjectRef, None] = {}
        self.gone: dict[ObjectRef, None] = {}
        self.needs: dict[Need, None] = {}

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self.added or self.changed or self.gone or self.needs)

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of the objects and needs."""
        refs = {ref.kind for group in (self.added, self.changed, self.gone) for ref in group}
        return frozenset(refs | {need.kind for need in self.needs})

    def put(self, ref: ObjectRef, *, new: bool) -> None:
        """An object was added, or took the place of an older one."""
        if new and ref not in self.gone:
            self.added[ref] = None
        elif ref not in self.added:
            self.gone.pop(ref, None)
            self.changed[ref] = None

    def take(self, ref: ObjectRef) -> None:
        """An object has gone."""
        self.changed.pop(ref, None)
        if ref in self.added:
            del self.added[ref]
        else:
            self.gone[ref] = None
