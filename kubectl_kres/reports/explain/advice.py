"""What an explanation advises: fixes, and what there is to say where none is known."""

from __future__ import annotations

from msgspec import Struct

from kubectl_kres.record import Sentence
from kubectl_kres.reports.common.explanation import Note
from kubectl_kres.reports.common.remedy import Remedy


class Advice(Struct, frozen=True):
    """Fixes for what is refused or missing, and what there is to say beside them."""

    fixes: tuple[Remedy, ...] = ()
    note: Note | None = None


class NodeAdvice(Sentence, frozen=True):
    """Which single change lets a node take a pod. ``seen`` False: the nodes were not read; else none does.

    ``room``: what a node that is added for it would need free, as ``cpu 2``; empty: nothing in particular.
    """

    seen: bool = True
    room: tuple[str, ...] = ()


class InTwoSteps(Sentence, frozen=True):
    """Raise the quota, or change the template and the number of replicas one after the other."""


class UseLessMemory(Sentence, frozen=True):
    """Raise the limit of a container that was killed for memory, or make it use less."""

    container: str
