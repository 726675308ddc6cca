"""The pods that Tekton adds to a PipelineRun to keep its tasks on one node."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

from msgspec import Struct

from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.request.new_pod import admit
from kubectl_kres.model.meta import Metadata, OwnerReference
from kubectl_kres.model.pod import Container, Pod, PodSpec, ResourceRequirements
from kubectl_kres.model.tekton import PipelineRun
from kubectl_kres.tekton.base.config import Flags
from kubectl_kres.tekton.base.naming import PIPELINE, PIPELINE_RUN
from kubectl_kres.tekton.controller.resolve import UsedPipeline
from kubectl_kres.tekton.controller.taskrun import RunWorld

#: What it asks for, and may use.
_AMOUNTS = {"cpu": "50m", "memory": "100Mi"}

_PER_RUN = frozenset({"pipelineruns", "isolate-pipelinerun"})


class Assistant(Struct, frozen=True):
    """A StatefulSet with one pod. ``workspace``: the one it is for; empty: for the run as a whole."""

    name: str
    workspace: str
    labels: Mapping[str, str]
    pod: Pod
    outcomes: tuple[Outcome, ...]

    def event(self, outcome: Outcome) -> str:
        """The message of the event FailedCreate; the runs' own status says nothing of it. Empty if it is admitted."""
        if outcome.allowed:
            return ""
        return f"Create Pod {self.name}-0 in StatefulSet {self.name} failed error: {outcome.message}"


def assistants(run: PipelineRun, pipeline: UsedPipeline, world: RunWorld) -> tuple[Assistant, ...]:
    """The assistants of a run, in the order of its workspaces. Source: reconciler/pipelinerun/affinity_assistant.go."""
    return tuple(_assistant(run, pipeline, workspace, world) for workspace in _wanted(run, world.config.flags))


def _wanted(run: PipelineRun, flags: Flags) -> Iterator[str]:
    if flags.coschedule in _PER_RUN:
        yield ""
    elif flags.coschedule == "workspaces":
        for workspace in run.spec.workspaces or ():
            if workspace.persistent_volume_claim is not None or workspace.volume_claim_template is not None:
                yield workspace.name


def _assistant(run: PipelineRun, pipeline: UsedPipeline, workspace: str, world: RunWorld) -> Assistant:
    meta = run.metadata
    told = (workspace + meta.name).encode("utf-8", "surrogatepass")
    name = f"affinity-assistant-{hashlib.sha256(told).hexdigest()[:10]}"
    labels = {
        "app.kubernetes.io/component": "affinity-assistant",
        "app.kubernetes.io/instance": name,
        PIPELINE: pipeline.name,
        PIPELINE_RUN: meta.name,
    }
    owner = OwnerReference(kind="StatefulSet", name=name, api_version="apps/v1", controller=True)
    container = Container(name="affinity-assistant", resources=ResourceRequirements(_AMOUNTS, _AMOUNTS))
    template = run.spec.task_run_template.pod_template if run.spec.task_run_template is not None else None
    spec = PodSpec(
        containers=(container,),
        priority_class_name=(template.priority_class_name or "") if template is not None else "",
    )
    pod = Pod(Metadata(f"{name}-0", meta.namespace, labels=labels, owner_references=(owner,)), spec)
    return Assistant(name, workspace, labels, pod, admit(pod, world.policies, world.server))
