"""Rules about pod templates that do something else than it seems: codes KRES401 to KRES499.

- KRES401: a pod whose memory nothing bounds.
- KRES402: a QoS class below the one that the object wishes for.
- KRES403: a container without a limit beside limited ones.
- KRES404: a limit of the pod that its containers cannot reach.
- KRES405: an init container that decides what the pod is charged.
- KRES406: an amount of memory that is no whole number of bytes.
- KRES408: a limit of the pod below what its containers may use by their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from kubectl_kres.admission.pod.aggregate import compute_class, sum_pod
from kubectl_kres.model.workload import Workload
from kubectl_kres.quantity import Quantity
from kubectl_kres.reports.check.context import CheckContext, Rule
from kubectl_kres.reports.check.finding import Diagnostic
from kubectl_kres.reports.pod.values import totals


def find_no_memory_limit(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the workloads none of whose containers has a memory limit, after all defaults."""
    for evaluated in context.evaluated_workloads:
        draft = evaluated.draft
        if draft is None or (draft.pod is not None and "memory" in draft.pod.limits):
            continue
        if not any("memory" in slot.limits for slot in draft.containers):
            names = ", ".join(slot.name for slot in draft.containers)
            yield Diagnostic(evaluated.ref, {"containers": names})


NO_MEMORY_LIMIT = Rule(
    code="KRES401",
    title="no memory limit",
    severity="warning",
    reason="One leak takes the memory of the node, and the kernel kills whatever it finds there.",
    remedy="Give each container a memory limit, or the namespace a LimitRange with a default.",
    message="these containers have no memory limit: {containers}",
    find=find_no_memory_limit,
)


WISH = "kres.dev/qos"
_RANK = {"BestEffort": 0, "Burstable": 1, "Guaranteed": 2}


def find_weaker_qos(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the objects whose annotation names a class that their pods do not reach."""
    for evaluated in context.evaluated_workloads:
        manifest = evaluated.analysis.manifest
        metadata = manifest.owner.metadata if isinstance(manifest.owner, Workload) else manifest.pod.metadata
        wish = (metadata.annotations or {}).get(WISH) or (manifest.pod.metadata.annotations or {}).get(WISH, "")
        if wish not in _RANK or evaluated.draft is None:
            continue
        qos_class = compute_class(evaluated.draft)
        if _RANK[qos_class] < _RANK[wish]:
            ref = evaluated.ref
            asking = f"kubectl kres qos {ref.kind.lower()}/{quote(ref.name)} -n {quote(ref.namespace)}"
            yield Diagnostic(
                ref, {"wish": wish, "found": qos_class}, f"metadata.annotations[{WISH}]", commands=(asking,)
            )


WEAKER_QOS = Rule(
    code="KRES402",
    title="QoS class below the wish",
    severity="error",
    reason="The annotation kres.dev/qos says which class the pods need; after admission they are of a lower "
    "one, and are evicted earlier.",
    remedy="kubectl kres qos names what keeps the pod from the class.",
    message="kres.dev/qos asks for {wish}, its pods are {found}",
    find=find_weaker_qos,
)


def find_open_container(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the containers without a memory limit whose neighbours have one."""
    for evaluated in context.evaluated_workloads:
        draft = evaluated.draft
        if draft is None or (draft.pod is not None and "memory" in draft.pod.limits):
            continue
        running = draft.running_slots()
        without = [slot for slot in running if "memory" not in slot.limits]
        if without and any("memory" in slot.limits for slot in draft.containers):
            names = ", ".join(slot.name for slot in without)
            yield Diagnostic(
                evaluated.ref, {"containers": names}, evaluated.path_of(f"{without[0].path}.resources.limits")
            )


OPEN_CONTAINER = Rule(
    code="KRES403",
    title="a container is open beside limited ones",
    severity="warning",
    reason="The sum of limits looks like a bound of the pod and is none: the open container may take all "
    "memory of the node.",
    remedy="Give the container a memory limit, or the pod one of its own (spec.resources.limits).",
    message="other containers have a memory limit, and these have none: {containers}",
    find=find_open_container,
)


def find_unreachable_limit(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the pod-level limits above the sum of what each container is limited to."""
    for evaluated in context.evaluated_workloads:
        draft = evaluated.draft
        if draft is None or draft.pod is None:
            continue
        running = draft.running_slots()
        for name, limit in draft.pod.limits.items():
            if running and all(name in slot.limits for slot in running):
                total = sum(slot.limits[name].nano for slot in running)
                if total < limit.nano:
                    values = {"limit": str(limit), "resource": name, "total": str(Quantity(total, limit.format))}
                    yield Diagnostic(evaluated.ref, values, evaluated.path_of(draft.pod.path_of("limits", name)))


UNREACHABLE_LIMIT = Rule(
    code="KRES404",
    title="a pod limit that containers cannot reach",
    severity="note",
    reason="Quotas and the node reserve for the limit of the pod, while its containers are bounded below it.",
    remedy="Lower spec.resources.limits, or take the limits of some containers away.",
    message="the pod may use {limit} of {resource}, its containers together at most {total}",
    find=find_unreachable_limit,
)


#: So many times as much as the containers ask for is worth a word.
_TIMES = 2
_RESOURCES = ("cpu", "memory")


def find_init_dominates(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the init containers that ask for more than twice what all containers ask for together."""
    for evaluated in context.evaluated_workloads:
        draft = evaluated.draft
        # The init containers of what a system makes are its own.
        if draft is None or (draft.pod is not None and draft.pod.requests) or evaluated.analysis.made_pod is not None:
            continue
        for name in _RESOURCES:
            running = sum(slot.requests[name].nano for slot in draft.containers if name in slot.requests)
            inits = [slot for slot in draft.inits if slot.role == "init" and name in slot.requests]
            largest = max(inits, key=lambda slot: slot.requests[name], default=None)
            if largest is None or not running or largest.requests[name].nano <= _TIMES * running:
                continue
            values = {
                "init": largest.name,
                "asked": str(largest.requests[name]),
                "resource": name,
                "charged": str(sum_pod(draft, "requests")[name]),
            }
            yield Diagnostic(evaluated.ref, values, evaluated.path_of(largest.path_of("requests", name)))


INIT_DOMINATES = Rule(
    code="KRES405",
    title="an init container dominates",
    severity="note",
    reason="Scheduler and quotas charge the pod for its largest moment as long as it lives, although the init "
    "container ends at once.",
    remedy="Ask for less in the init container, or do its work in a Job.",
    message="init container {init} requests {resource} {asked}, more than twice what the containers do: the pod "
    "counts with {charged}",
    find=find_init_dominates,
)


_UNIT = 10**9
_BYTES = ("memory", "ephemeral-storage")


def find_fractional_bytes(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield requests and limits of memory in thousandths, as 512m, which was meant as 512M or 512Mi."""
    for evaluated in context.evaluated_workloads:
        for slot in evaluated.draft.slots() if evaluated.draft is not None else ():
            for name in _BYTES:
                limit, request = slot.limits.get(name), slot.requests.get(name)
                for side, value in (("limits", limit), ("requests", request if request != limit else None)):
                    if value is not None and value.nano % _UNIT:
                        path = f"{slot.path}.resources.{side}[{name}]"
                        yield Diagnostic(evaluated.ref, {"path": path, "value": str(value)}, evaluated.path_of(path))


FRACTIONAL_BYTES = Rule(
    code="KRES406",
    title="memory in fractions of a byte",
    severity="error",
    reason="The suffix m means thousandths: 512m of memory is half a byte, rounded up to one, and the "
    "container cannot start.",
    remedy="Write Mi or M where m stands.",
    message="{path} is {value}: m means thousandths of a byte",
    find=find_fractional_bytes,
)


def find_shared_limit(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the pod-level limits below the sum of the containers' own."""
    for evaluated in context.evaluated_workloads:
        draft = evaluated.draft
        if draft is None or draft.pod is None:
            continue
        for total in totals(draft):
            if total.own_limits:
                values = {"limit": total.value, "resource": total.resource, "total": total.own_limits}
                yield Diagnostic(evaluated.ref, values, evaluated.path_of(draft.pod.path_of("limits", total.resource)))


SHARED_LIMIT = Rule(
    code="KRES408",
    title="a pod limit below those of its containers",
    severity="note",
    reason="A container may be killed for memory, or held back, below its own limit, since its neighbours have used up "
    "the pod's.",
    remedy="Raise spec.resources.limits to the sum, or keep it if the containers do not peak at once.",
    message="the containers' own {resource} limits add up to {total}, the pod may use {limit}",
    find=find_shared_limit,
)


RULES = (
    NO_MEMORY_LIMIT,
    WEAKER_QOS,
    OPEN_CONTAINER,
    UNREACHABLE_LIMIT,
    INIT_DOMINATES,
    FRACTIONAL_BYTES,
    SHARED_LIMIT,
)
