"""Ways to let a waiting claim in: structs, each with what to do and what then happens to the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.reports.common.record import Record
from kubectl_kres.reports.common.system_parts import Deed

#: give way: other claims leave. less: it asks for less. raise: the pool gets more. pool: it goes to another one.
#: again: it is written again, which is all that is missing.
OptionKind = Literal["give way", "less", "raise", "pool", "again"]


class UnblockOption(Record, frozen=True):
    """What lets a claim in. ``proven``: no smaller set of claims does. ``replayed``: the controller's own steps were
    gone through, and the claim was in at the end.

    also: who gets in, too. out: who loses what it has. waits: who of the queue still waits. Of many the first ones are
    named; ``gained`` and ``waiting`` say how many there are. ``takes_from``: other namespaces whose claims give way.
    """

    kind: OptionKind
    text: str
    deeds: tuple[Deed, ...] = ()
    amounts: Mapping[str, str] = {}
    pool: str = ""
    proven: bool = True
    replayed: bool = False
    also: tuple[ObjectRef, ...] = ()
    out: tuple[ObjectRef, ...] = ()
    waits: tuple[ObjectRef, ...] = ()
    gained: int = 0
    waiting: int = 0
    takes_from: tuple[str, ...] = ()
