"""The overview: all areas of a namespace or of all namespaces, and what is worst in them with its remedy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import cast

from msgspec.structs import replace

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.reports.common.explanation import Unseen, unread
from kubectl_kres.reports.common.record import Record
from kubectl_kres.reports.common.subject import Ask
from kubectl_kres.reports.common.system import systems
from kubectl_kres.reports.explain.all_states import PodStates, all_states, states_in_store
from kubectl_kres.reports.overview.area import SEVERITIES, AreaInput, AreaMaker, OverviewArea, Problem
from kubectl_kres.reports.overview.areas import LIMITRANGES, QUOTAS, pod_area, read_quota, refused, refused_area
from kubectl_kres.reports.overview.running import running_area
from kubectl_kres.reports.qos.qos_sums import NamespaceSums
from kubectl_kres.reports.quota.denied import denied_needs
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store

#: Problems whose remedies are looked for.
_MENDED = 20
#: Why something is not known.
_UNKNOWN = frozenset({"denied", "failed", "unread"})


class Overview(Record, frozen=True):
    """``namespace`` empty: all of them. ``problems``: of all areas, the worst first; ``elsewhere``: those that are in
    no namespace and do not serve this one.

    ``unseen``: what could not be read; ``complete`` False: some of that would have to be counted.
    """

    namespace: str
    areas: tuple[OverviewArea, ...]
    problems: tuple[Problem, ...] = ()
    unseen: tuple[Unseen, ...] = ()
    complete: bool = True
    elsewhere: tuple[Problem, ...] = ()


def makers() -> tuple[AreaMaker, ...]:
    """The areas that are made from a store alone, in the order in which they are shown."""
    added = (maker for system in systems() for maker in system.overview_areas())
    return (QUOTAS, *cast("Iterable[AreaMaker]", added), LIMITRANGES)


def area_needs(namespace: str) -> tuple[Need, ...]:
    """What those are made from; a cluster may have none of what is not required."""
    added = (need for system in systems() for need in system.overview_needs(namespace))
    return (Need("ResourceQuota", namespace), Need("LimitRange", namespace), *added)


def overview_needs(namespace: str) -> tuple[Need, ...]:
    """All reads of the overview but for pods, which are added up page by page."""
    needs = (Need("Namespace", name=namespace, required=False), *area_needs(namespace), *denied_needs(namespace))
    return tuple({(need.kind, need.namespace, need.name): need for need in reversed(needs)}.values())


def overview(
    store: Store, namespace: str, ask: Ask, sums: Iterable[NamespaceSums] | None, pods: PodStates | None = None
) -> Overview:
    """``sums``: of the pods by namespace, without a total; None: pods could not be read. ``pods``: how
    they fare; None: those of the store.
    """
    scene = AreaInput(store, namespace, ask, partial(read_quota, store, ask))
    needs = overview_needs(namespace)
    turned = refused_area(refused(store, namespace, ask))
    made = [(maker, maker.make(scene)) for maker in makers()]
    states = pods if pods is not None else states_in_store(store, namespace, ask.now)
    running = running_area(all_states(store, namespace, states))
    counted = pod_area(sums) if sums is not None else OverviewArea("pods", "Pod", state="denied")
    spaces = OverviewArea("namespaces", "Namespace", sum(1 for _ in store.all("Namespace")))
    areas = [turned, running, made[0][1].area, counted, *(item.area for _, item in made[1:]), spaces]
    remedies = {item.area.name: item.remedies for _, item in made}
    found = worst_first(areas)
    problems = [
        replace(problem, remedies=remedies[problem.area](problem))
        if at < _MENDED and problem.area in remedies
        else problem
        for at, problem in enumerate(problem for problem in found if not problem.elsewhere)
    ]
    unseen = tuple(unread(store, needs))
    whole = sums is not None and not any(unseen.required for unseen in unseen)
    elsewhere = tuple(problem for problem in found if problem.elsewhere)
    shown = tuple(without_problems(store, needs, area) for area in areas)
    return Overview(namespace, shown, tuple(problems), unseen, whole, elsewhere)


def without_problems(store: Store, needs: Sequence[Need], area: OverviewArea) -> OverviewArea:
    """The area without its problems; where its kind is not known, with the reason instead of a count."""
    need = next((need for need in needs if need.kind == area.kind), None)
    state = store.covered(need).state if need is not None else "read"
    if state == "absent" or (state in _UNKNOWN and not area.count):
        return OverviewArea(area.name, area.kind, state=state)
    return replace(area, problems=())


def worst_first(areas: Iterable[OverviewArea]) -> list[Problem]:
    """Of all areas, faults before warnings; else in the order of the areas. An object is told once."""
    result: dict[ObjectRef, Problem] = {}
    for problem in (problem for area in areas for problem in area.problems):
        result.setdefault(problem.subject, problem)
    return sorted(result.values(), key=lambda problem: SEVERITIES.index(problem.severity))
