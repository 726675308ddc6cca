"""Kueue's world out of a store, as far as it was read, and the Workload that an object would get."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from kubectl_kres.admission import limitrange
from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.errors import InputError, QuantityError
from kubectl_kres.kueue import model
from kubectl_kres.kueue.rules.capacity import Cell
from kubectl_kres.kueue.rules.charge import to_units
from kubectl_kres.kueue.rules.run_config import QueuedRun, RunConfig
from kubectl_kres.kueue.rules.world import QueueWorld, key_of
from kubectl_kres.model.admission_objects import WEBHOOKS
from kubectl_kres.model.objects import Metadata, ObjectRef, decode_object, integer, mapping, text
from kubectl_kres.model.workload import template_in
from kubectl_kres.quantity import stored_quantity
from kubectl_kres.scheduling.selectors import matches, read_selector
from kubectl_kres.store.store import ReadRequest, Store

_KINDS = (*(kind.kind for kind in model.KINDS), "LimitRange", "RuntimeClass", "Namespace")
#: A time behind all others: what does not exist yet comes last.
_LAST = "9999"


class QueueLabels(NamedTuple):
    """What an object says to Kueue. ``queue`` empty: it names none. ``gated``: a gate of Kueue holds a pod."""

    queue: str
    priority: str = ""
    group: str = ""
    gated: bool = False


def is_known(store: Store, kind: str, namespace: str = "", name: str = "") -> bool:
    """Return whether what is not in the store is known not to be there; of files alone where they hold queues."""
    if store.origin.kind == "files" and any(store.all(model.CLUSTER_QUEUE)):
        return True
    return store.covered(ReadRequest(kind, namespace, name)).is_known


def world_of(store: Store) -> QueueWorld:
    """Return the world of all that was read; made once for a store."""
    return store.memo("kueue/world", _KINDS, None, lambda: _world(store))


def _world(store: Store) -> QueueWorld:
    def named(kind: str) -> dict[str, Any]:
        return {each.metadata.name: each for each in store.all(kind)}

    workloads = {key_of(each): each for each in store.all(model.WORKLOAD)}
    queues = named(model.CLUSTER_QUEUE)
    local_queues = {key_of(each): each for each in store.all(model.LOCAL_QUEUE)}
    # What is new comes into the namespace of a LocalQueue, which may hold neither Workloads nor LimitRanges yet.
    spaces = {namespace for namespace, _ in (*workloads, *local_queues)} | set(store.namespaces("LimitRange"))
    whole = is_known(store, model.WORKLOAD)
    return QueueWorld(
        queues=queues,
        local_queues=local_queues,
        flavors=_all_or_none(store, model.FLAVOR),
        cohorts=tuple(store.all(model.COHORT)),
        checks=_all_or_none(store, model.CHECK),
        workloads=workloads,
        namespaces=named("Namespace"),
        limits={space: tuple(_limits(store, space)) for space in spaces},
        runtimes=tuple(store.all("RuntimeClass")),
        limits_known=frozenset(space for space in spaces if is_known(store, "LimitRange", space)),
        counted=None if whole else {name: dict(_counted(queue)) for name, queue in queues.items()},
    )


def _all_or_none(store: Store, kind: str) -> Mapping[str, Any] | None:
    found = {each.metadata.name: each for each in store.all(kind)}
    return found if is_known(store, kind) else None


def _limits(store: Store, namespace: str) -> Iterator[limitrange.Limits]:
    for each in store.all("LimitRange", namespace):
        try:
            yield limitrange.parse(each)
        except Unparsable:
            continue


def _counted(queue: model.ClusterQueue) -> Iterator[tuple[Cell, int]]:
    """Yield what Kueue says is reserved in a queue, where not all Workloads could be read."""
    for flavor in queue.status.flavors_reservation or ():
        for each in flavor.resources or ():
            try:
                yield (flavor.name, each.name), to_units(each.name, stored_quantity(each.total))
            except QuantityError:
                continue


def is_run_queued(store: Store, kind: str, namespace: str) -> bool:
    """Return whether tekton-kueue's webhook is asked about new objects of the kind in a namespace."""
    if kind != "PipelineRun":
        return False
    space = store.get("Namespace", namespace)
    of_space = (space.metadata.labels if space is not None else None) or {}
    labels = {"kubernetes.io/metadata.name": namespace, **of_space}
    return any(
        hook.name == model.RUN_WEBHOOK
        and not hook.match_conditions
        and (not hook.namespace_selector or matches(read_selector(hook.namespace_selector), labels))
        for configuration in store.all(WEBHOOKS[0])
        for hook in configuration.webhooks or ()
    )


def created(store: Store, ref: ObjectRef, raw: Mapping[str, Any]) -> QueuedRun:
    """Return an object of a file as it is stored: tekton-kueue's webhook holds runs, and gives them queue and charge.

    As sent where the webhook is not asked, or it is not known what it does.
    """
    if not is_run_queued(store, ref.kind, ref.namespace):
        return QueuedRun(raw)
    where = f"ConfigMap {model.RUN_CONFIG} of namespace {model.RUN_CONFIG_NAMESPACE}"
    stored = store.get("ConfigMap", model.RUN_CONFIG, model.RUN_CONFIG_NAMESPACE)
    if stored is None:
        return QueuedRun(raw, unknown=f"{where} could not be read")
    config = store.memo("kueue/runs", ("ConfigMap",), None, lambda: _run_config(stored.data.config))
    if config.unusable:
        return QueuedRun(raw, unknown=f"{where} is not taken: {config.unusable}")
    from kubectl_kres.kueue.rules.tekton_runs import queued_run  # noqa: PLC0415 - CEL, where runs are queued alone

    return queued_run({**raw, "metadata": {"namespace": ref.namespace, **mapping(raw, "metadata")}}, config)


def _run_config(text: str) -> RunConfig:
    from kubectl_kres.documents import yaml_text  # noqa: PLC0415 - as above
    from kubectl_kres.kueue.rules.tekton_runs import parse_config  # noqa: PLC0415 - as above

    try:
        return parse_config(yaml_text.value(text))
    except InputError as error:
        return RunConfig(unusable=error.message)


def labels_in(raw: Mapping[str, Any], kind: str) -> QueueLabels:
    """Return what an object as it is sent says to Kueue; of a CronJob the Jobs that it makes."""
    metadata = mapping(raw, "metadata")
    if kind == "CronJob":
        metadata = mapping(mapping(mapping(raw, "spec"), "jobTemplate"), "metadata")
    labels = mapping(metadata, "labels")
    return QueueLabels(
        text(labels, model.QUEUE_LABEL), text(labels, model.PRIORITY_LABEL), text(labels, model.GROUP_LABEL)
    )


def planned_workload(
    store: Store, ref: ObjectRef, raw: Mapping[str, Any] | None, labels: QueueLabels
) -> model.KueueWorkload | None:
    """Return the Workload that Kueue would make for an object as it is sent; None where that is not known.

    Source: pkg/controller/jobs/job/job_controller.go PodSets, pkg/controller/jobs/pod/pod_controller.go.
    """
    if raw is None or labels.group:
        return None
    pod_set = _planned_pod_set(created(store, ref, raw).run, ref.kind)
    if pod_set is None:
        return None
    metadata = Metadata(ref.name, ref.namespace, creation_timestamp=_LAST)
    priority = priority_of(store, labels.priority, pod_set.template.spec)
    return model.KueueWorkload(metadata, model.KueueWorkloadSpec((pod_set,), labels.queue, priority))


def priority_of(store: Store, name: str, spec: model.PodSetSpec) -> int:
    """Return the priority: of the WorkloadPriorityClass, else of the PriorityClass, of the pod itself, else 0."""
    own = store.get(model.PRIORITY, name) if name else None
    if own is not None:
        return int(own.value)
    usual = store.get("PriorityClass", spec.priority_class_name) if spec.priority_class_name else None
    return int(usual.value) if usual is not None else spec.priority or 0


def _planned_pod_set(raw: Mapping[str, Any], kind: str) -> model.PodSet | None:
    spec = mapping(raw, "spec")
    if kind == "PipelineRun":
        return _planned_run(raw)
    found = ((), raw) if kind == "Pod" else template_in(raw)
    if found is None or kind in {"DaemonSet", "TaskRun"}:
        return None
    try:
        template = decode_object(found[1], model.PodSetTemplate)
    except msgspec.ValidationError:
        return None
    if kind == "CronJob":
        spec = mapping(mapping(spec, "jobTemplate"), "spec")
    count, least = 1, None
    if kind in {"Job", "CronJob"}:
        parallelism, completions = (integer(spec, key) for key in ("parallelism", "completions"))
        count = 1 if parallelism is None else parallelism
        count = count if completions is None else min(count, completions)
        minimum = mapping(mapping(raw, "metadata"), "annotations").get(f"{model.GROUP}/job-min-parallelism")
        least = int(minimum) if isinstance(minimum, str) and minimum.isdecimal() else None
    return model.PodSet("main", max(0, count), least, template)


def _planned_run(raw: Mapping[str, Any]) -> model.PodSet | None:
    """Return what tekton-kueue makes of a run: one container that asks for a run, and for what annotations say."""
    annotations = mapping(mapping(raw, "metadata"), "annotations")
    more = {
        key.removeprefix(model.REQUESTS): value for key, value in annotations.items() if key.startswith(model.REQUESTS)
    }
    container = {"name": "dummy", "resources": {"requests": {model.RUNS: "1", **more}}}
    try:
        template = decode_object({"spec": {"containers": [container]}}, model.PodSetTemplate)
    except msgspec.ValidationError:
        return None
    return model.PodSet("pod-set-1", 1, None, template)
