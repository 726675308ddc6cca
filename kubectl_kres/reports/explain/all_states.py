"""The states of all objects that make pods in a namespace, from pods that are looked at once, one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kubectl_kres.errors import UsageError
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload import Workload
from kubectl_kres.model.workload_kinds import RETRIED
from kubectl_kres.record import Record
from kubectl_kres.reports.common.explanation import RunState
from kubectl_kres.reports.common.nodes import waits_for_node
from kubectl_kres.reports.common.owners import controller, owned_by
from kubectl_kres.reports.common.replicas import newest_set, pods_of
from kubectl_kres.reports.common.system import kinds_of, state_of_object
from kubectl_kres.reports.explain.object_state import is_plain, state_of_pod, state_of_turn
from kubectl_kres.reports.run_state.grace import rank
from kubectl_kres.reports.run_state.workload_state import workload_state
from kubectl_kres.store.store import Store

_Owner = tuple[str, str, str]
_States = list[tuple[Pod, RunState]]


class PodStates:
    """A collector of pods' states. Of pods that run as usual only the number is kept, by controller. Of pods that run
    as usual only the number is kept, by what controls them.
    """

    def __init__(self, store: Store, now: str) -> None:
        self.store, self.now = store, now
        self._running = Counter[_Owner]()
        self._states_by_owner: dict[_Owner, _States] = {}

    def add(self, pod: Pod) -> None:
        """Take one pod into account. The events about it are those in the store by now."""
        owner = (pod.metadata.namespace, *controller(pod))
        if is_plain(pod):
            self._running[owner] += 1
            return
        state = state_of_pod(self.store, pod, self.now)
        if state.state == "runs" and not state.reason:
            self._running[owner] += 1
        elif state.state != "ended" or (pod.status.phase == "Failed" and owner[1] == "Job"):
            self._states_by_owner.setdefault(owner, []).append((pod, state))

    def states_of(self, namespace: str, kind: str, name: str) -> tuple[int, _States]:
        """Return how many pods that this object controls run as usual, and the others."""
        owner = (namespace, kind, name)
        return self._running[owner], self._states_by_owner.get(owner, [])

    def uncontrolled_pods(self, namespace: str) -> Iterator[tuple[Pod, RunState]]:
        """Yield the pods that nothing controls and that do not run as usual, and those whose controller is of no known
        kind.

        ``namespace`` empty: of all.
        """
        runs = kinds_of("waits")
        for (space, kind, _), pods in self._states_by_owner.items():
            if kind not in RETRIED and kind not in runs and namespace in {"", space}:
                yield from pods

    def pods_without_node(self) -> Iterator[Pod]:
        """Yield the pods that wait for a node."""
        pods = (pod for others in self._states_by_owner.values() for pod, state in others if state.reason == "NoNode")
        return (pod for pod in pods if waits_for_node(pod))


def states_in_store(store: Store, namespace: str, now: str) -> PodStates:
    """Return the states of the pods that the store holds; ``namespace`` empty: of all."""
    states = PodStates(store, now)
    for pod in store.all("Pod", namespace or None):
        states.add(pod)
    return states


def all_states(store: Store, namespace: str, pods: PodStates) -> Iterator[tuple[ObjectRef, RunState]]:
    """Yield the objects that nothing else makes, with how they fare; pods that run alone and as usual are left out.

    ``namespace`` empty: in all namespaces. A Deployment stands for its ReplicaSets, a run for its pod.
    """
    for kind in RETRIED:
        for workload in store.all(kind, namespace or None):
            if controller(workload)[0] in RETRIED:
                continue
            state = _workload_state(store, kind, workload, pods)
            if state is not None:
                ref = ObjectRef(kind, workload.metadata.name, workload.metadata.namespace)
                yield ref, state_of_turn(store, kind, workload, state)
    for workload in store.all("CronJob", namespace or None):
        if workload.spec.suspend and (state := workload_state("CronJob", workload, None, None, pods.now)) is not None:
            yield ObjectRef("CronJob", workload.metadata.name, workload.metadata.namespace), state
    yield from _system_states(store, namespace, pods)
    for pod, state in pods.uncontrolled_pods(namespace):
        yield ObjectRef("Pod", pod.metadata.name, pod.metadata.namespace), state


class ScheduledJobs(Record, frozen=True):
    """A CronJob that is on: how many of its Jobs run, and when one last ended well (RFC 3339; empty: none has yet, or
    the server does not say).
    """

    ref: ObjectRef
    running: int = 0
    last_success: str = ""


def scheduled_jobs(store: Store, namespace: str) -> Iterator[ScheduledJobs]:
    """Yield the CronJobs that are on. ``namespace`` empty: in all namespaces."""
    for workload in store.all("CronJob", namespace or None):
        if not workload.spec.suspend:
            ref = ObjectRef("CronJob", workload.metadata.name, workload.metadata.namespace)
            active = workload.status.active
            running = len(active) if isinstance(active, tuple) else 0
            yield ScheduledJobs(ref, running, workload.status.last_successful_time or "")


def _system_states(store: Store, namespace: str, pods: PodStates) -> Iterator[tuple[ObjectRef, RunState]]:
    """Yield the systems' objects with their states; a failed run is left out, as it is over, unless its memory limit
    killed it.
    """
    for item in (item for kind in kinds_of("runs") for item in store.all(kind, namespace or None)):
        state = state_of_object(store, item, pods.now)
        ref = ObjectRef(item.kind, item.metadata.name, item.metadata.namespace)
        if state is None or state.reason == "RunFailed":
            continue
        states = [state for _, state in pods.states_of(ref.namespace, ref.kind, ref.name)[1]]
        worst = state if state.state in {"ended", "fails"} else min((*states, state), key=rank)
        yield ref, state_of_turn(store, ref.kind, item, worst)


def _workload_state(store: Store, kind: str, workload: Workload, pods: PodStates) -> RunState | None:
    namespace, name = workload.metadata.namespace, workload.metadata.name
    try:
        replicas = pods_of(store, kind, workload)
    except UsageError:
        return None
    if kind != "Deployment":
        running, others = pods.states_of(namespace, kind, name)
        return workload_state(kind, workload, replicas, others, pods.now, running)
    newest = newest_set(store, workload)
    sets = [newest] if newest is not None else owned_by(store, "ReplicaSet", namespace, ("Deployment", name))
    both = [pods.states_of(namespace, "ReplicaSet", item.metadata.name) for item in sets]
    others = [pair for _, controlled in both for pair in controlled]
    return workload_state(kind, workload, replicas, others, pods.now, sum(count for count, _ in both))
