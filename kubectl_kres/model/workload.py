"""Objects with pod templates, objects that set how many pods there are, and the events about them."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from kubectl_kres.errors import UsageError
from kubectl_kres.model.objects import Base, Condition, LabelSelector, ManagedMetadata, Metadata
from kubectl_kres.model.pod import DetailedTemplate, PodTemplateSpec
from kubectl_kres.model.quota_objects import PersistentVolumeClaim
from kubectl_kres.model.workload_kinds import TEMPLATE_PATHS


def template_in(raw: Any) -> tuple[tuple[str, ...], Mapping[str, Any]] | None:
    """Return the pod template of an object as sent, with its path; None if no place holds a list of containers."""
    for path in TEMPLATE_PATHS:
        node = raw
        for key in path:
            node = node.get(key) if isinstance(node, Mapping) else None
        spec = node.get("spec") if isinstance(node, Mapping) else None
        if isinstance(node, Mapping) and isinstance(spec, Mapping) and "containers" in spec:
            return path, node
    return None


class RollingUpdate(Base, frozen=True):
    """Surge and unavailability, each a count or a percentage."""

    max_surge: int | str | None = None
    max_unavailable: int | str | None = None


#: How many finished Jobs a CronJob keeps that does not say it. Source: apis/batch/v1 defaults.go SetDefaults_CronJob.
KEPT_SUCCESSFUL, KEPT_FAILED = 3, 1

_PERCENT = re.compile(r"[0-9]{1,6}%")


def resolve_count(value: object, total: int, *, up: bool) -> int:
    """Return a count, or a percentage of ``total`` rounded up or down. Source: util/intstr
    GetScaledValueFromIntOrPercent.

    Raises UsageError for what is neither.
    """
    if isinstance(value, int):
        return max(0, value)
    if not isinstance(value, str) or _PERCENT.fullmatch(value) is None:
        raise UsageError(f'"{value}" is neither a count nor a percentage', hint="maxSurge is written as 2 or 25%")
    part = int(value[:-1]) * total
    return -(-part // 100) if up else part // 100


def fenceposts(surge: object, unavailable: object, replicas: int) -> tuple[int, int]:
    """Return how many pods more and fewer than ``replicas`` a Deployment has meanwhile; None is the server's 25 %.

    Surge is rounded up, unavailability down, and not both are zero. Raises what ``resolve_count`` raises. Source:
    deployment_util.go ResolveFenceposts, MaxUnavailable.
    """
    more = resolve_count("25%" if surge is None else surge, replicas, up=True)
    fewer = resolve_count("25%" if unavailable is None else unavailable, replicas, up=False)
    return more, min(fewer if more or fewer else 1, replicas)


class PartitionedUpdate(RollingUpdate, frozen=True):
    """The same of StatefulSets and DaemonSets; ``partition``: the ordinals below keep their template."""

    partition: int | None = None


def daemon_bounds(update: PartitionedUpdate | None, nodes: int) -> tuple[int, int]:
    """Return how many pods more and fewer than its nodes a DaemonSet has meanwhile: with a surge none fewer.

    Both are rounded up. Raises what ``resolve_count`` raises. Source: daemon/util SurgeCount, UnavailableCount.
    """
    surge, unavailable = (update.max_surge, update.max_unavailable) if update is not None else (None, None)
    more = resolve_count(surge, nodes, up=True) if surge is not None else 0
    return more, 0 if more else max(1, resolve_count(1 if unavailable is None else unavailable, nodes, up=True))


class Strategy(Base, frozen=True):
    """How a Deployment replaces its pods."""

    type: str = ""
    rolling_update: RollingUpdate | None = None


class UpdateStrategy(Base, frozen=True):
    """How a StatefulSet or a DaemonSet replaces its pods."""

    type: str = ""
    rolling_update: PartitionedUpdate | None = None


class JobTemplateSpec(Base, frozen=True):
    """The job that a CronJob makes."""

    template: DetailedTemplate | None = None
    parallelism: int | None = None
    completions: int | None = None
    ttl_seconds_after_finished: int | None = None


class JobTemplate(Base, frozen=True):
    """``spec.jobTemplate`` of a CronJob."""

    metadata: Metadata = Metadata()
    spec: JobTemplateSpec | None = None


class Ordinals(Base, frozen=True):
    """The number of a StatefulSet's first pod."""

    start: int = 0


class WorkloadSpec(Base, frozen=True):
    """Every place where a template can be; absent ``replicas`` is the kind's default.

    ``volume_claim_templates``, ``pod_management_policy``, ``ordinals``: of a StatefulSet alone; the history limits of
    Jobs and ``concurrency_policy`` of a CronJob.
    """

    template: DetailedTemplate | None = None
    job_template: JobTemplate | None = None
    replicas: int | None = None
    parallelism: int | None = None
    completions: int | None = None
    selector: Any = None
    strategy: Strategy | None = None
    update_strategy: UpdateStrategy | None = None
    suspend: bool | None = None
    paused: bool | None = None
    volume_claim_templates: tuple[PersistentVolumeClaim, ...] | None = None
    pod_management_policy: str = ""
    ordinals: Ordinals | None = None
    revision_history_limit: int | None = None
    successful_jobs_history_limit: int | None = None
    failed_jobs_history_limit: int | None = None
    concurrency_policy: str = ""


class JobReference(Base, frozen=True):
    """A Job that a CronJob made."""

    name: str = ""
    uid: str = ""


class WorkloadStatus(Base, frozen=True):
    """Counts and conditions as the controllers write them.

    active: how many pods of a Job run; of a CronJob the Jobs that run. ready: how many pods of a Job are ready;
    absent: its controller does not say. last_successful_time: when a Job of a CronJob last ended well.
    """

    replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    unavailable_replicas: int = 0
    updated_replicas: int = 0
    observed_generation: int = 0
    active: int | tuple[JobReference, ...] = 0
    ready: int | None = None
    succeeded: int = 0
    desired_number_scheduled: int = 0
    current_number_scheduled: int = 0
    updated_number_scheduled: int = 0
    number_ready: int = 0
    conditions: tuple[Condition, ...] | None = None
    current_revision: str = ""
    update_revision: str = ""
    last_successful_time: str | None = None

    @property
    def running_pods(self) -> int:
        """Pods of a Job that run; 0 for other kinds."""
        return self.active if isinstance(self.active, int) else 0


class Workload(Base, frozen=True):
    """Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, CronJob, ReplicationController or PodTemplate."""

    metadata: ManagedMetadata = ManagedMetadata()
    spec: WorkloadSpec = WorkloadSpec()
    status: WorkloadStatus = WorkloadStatus()
    template: DetailedTemplate | None = None
    kind: str = ""
    api_version: str = ""


def template_of(workload: Workload) -> tuple[str, DetailedTemplate | None]:
    """Return the template and its path in the workload; None if there is none."""
    spec = workload.spec
    if spec.template is not None:
        return "spec.template", spec.template
    if spec.job_template is not None and spec.job_template.spec is not None:
        return "spec.jobTemplate.spec.template", spec.job_template.spec.template
    return "template", workload.template


class ControllerRevisionData(Base, frozen=True):
    """The patch that a StatefulSet or DaemonSet kept of one of its templates."""

    spec: WorkloadSpec = WorkloadSpec()


class ControllerRevision(Base, frozen=True):
    """A template that a StatefulSet or DaemonSet had; pods name theirs by the label controller-revision-hash."""

    metadata: Metadata = Metadata()
    data: ControllerRevisionData = ControllerRevisionData()
    revision: int = 0
    kind: str = "ControllerRevision"
    api_version: str = "apps/v1"


class EventObject(Base, frozen=True):
    """What an event is about."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


class EventSeries(Base, frozen=True):
    """How often an event repeated."""

    count: int = 0
    last_observed_time: str | None = None


class EventSource(Base, frozen=True):
    """Who wrote an event."""

    component: str = ""


class Event(Base, frozen=True):
    """An event; the times that are set depend on who wrote it, as does where that is said."""

    metadata: Metadata = Metadata()
    involved_object: EventObject = EventObject()
    type: str = ""
    reason: str = ""
    message: str = ""
    count: int | None = None
    first_timestamp: str | None = None
    last_timestamp: str | None = None
    event_time: str | None = None
    series: EventSeries | None = None
    reporting_component: str = ""
    source: EventSource = EventSource()
    kind: str = "Event"
    api_version: str = "v1"


class ScaleTarget(Base, frozen=True):
    """The object whose replicas are set; it is in the namespace of the autoscaler."""

    kind: str = ""
    name: str = ""
    api_version: str = ""


class MetricTarget(Base, frozen=True):
    """What a metric is held against. ``type`` Utilization: the part of the request that is used."""

    type: str = ""


class ResourceMetric(Base, frozen=True):
    """How much of a resource pods use, or one container of each."""

    name: str = ""
    container: str = ""
    target: MetricTarget = MetricTarget()


class Metric(Base, frozen=True):
    """What an autoscaler measures; metrics of other types have neither of these."""

    type: str = ""
    resource: ResourceMetric | None = None
    container_resource: ResourceMetric | None = None


class AutoscalerSpec(Base, frozen=True):
    """``max_replicas`` 0: none was read; the server demands at least 1. ``min_replicas`` absent: 1."""

    scale_target_ref: ScaleTarget = ScaleTarget()
    min_replicas: int | None = None
    max_replicas: int = 0
    metrics: tuple[Metric, ...] | None = None


class HorizontalPodAutoscaler(Base, frozen=True):
    """An autoscaler of replicas; of what it measures only the use of resources is kept."""

    metadata: Metadata = Metadata()
    spec: AutoscalerSpec = AutoscalerSpec()
    kind: str = "HorizontalPodAutoscaler"
    api_version: str = "autoscaling/v2"


def selector_text(selector: Any) -> str:
    """Return a selector as the query parameter: of a LabelSelector as decoded, or the plain map of a
    ReplicationController.

    Empty for what is none, as a file may hold it: then everything is listed.
    """
    if not isinstance(selector, dict):
        return ""
    if "matchLabels" not in selector and "matchExpressions" not in selector:
        return ",".join(f"{key}={value}" for key, value in sorted(selector.items()))
    try:
        typed = msgspec.convert(selector, LabelSelector)
    except msgspec.ValidationError:
        return ""
    parts = [f"{key}={value}" for key, value in sorted((typed.match_labels or {}).items())]
    for expression in typed.match_expressions or ():
        key, values = expression.key, ",".join(expression.values or ())
        shown = {"Exists": key, "DoesNotExist": f"!{key}", "In": f"{key} in ({values})"}
        parts.append(shown.get(expression.operator, f"{key} notin ({values})"))
    return ",".join(parts)


#: The label with which the pods of a Deployment tell their template.
POD_HASH = "pod-template-hash"


def same_template(template: PodTemplateSpec | None, other: PodTemplateSpec | None) -> bool:
    """Return whether two stored templates are equal, as far as they were read, the label of their hash aside."""
    if template is None or other is None:
        return template is other
    return template.spec == other.spec and _labels_and_annotations(template) == _labels_and_annotations(other)


def _labels_and_annotations(template: PodTemplateSpec) -> tuple[Any, Any]:
    labels = {key: value for key, value in (template.metadata.labels or {}).items() if key != POD_HASH}
    return labels, template.metadata.annotations or {}
