"""What a system adds to the report of a change: what is said of its objects, and what becomes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct
from msgspec.structs import replace

from kubectl_kres.reports.changes.report import ChangeReport, ClaimChange, StepPart
from kubectl_kres.reports.common.explanation import FailedRead, find_unread
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.systems import registered_systems

if TYPE_CHECKING:
    from kubectl_kres.model.objects import ObjectRef
    from kubectl_kres.reports.changes.given_steps import GivenStep
    from kubectl_kres.reports.common.explanation import EvaluationOptions
    from kubectl_kres.simulate.change import PlacedStep, Step
    from kubectl_kres.simulate.requests import StepAnswer


class NextPods(Struct, frozen=True):
    """Who makes one pod of each object; no simulation follows it, but the next pods are compared.

    ``kind``: of what makes them. ``kinds``: that are read of a namespace, with what the objects refer to. ``defines``:
    whether an object, by kind and name, says what is in the pods; ``decides``: or what becomes of them. ``reads``:
    called again after each reading. ``compare``: the report with the next pods of some namespaces.
    """

    kind: str
    kinds: tuple[str, ...]
    defines: Callable[[str, str], bool]
    decides: Callable[[str, str], bool]
    reads: Callable[[Store, Sequence[str]], Iterable[ReadRequest]]
    compare: Callable[[ChangeReport, Store, Sequence[PlacedStep], Iterable[str], EvaluationOptions], ChangeReport]


class Altered(Struct, frozen=True):
    """The objects of a system that a change writes, with their kinds, and those that it removes."""

    put: tuple[tuple[str, Any], ...] = ()
    removed: tuple[ObjectRef, ...] = ()


class KeptObjects(Struct, frozen=True):
    """What became of the objects that a ``simulate.system.Controller`` keeps, by its world before and after a change.

    ``claims``: those whose state differs. ``altered``: all that are to be written or removed.
    """

    claims: Callable[[Any, Any], Iterator[ClaimChange]]
    altered: Callable[[Any, Any], Altered]


class ChangeSystem(Struct, frozen=True):
    """A system's part in the reports of changes.

    ``name``: as in its ``SimulatedSystem``. ``applied_before``: its kinds, each with the kind of Kubernetes' before
    which it is applied. ``not_followed``: by kind what is said of an object that no simulation follows, with braces for
    the kind. ``remarks``: what is said of steps, with the namespace of what names none. ``reads``: what steps in some
    namespaces depend on, called again after each reading; ``essential``: the kinds without which a report is not
    complete. ``step_part``: what became of a step, by the answers. ``expand``: a step about an object of the cluster as
    what it and its controllers do in these namespaces; None: it is no such step.
    """

    name: str
    applied_before: Mapping[str, str] = {}
    not_followed: Mapping[str, str] = {}
    remarks: Callable[[Sequence[GivenStep], Store, str], Iterator[str]] | None = None
    reads: Callable[[Store, Sequence[str], Sequence[tuple[Step, str]]], Iterator[ReadRequest]] | None = None
    essential: tuple[str, ...] = ()
    step_part: Callable[[Sequence[StepAnswer]], StepPart | None] | None = None
    expand: Callable[[Step, Store, Sequence[str]], tuple[PlacedStep, ...] | None] | None = None
    kept: KeptObjects | None = None
    next_pods: NextPods | None = None


@cache
def systems() -> tuple[ChangeSystem, ...]:
    """Return all of them, in the order of registration."""
    return cast("tuple[ChangeSystem, ...]", registered_systems("changes"))


@cache
def next_pod_makers() -> tuple[NextPods, ...]:
    """Return those whose next pods are compared."""
    return tuple(system.next_pods for system in systems() if system.next_pods is not None)


def claim_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[ClaimChange]:
    """Yield the claims whose state differs. ``before``, ``after``: the worlds of systems by their names."""
    for system in systems():
        if system.kept is not None:
            yield from system.kept.claims(before[system.name], after[system.name])


def altered_by_systems(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Altered]:
    """Yield what each system has to have written or removed, by the worlds of systems."""
    for system in systems():
        if system.kept is not None:
            yield system.kept.altered(before[system.name], after[system.name])


def expanded(step: Step, store: Store, spaces: Sequence[str]) -> tuple[PlacedStep, ...] | None:
    """Return a step about an object of the cluster as steps in namespaces; None: it concerns all as it is."""
    found = (system.expand(step, store, spaces) for system in systems() if system.expand is not None)
    return next((steps for steps in found if steps is not None), None)


def step_parts(answers: Sequence[StepAnswer]) -> Iterator[StepPart]:
    """Yield what systems say of a step."""
    parts = (system.step_part(answers) for system in systems() if system.step_part is not None)
    return (part for part in parts if part is not None)


def system_remarks(steps: Sequence[GivenStep], store: Store, default: str) -> Iterator[str]:
    """Yield what systems say of steps. ``default``: the namespace of what names none."""
    for system in systems():
        if system.remarks is not None:
            yield from system.remarks(steps, store, default)


def system_needs(store: Store, spaces: Sequence[str], steps: Sequence[tuple[Step, str]] = ()) -> Iterator[ReadRequest]:
    """Yield the reads of systems for steps, each with its namespace."""
    for system in systems():
        if system.reads is not None:
            yield from system.reads(store, spaces, steps)


def unread_by_systems(store: Store, spaces: Sequence[str]) -> Iterator[FailedRead]:
    """Yield what systems could not read of some namespaces, and without which a report is not complete."""
    essential = {kind for system in systems() for kind in system.essential}
    reads = (read for read in system_needs(store, spaces) if read.kind in essential)
    return find_unread(store, (replace(read, required=True) for read in reads))
