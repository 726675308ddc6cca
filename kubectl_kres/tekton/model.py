"""Tekton's Task, TaskRun, Pipeline, PipelineRun and StepAction (in the form of v1), and what its ConfigMaps settle."""

from collections.abc import Mapping
from typing import Any

import msgspec

from kubectl_kres.model.objects import Base, Condition, Kind, ManagedMetadata, Metadata
from kubectl_kres.model.pod import Affinity, ResourceRequirements


class Param(Base, frozen=True):
    """A parameter with its value, which is a text, a list of texts or an object; or its declaration with a default.

    ``type``, ``properties`` (of an object, by key) and ``enum`` are of a declaration.
    """

    name: str = ""
    value: Any = None
    default: Any = None
    type: str = ""
    properties: Mapping[str, Any] | None = None
    enum: tuple[str, ...] | None = None


class Variable(Base, frozen=True):
    """An environment variable of a step; only a reference to a path of Tekton's matters."""

    name: str = ""
    value: str = ""


class Named(Base, frozen=True):
    """A volume, or a workspace that is declared or used."""

    name: str = ""


class Volume(Named, frozen=True):
    """A volume of a Task or a pod template; of its kind only what Pod Security does not take everywhere."""

    host_path: Any = None
    gce_persistent_disk: Any = None
    aws_elastic_block_store: Any = None
    git_repo: Any = None
    nfs: Any = None
    iscsi: Any = None
    glusterfs: Any = None
    rbd: Any = None
    flex_volume: Any = None
    cinder: Any = None
    cephfs: Any = None
    flocker: Any = None
    fc: Any = None
    azure_file: Any = None
    vsphere_volume: Any = None
    quobyte: Any = None
    azure_disk: Any = None
    photon_persistent_disk: Any = None
    portworx_volume: Any = None
    scale_io: Any = msgspec.field(default=None, name="scaleIO")
    storageos: Any = None


class DeclaredResult(Base, frozen=True):
    """A declared result. ``value``: where a Task takes it from, a result of a step."""

    name: str = ""
    type: str = ""
    properties: Mapping[str, Any] | None = None
    value: Any = None


class VolumeMount(Base, frozen=True):
    """Where a step mounts a volume."""

    name: str = ""
    mount_path: str = ""
    sub_path: str = ""


class When(Base, frozen=True):
    """A condition of a pipeline task, where references order tasks, or of a step."""

    input: str = ""
    operator: str = ""
    values: tuple[str, ...] | None = None
    cel: str = ""


class WorkspaceDeclaration(Base, frozen=True):
    """A workspace that a Task declares; without ``mount_path`` it is below /workspace."""

    name: str = ""
    mount_path: str = ""
    optional: bool = False


class ClaimVolume(Base, frozen=True):
    """A claim that is there already."""

    claim_name: str = ""


class WorkspaceBinding(Base, frozen=True):
    """What a run puts behind a workspace; with a claim or a template for one it is backed by a volume."""

    name: str = ""
    persistent_volume_claim: ClaimVolume | None = None
    volume_claim_template: Any = None


GROUP = "tekton.dev"


class Reference(Base, frozen=True):
    """What a ``taskRef``, ``pipelineRef`` or step's ``ref`` names: an object, or with ``resolver`` something remote.

    ``api_version`` and ``kind`` other than Tekton's name a custom task, which has no pod of Tekton's.
    """

    name: str = ""
    kind: str = ""
    api_version: str = ""
    resolver: str = ""
    bundle: str = ""
    params: tuple[Param, ...] | None = None


class Step(Base, frozen=True):
    """A step, a step template or what a StepAction gives a step."""

    name: str = ""
    ref: Reference | None = None
    image: str = ""
    script: str = ""
    command: tuple[str, ...] | None = None
    args: tuple[str, ...] | None = None
    env: tuple[Variable, ...] | None = None
    working_dir: str = ""
    security_context: Any = None
    params: tuple[Param, ...] | None = None
    compute_resources: ResourceRequirements | None = None
    on_error: str = ""
    image_pull_policy: str = ""
    results: tuple[DeclaredResult, ...] | None = None
    volume_mounts: tuple[VolumeMount, ...] | None = None
    workspaces: tuple[Named, ...] | None = None
    when: tuple[When, ...] | None = None
    timeout: str | None = None
    stdout_config: Any = None
    stderr_config: Any = None


class Sidecar(Base, frozen=True):
    """A sidecar of a Task."""

    name: str = ""
    image: str = ""
    restart_policy: str = ""
    script: str = ""
    command: tuple[str, ...] | None = None
    security_context: Any = None
    compute_resources: ResourceRequirements | None = None
    workspaces: tuple[Named, ...] | None = None
    volume_mounts: tuple[VolumeMount, ...] | None = None
    ports: Any = None


class TaskSpec(Base, frozen=True):
    """What a Task runs. ``api_version`` and ``kind`` are those of an embedded custom task, else empty."""

    steps: tuple[Step, ...] | None = None
    step_template: Step | None = None
    sidecars: tuple[Sidecar, ...] | None = None
    results: tuple[DeclaredResult, ...] | None = None
    params: tuple[Param, ...] | None = None
    workspaces: tuple[WorkspaceDeclaration, ...] | None = None
    volumes: tuple[Volume, ...] | None = None
    api_version: str = ""
    kind: str = ""


class Task(Base, frozen=True):
    """A Task."""

    metadata: ManagedMetadata = ManagedMetadata()
    spec: TaskSpec = TaskSpec()
    kind: str = "Task"
    api_version: str = "tekton.dev/v1"


class StepAction(Base, frozen=True):
    """A StepAction; it has no resources."""

    metadata: Metadata = Metadata()
    spec: Step = Step()
    kind: str = "StepAction"
    api_version: str = "tekton.dev/v1beta1"


class PodTemplate(Base, frozen=True):
    """The parts of Tekton's pod template that admission looks at."""

    runtime_class_name: str | None = None
    priority_class_name: str | None = None
    affinity: Affinity | None = None
    security_context: Any = None
    volumes: tuple[Volume, ...] | None = None
    node_selector: Mapping[str, str] | None = None
    host_network: bool = False
    host_users: bool | None = None


class Override(Base, frozen=True):
    """An entry of ``stepSpecs`` or ``sidecarSpecs``: new values for the step or sidecar of that name."""

    name: str = ""
    compute_resources: ResourceRequirements | None = None


class Breakpoints(Base, frozen=True):
    """Where a run is to stop."""

    on_failure: str = ""
    before_steps: tuple[str, ...] | None = None


class Debug(Base, frozen=True):
    """``spec.debug`` of a TaskRun."""

    breakpoints: Breakpoints | None = None


class TaskRunSpec(Base, frozen=True):
    """What to run and with which values. ``timeout``: a Go duration; absent: what config-defaults says."""

    task_ref: Reference | None = None
    task_spec: TaskSpec | None = None
    compute_resources: ResourceRequirements | None = None
    step_specs: tuple[Override, ...] | None = None
    sidecar_specs: tuple[Override, ...] | None = None
    pod_template: PodTemplate | None = None
    service_account_name: str = ""
    params: tuple[Param, ...] | None = None
    workspaces: tuple[WorkspaceBinding, ...] | None = None
    debug: Debug | None = None
    timeout: str | None = None
    retries: int = 0
    status: str = ""


class Provenance(Base, frozen=True):
    """What a run was made with; ``feature_flags`` by Tekton's JSON names (``resultExtractionMethod``)."""

    feature_flags: Mapping[str, Any] | None = None


class TaskRunAttempt(Base, frozen=True):
    """An earlier try of a TaskRun."""

    pod_name: str = ""
    conditions: tuple[Condition, ...] | None = None
    start_time: str | None = None
    completion_time: str | None = None


class TaskRunStatus(Base, frozen=True):
    """How a TaskRun fares. ``task_spec``: the Task as used, references resolved, nothing merged.

    ``start_time`` is absent while a quota refuses the pod.
    """

    conditions: tuple[Condition, ...] | None = None
    pod_name: str = ""
    start_time: str | None = None
    completion_time: str | None = None
    retries_status: tuple[TaskRunAttempt, ...] | None = None
    task_spec: TaskSpec | None = None
    provenance: Provenance | None = None


class TaskRun(Base, frozen=True):
    """A TaskRun."""

    metadata: Metadata = Metadata()
    spec: TaskRunSpec = TaskRunSpec()
    status: TaskRunStatus = TaskRunStatus()
    kind: str = "TaskRun"
    api_version: str = "tekton.dev/v1"


class ManagedTaskRun(TaskRun, frozen=True):
    """A TaskRun with its field managers; decoded when one is explained, never in lists."""

    metadata: ManagedMetadata = ManagedMetadata()


class IncludeParams(Base, frozen=True):
    """One explicit combination of a matrix."""

    params: tuple[Param, ...] | None = None


class Matrix(Base, frozen=True):
    """Fans a pipeline task out into a run for each combination of its parameters."""

    params: tuple[Param, ...] | None = None
    include: tuple[IncludeParams, ...] | None = None


class TaskWorkspace(Base, frozen=True):
    """A workspace of the pipeline that a task uses."""

    name: str = ""
    workspace: str = ""


class PipelineTask(Base, frozen=True):
    """A task of a pipeline. ``pipeline_ref`` and ``pipeline_spec``: a pipeline within, with pods of its own."""

    name: str = ""
    task_ref: Reference | None = None
    task_spec: TaskSpec | None = None
    pipeline_ref: Reference | None = None
    pipeline_spec: Any = None
    run_after: tuple[str, ...] | None = None
    params: tuple[Param, ...] | None = None
    matrix: Matrix | None = None
    when: tuple[When, ...] | None = None
    workspaces: tuple[TaskWorkspace, ...] | None = None
    timeout: str | None = None
    retries: int = 0
    on_error: str = ""


class PipelineSpec(Base, frozen=True):
    """Tasks in an order that follows from what they refer to, then ``finally`` all at once."""

    tasks: tuple[PipelineTask, ...] | None = None
    finally_: tuple[PipelineTask, ...] | None = msgspec.field(default=None, name="finally")
    params: tuple[Param, ...] | None = None
    workspaces: tuple[Named, ...] | None = None


class Pipeline(Base, frozen=True):
    """A Pipeline."""

    metadata: ManagedMetadata = ManagedMetadata()
    spec: PipelineSpec = PipelineSpec()
    kind: str = "Pipeline"
    api_version: str = "tekton.dev/v1"


class PipelineTaskRunSpec(Base, frozen=True):
    """An entry of ``taskRunSpecs``: values for the runs of one pipeline task."""

    pipeline_task_name: str = ""
    compute_resources: ResourceRequirements | None = None
    step_specs: tuple[Override, ...] | None = None
    sidecar_specs: tuple[Override, ...] | None = None
    pod_template: PodTemplate | None = None
    timeout: str | None = None
    service_account_name: str = ""


class TaskRunTemplate(Base, frozen=True):
    """What all TaskRuns of a PipelineRun get."""

    pod_template: PodTemplate | None = None
    service_account_name: str = ""


class Timeouts(Base, frozen=True):
    """Go durations: for the whole, for the tasks, for ``finally``."""

    pipeline: str | None = None
    tasks: str | None = None
    finally_: str | None = msgspec.field(default=None, name="finally")


class PipelineRunSpec(Base, frozen=True):
    """What to run and with which values."""

    pipeline_ref: Reference | None = None
    pipeline_spec: PipelineSpec | None = None
    task_run_specs: tuple[PipelineTaskRunSpec, ...] | None = None
    task_run_template: TaskRunTemplate | None = None
    workspaces: tuple[WorkspaceBinding, ...] | None = None
    params: tuple[Param, ...] | None = None
    timeouts: Timeouts | None = None
    status: str = ""


class ChildReference(Base, frozen=True):
    """A run that a PipelineRun made."""

    kind: str = ""
    name: str = ""
    pipeline_task_name: str = ""


class SkippedTask(Base, frozen=True):
    """A pipeline task that will not run, and why."""

    name: str = ""
    reason: str = ""


class PipelineRunStatus(Base, frozen=True):
    """How a PipelineRun fares. ``pipeline_spec``: the Pipeline as used."""

    conditions: tuple[Condition, ...] | None = None
    start_time: str | None = None
    completion_time: str | None = None
    finally_start_time: str | None = None
    pipeline_spec: PipelineSpec | None = None
    child_references: tuple[ChildReference, ...] | None = None
    skipped_tasks: tuple[SkippedTask, ...] | None = None
    provenance: Provenance | None = None


class PipelineRun(Base, frozen=True):
    """A PipelineRun."""

    metadata: Metadata = Metadata()
    spec: PipelineRunSpec = PipelineRunSpec()
    status: PipelineRunStatus = PipelineRunStatus()
    kind: str = "PipelineRun"
    api_version: str = "tekton.dev/v1"


class ManagedPipelineRun(PipelineRun, frozen=True):
    """A PipelineRun with its field managers; decoded when one is explained, never in lists."""

    metadata: ManagedMetadata = ManagedMetadata()


KINDS = (
    Kind("Task", ("tasks", "task"), GROUP, struct=Task),
    Kind("StepAction", ("stepactions", "stepaction"), GROUP, "v1beta1", struct=StepAction),
    Kind("Pipeline", ("pipelines", "pipeline"), GROUP, struct=Pipeline),
    Kind(
        "PipelineRun",
        ("pipelineruns", "pipelinerun", "pr", "prs"),
        GROUP,
        struct=PipelineRun,
        whole=ManagedPipelineRun,
    ),
    Kind("TaskRun", ("taskruns", "taskrun", "tr", "trs"), GROUP, struct=TaskRun, whole=ManagedTaskRun),
)
