"""The containers of a run's pod that were killed for memory, and those that decide how much it asks for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from kubectl_kres.admission.base.draft import SIDES, Draft
from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.pod.aggregate import sum_containers
from kubectl_kres.model.pod import ContainerStatus, Pod, ResourceRequirements
from kubectl_kres.provenance.journal import Set, Source
from kubectl_kres.quantity import ZERO, Quantity, parse
from kubectl_kres.tekton.reports.part import KilledContainer, OversizedAddition, SummedSteps
from kubectl_kres.tekton.rules.base.amounts import read
from kubectl_kres.tekton.rules.controller.taskrun import RunResult

_KILLED = "OOMKilled"


def killed_containers(pod: Pod | None, result: RunResult, additions: Collection[str]) -> tuple[KilledContainer, ...]:
    """Return the containers of a run's pod that were killed for memory, init containers first.

    ``result``: what admission makes of the run today, whose journal says what sets a limit. ``added``: the containers
    that Tekton adds.
    """
    if pod is None:
        return ()
    statuses = (*(pod.status.init_container_statuses or ()), *(pod.status.container_statuses or ()))
    names = [status.name for status in statuses if _was_killed(status)]
    return tuple(
        KilledContainer(
            name,
            limit := _limit(pod, name),
            _source(result, name, limit),
            name in additions,
            _has_same_memory_limit(result, name, limit),
        )
        for name in names
    )


def was_killed(pod: Pod) -> bool:
    """Return whether a container of the pod was killed for memory."""
    statuses = (*(pod.status.init_container_statuses or ()), *(pod.status.container_statuses or ()))
    return any(map(_was_killed, statuses))


def _was_killed(status: ContainerStatus) -> bool:
    return any(
        state is not None and state.terminated is not None and state.terminated.reason == _KILLED
        for state in (status.state, status.last_state)
    )


def _limit(pod: Pod, name: str) -> str:
    for container in (*(pod.spec.init_containers or ()), *(pod.spec.containers or ())):
        if container.name == name and container.resources is not None:
            return str((container.resources.limits or {}).get("memory", ""))
    return ""


def _has_same_memory_limit(result: RunResult, name: str, limit: str) -> bool:
    """Return whether admission gives the container no more memory today; also where that is not known."""
    draft = result.outcome.draft if result.outcome is not None else None
    slots = [slot for slot in draft.slots() if slot.name == name] if draft is not None else []
    today = slots[0].amounts_of("limits").get("memory") if slots else None
    if not slots or not limit:
        return True
    return today is not None and today <= parse(limit)


def _source(result: RunResult, name: str, limit: str) -> Source | None:
    """Return what sets the limit today, if that is the one that the pod has."""
    if result.built_pod is None or not limit:
        return None
    spec = result.built_pod.pod.spec
    paths = {
        container.name: f"spec.{field}[{index}].resources.limits[memory]"
        for field, group in (("initContainers", spec.init_containers), ("containers", spec.containers))
        for index, container in enumerate(group or ())
    }
    last = [entry for entry in result.journal if isinstance(entry, Set) and entry.path == paths.get(name)]
    return last[-1].source if last and last[-1].after == limit else None


_RULES = frozenset({"quota/exceeded", "limitrange/max"})


def outweighed_resources(outcomes: Sequence[Outcome], additions: Collection[str]) -> tuple[OversizedAddition, ...]:
    """Return the resources of a refused pod of which a container added by Tekton asks for more than all steps and
    sidecars together.

    ``added``: their names.
    """
    refused = [outcome for outcome in outcomes if outcome.refusal is not None and outcome.draft is not None]
    if not refused or refused[0].refusal is None:
        return ()
    draft: Draft | None = refused[0].draft
    names = {
        finding.resource.rpartition(".")[2]
        for finding in refused[0].refusal.findings
        if finding.rule in _RULES and finding.resource
    }
    return tuple(_find_outweighed(draft, names, additions)) if draft is not None else ()


def _find_outweighed(draft: Draft, names: Collection[str], additions: Collection[str]) -> Iterator[OversizedAddition]:
    for name in sorted(names):
        for side in SIDES:
            together = sum_containers(draft.containers, [], side).get(name, ZERO)
            amounts = {slot.name: slot.amounts_of(side).get(name, ZERO) for slot in draft.inits}
            maximum = max(amounts.values(), key=lambda amount: amount.nano, default=ZERO)
            whose = tuple(container for container, amount in amounts.items() if amount.nano == maximum.nano)
            if maximum > together and set(whose) <= set(additions):
                yield OversizedAddition(side, name, str(maximum), whose, str(together))


def left_running(pod: Pod | None) -> tuple[str, ...]:
    """Return the containers of the pod of an ended run that go on; Tekton stops sidecars by another image."""
    if pod is None or pod.status.phase != "Running" or pod.metadata.deletion_timestamp:
        return ()
    statuses = (*(pod.status.init_container_statuses or ()), *(pod.status.container_statuses or ()))
    return tuple(status.name for status in statuses if status.state is not None and status.state.running is not None)


def summed_steps(pod: Pod | None) -> tuple[SummedSteps, ...]:
    """Return of which resources a pod that finds no node asks for more than its largest step does, as the scheduler
    lacks them.
    """
    conditions = pod.status.conditions or () if pod is not None else ()
    message = next((item.message for item in conditions if item.type == "PodScheduled" and item.status == "False"), "")
    if pod is None or "Insufficient" not in message:
        return ()
    steps = [item for item in pod.spec.containers or () if item.name.startswith("step-") and item.resources is not None]
    return tuple(_sums([item.resources for item in steps if item.resources is not None], message))


def _sums(steps: Sequence[ResourceRequirements], message: str) -> Iterator[SummedSteps]:
    for name in ("cpu", "memory", "ephemeral-storage"):
        if f"Insufficient {name}" not in message:
            continue
        asked = [quantity for step in steps if (quantity := (read(step.requests) or {}).get(name)) is not None]
        if len(asked) > 1:
            total = Quantity(sum(quantity.nano for quantity in asked), asked[0].format)
            yield SummedSteps(name, str(total), str(max(asked, key=lambda quantity: quantity.nano)), len(asked))
