"""The pods that Tekton adds to a PipelineRun to keep its tasks on one node."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping

from msgspec import Struct, structs

from kubectl_kres.admission.base.outcome import Outcome, Refusal
from kubectl_kres.admission.request.new_pod import admit
from kubectl_kres.model.meta import Metadata, OwnerReference
from kubectl_kres.model.pod import Container, Pod, PodSpec, ResourceRequirements
from kubectl_kres.tekton.model import PipelineRun, PipelineTask, PodTemplate
from kubectl_kres.tekton.rules.base.config import merged
from kubectl_kres.tekton.rules.base.naming import PIPELINE, PIPELINE_RUN
from kubectl_kres.tekton.rules.controller.pod_security import assistant_pod, refusal
from kubectl_kres.tekton.rules.controller.resolve import UsedPipeline
from kubectl_kres.tekton.rules.controller.taskrun import RunWorld, passed_limits
from kubectl_kres.tekton.rules.controller.workspace_claims import ClaimAnswer, assistants_claims, refused
from kubectl_kres.tekton.rules.resources.containers import refers_to

#: What it asks for, and may use.
AMOUNTS = {"cpu": "50m", "memory": "100Mi"}

#: What the flag ``coschedule`` says for one assistant of the whole run.
PER_RUN = frozenset({"pipelineruns", "isolate-pipelinerun"})


class Assistant(Struct, frozen=True):
    """A StatefulSet with one pod. ``workspace``: the one it is for; empty: for the run as a whole.

    ``outcomes``: of its pod; ``claims``: the answers that refuse a claim which its StatefulSet makes. ``tasks``: those
    whose pods must be on its node. ``there``: its pod exists.
    """

    name: str
    workspace: str
    labels: Mapping[str, str]
    pod: Pod
    outcomes: tuple[Outcome, ...]
    claims: tuple[ClaimAnswer, ...] = ()
    tasks: tuple[str, ...] = ()
    there: bool = False

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """Why it has no pod: of its claims, else of the pod in every order; none where the pod is there or comes."""
        if self.there:
            return ()
        if self.claims:
            return tuple(refusal for answer in self.claims for refusal in answer.refusals)
        if any(outcome.allowed for outcome in self.outcomes):
            return ()
        return tuple(outcome.refusal for outcome in self.outcomes if outcome.refusal is not None)

    def event(self, outcome: Outcome) -> str:
        """The message of the event FailedCreate; the runs' own status says nothing of it. Empty if it is admitted."""
        if outcome.allowed:
            return ""
        return f"Create Pod {self.name}-0 in StatefulSet {self.name} failed error: {outcome.message}"

    def claim_events(self) -> Iterator[str]:
        """The messages of the events FailedCreate for its claims.

        Source: controller/statefulset stateful_pod_control.go recordClaimEvent.
        """
        for answer in self.claims:
            for refused_ in answer.refusals:
                whose = f"Pod {self.name}-0 in StatefulSet {self.name} failed error: "
                name = answer.claim.name
                yield f"Create Claim {name} for {whose}{refused_.message}"
                yield f"Create {whose}failed to create PVC {name}: {refused_.message}"


def assistants(
    run: PipelineRun,
    pipeline: UsedPipeline,
    world: RunWorld,
    *,
    claims: Collection[str] = (),
    pods: Collection[str] = (),
) -> tuple[Assistant, ...]:
    """Return the assistants of a run, in the order of its workspaces. ``claims``, ``pods``: names of those there are.

    Source: reconciler/pipelinerun/affinity_assistant.go.
    """
    flags = world.config.flags
    result = []
    for workspace in _wanted(run, flags.coschedule):
        assistant = _assistant(run, pipeline, workspace, world)
        own = assistants_claims(run, assistant.name, claims) if flags.coschedule in PER_RUN else ()
        result.append(
            structs.replace(
                assistant,
                claims=refused(own, world.policies, world.server),
                tasks=tuple(_tasks(run, pipeline, workspace)),
                there=f"{assistant.name}-0" in pods,
            )
        )
    return tuple(result)


def assistant_name(workspace: str, run: str) -> str:
    """Return the name of an assistant's StatefulSet. Source: affinity_assistant.go GetAffinityAssistantName."""
    whose = (workspace + run).encode("utf-8", "surrogatepass")
    return f"affinity-assistant-{hashlib.sha256(whose).hexdigest()[:10]}"


def template_of(run: PipelineRun, world: RunWorld) -> PodTemplate | None:
    """Return the pod template of a run's assistants."""
    own = run.spec.task_run_template.pod_template if run.spec.task_run_template is not None else None
    return merged(merged(own, world.config.pod_template), world.config.assistant_template)


def _wanted(run: PipelineRun, coschedule: str) -> Iterator[str]:
    """The workspaces that have one. Of several on the same claim the last one has."""
    if coschedule in PER_RUN:
        yield ""
    elif coschedule == "workspaces":
        last = {
            workspace.persistent_volume_claim.claim_name: workspace.name
            for workspace in run.spec.workspaces or ()
            if workspace.persistent_volume_claim is not None
        }
        for workspace in run.spec.workspaces or ():
            claim = workspace.persistent_volume_claim
            if claim is not None:
                if last[claim.claim_name] == workspace.name:
                    yield workspace.name
            elif workspace.volume_claim_template is not None:
                yield workspace.name


def _tasks(run: PipelineRun, pipeline: UsedPipeline, workspace: str) -> Iterator[str]:
    """The tasks whose pods must be on the assistant's node: all, or those whose last volume is the workspace's.

    Source: reconciler/pipelinerun/pipelinerun.go getTaskrunWorkspaces.
    """
    backed = {
        binding.name
        for binding in run.spec.workspaces or ()
        if binding.persistent_volume_claim is not None or binding.volume_claim_template is not None
    }
    for task in (*(pipeline.spec.tasks or ()), *(pipeline.spec.finally_ or ())):
        used = [name for name in _used(task, backed) if name in backed]
        if not workspace or (used and used[-1] == workspace):
            yield task.name


def _used(task: PipelineTask, backed: Collection[str]) -> Iterator[str]:
    """Workspaces of the run that a task binds, or that its embedded Task refers to without binding them."""
    bound = [declared.workspace or declared.name for declared in task.workspaces or ()]
    yield from bound
    steps = (task.task_spec.steps or ()) if task.task_spec is not None else ()
    for name in sorted(backed):
        if name not in bound and any(refers_to(step, f"$(workspaces.{name}.") for step in steps):
            yield name


def _assistant(run: PipelineRun, pipeline: UsedPipeline, workspace: str, world: RunWorld) -> Assistant:
    meta = run.metadata
    name = assistant_name(workspace, meta.name)
    labels = {
        "app.kubernetes.io/component": "affinity-assistant",
        "app.kubernetes.io/instance": name,
        PIPELINE: pipeline.name,
        PIPELINE_RUN: meta.name,
    }
    owner = OwnerReference(kind="StatefulSet", name=name, api_version="apps/v1", controller=True)
    container = Container(name="affinity-assistant", resources=ResourceRequirements(AMOUNTS, AMOUNTS))
    template = template_of(run, world)
    spec = PodSpec(
        containers=(container,),
        priority_class_name=(template.priority_class_name or "") if template is not None else "",
    )
    pod = Pod(Metadata(f"{name}-0", meta.namespace, labels=labels, owner_references=(owner,)), spec)
    outcomes = admit(pod, world.policies, world.server)
    secured = assistant_pod(template, world.config.flags)
    insecure = refusal(secured, f"{name}-0", world.namespace, world.server.version[1])
    if insecure is not None:
        outcomes = tuple(
            structs.replace(outcome, allowed=False, code=403, refusal=insecure, object=None)
            if passed_limits(outcome)
            else outcome
            for outcome in outcomes
        )
    return Assistant(name, workspace, labels, pod, outcomes)
