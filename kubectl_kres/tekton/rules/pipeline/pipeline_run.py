"""The admission of a PipelineRun: each task's pod or refusal, what can run at once, the affinity assistants.

It computes the most that its tasks can ask of quotas at one moment, and the TaskRuns that quotas on the number of
objects refuse.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct, structs

from kubectl_kres.admission.base.draft import Quantities
from kubectl_kres.admission.base.outcome import Outcome, Refusal
from kubectl_kres.admission.quota.quota_admission import charges, count_request, with_used
from kubectl_kres.admission.request.new_pod import Policies, admit, quota_request
from kubectl_kres.admission.request.pod_objects import Creation, made_pod, refusals_of, revision_raw
from kubectl_kres.model.objects import Metadata, OwnerReference, struct_as_json
from kubectl_kres.model.pod import Container, Pod, PodSpec, ResourceRequirements
from kubectl_kres.provenance.journal import Source
from kubectl_kres.quantity import Quantity
from kubectl_kres.tekton.model import PipelineRun, PipelineSpec, PipelineTask, PodTemplate, TaskRun
from kubectl_kres.tekton.rules.base.config import merge_pod_templates
from kubectl_kres.tekton.rules.base.problem import Problem
from kubectl_kres.tekton.rules.base.result import MissingReference, SpecOrigin, refused_object
from kubectl_kres.tekton.rules.base.variables import PIPELINE, PIPELINE_RUN
from kubectl_kres.tekton.rules.controller import resolve, workspace_claims
from kubectl_kres.tekton.rules.controller.taskrun import (
    ClaimRefusal,
    RunNamespace,
    RunResult,
    assistant_pod,
    passed_limits,
    refusal,
    task_run,
)
from kubectl_kres.tekton.rules.controller.workspace_claims import find_refused_claims as refused_claims
from kubectl_kres.tekton.rules.pipeline.dag import largest_at_once
from kubectl_kres.tekton.rules.pipeline.pipeline_tasks import Plan, Planned, plan
from kubectl_kres.tekton.rules.resources.container_draft import refers_to
from kubectl_kres.tekton.rules.validation.webhook import task_run_problem as webhook_refused

#: What it asks for, and may use.
AMOUNTS = {"cpu": "50m", "memory": "100Mi"}

#: What the flag ``coschedule`` says for one assistant of the whole run.
PER_RUN = frozenset({"pipelineruns", "isolate-pipelinerun"})


class Assistant(Struct, frozen=True):
    """A StatefulSet with one pod. ``workspace``: the one it is for; empty: for the run as a whole.

    ``outcomes``: of its pod; ``claims``: the answers that refuse a claim which its StatefulSet makes. ``tasks``: those
    whose pods must be on its node. ``exists``: its pod is there. ``objects``: its StatefulSet and the revision of that,
    where they have yet to be made, each with what refuses it.
    """

    name: str
    workspace: str
    labels: Mapping[str, str]
    pod: Pod
    outcomes: tuple[Outcome, ...]
    claims: tuple[workspace_claims.ClaimAnswer, ...] = ()
    tasks: tuple[str, ...] = ()
    exists: bool = False
    objects: tuple[tuple[Creation, tuple[Refusal, ...]], ...] = ()

    @property
    def refused_set(self) -> tuple[Refusal, ...]:
        """Return what refuses its StatefulSet: the run then fails."""
        return next((refusals for creation, refusals in self.objects if creation.kind == "StatefulSet"), ())

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """Why it has no pod: of what is made before it, else of the pod in every order; none where the pod is there or
        comes.
        """
        if self.exists:
            return ()
        for _, refusals in self.objects:
            if refusals:
                return refusals
        if self.claims:
            return tuple(refusal for answer in self.claims for refusal in answer.refusals)
        if any(outcome.allowed for outcome in self.outcomes):
            return ()
        return tuple(outcome.refusal for outcome in self.outcomes if outcome.refusal is not None)

    def event(self, outcome: Outcome) -> str:
        """Return the message of the event FailedCreate; the runs' own status says nothing of it. Empty if it is
        admitted.
        """
        if outcome.allowed:
            return ""
        return f"Create Pod {self.name}-0 in StatefulSet {self.name} failed error: {outcome.message}"

    def claim_events(self) -> Iterator[str]:
        """Yield the messages of the events FailedCreate for its claims.

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
    pipeline: resolve.UsedPipeline,
    world: RunNamespace,
    *,
    claims: Collection[str] = (),
    pods: Collection[str] = (),
) -> tuple[Assistant, ...]:
    """Return the assistants of a run, in the order of its workspaces. ``claims``, ``pods``: names of those there are.

    Source: reconciler/pipelinerun/affinity_assistant.go.
    """
    flags, policies = world.config.flags, world.policies
    started = bool(run.status.child_references) or has_ended(run)
    result = []
    for workspace in _list_assistant_workspaces(run, flags.coschedule):
        assistant = _assistant(run, pipeline, workspace, world)
        own_claims = (
            workspace_claims.assistants_claims(run, assistant.name, claims) if flags.coschedule in PER_RUN else ()
        )
        # They are made before the first TaskRun.
        objects = () if started else tuple(_admit_objects(assistant, policies, world))
        for creation, refusals in objects:
            if not refusals:
                costs = charges(creation.request, policies.quotas)
                policies = structs.replace(policies, quotas=with_used(policies.quotas, costs))
        result.append(
            structs.replace(
                assistant,
                claims=workspace_claims.find_refused_claims(own_claims, world.policies, world.server),
                tasks=tuple(_tasks(run, pipeline, workspace)),
                exists=f"{assistant.name}-0" in pods,
                objects=objects,
            )
        )
    return tuple(result)


def _admit_objects(
    assistant: Assistant, policies: Policies, world: RunNamespace
) -> Iterator[tuple[Creation, tuple[Refusal, ...]]]:
    """Yield the StatefulSet, and the ControllerRevision without which its controller makes no pod, with what refuses
    them.
    """
    name, labels = assistant.name, dict(assistant.labels)
    spec = {"template": struct_as_json(assistant.pod, "v1", "Pod"), "replicas": 1, "selector": {"matchLabels": labels}}
    metadata = {"name": name, "namespace": assistant.pod.metadata.namespace, "labels": labels}
    raw = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": metadata, "spec": spec}
    revision = "ControllerRevision", "controllerrevisions.apps", revision_raw(raw, name)
    for kind, resource, made in (("StatefulSet", "statefulsets.apps", raw), revision):
        review = policies.review(made, world.server, whole=False)
        creation = Creation(kind, name, count_request(resource, name), review=review)
        yield creation, refusals_of((creation,), policies, world.server)


def assistant_name(workspace: str, run: str) -> str:
    """Return the name of an assistant's StatefulSet. Source: affinity_assistant.go GetAffinityAssistantName."""
    whose = (workspace + run).encode("utf-8", "surrogatepass")
    return f"affinity-assistant-{hashlib.sha256(whose).hexdigest()[:10]}"


def template_of(run: PipelineRun, world: RunNamespace) -> PodTemplate | None:
    """Return the pod template of a run's assistants."""
    own_template = run.spec.task_run_template.pod_template if run.spec.task_run_template is not None else None
    return merge_pod_templates(
        merge_pod_templates(own_template, world.config.pod_template), world.config.assistant_template
    )


def _list_assistant_workspaces(run: PipelineRun, coschedule: str) -> Iterator[str]:
    """Yield the workspaces that have one. Of several on the same claim the last one has."""
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


def _tasks(run: PipelineRun, pipeline: resolve.UsedPipeline, workspace: str) -> Iterator[str]:
    """Yield the tasks whose pods must be on the assistant's node: all, or those whose last volume is the workspace's.

    Source: reconciler/pipelinerun/pipelinerun.go getTaskrunWorkspaces.
    """
    backed = {
        binding.name
        for binding in run.spec.workspaces or ()
        if binding.persistent_volume_claim is not None or binding.volume_claim_template is not None
    }
    for task in (*(pipeline.spec.tasks or ()), *(pipeline.spec.finally_ or ())):
        used = [name for name in _list_used_workspaces(task, backed) if name in backed]
        if not workspace or (used and used[-1] == workspace):
            yield task.name


def _list_used_workspaces(task: PipelineTask, backed: Collection[str]) -> Iterator[str]:
    """Workspaces of the run that a task binds, or that its embedded Task refers to without binding them."""
    bound = [declared.workspace or declared.name for declared in task.workspaces or ()]
    yield from bound
    steps = (task.task_spec.steps or ()) if task.task_spec is not None else ()
    for name in sorted(backed):
        if name not in bound and any(refers_to(step, f"$(workspaces.{name}.") for step in steps):
            yield name


def _assistant(run: PipelineRun, pipeline: resolve.UsedPipeline, workspace: str, world: RunNamespace) -> Assistant:
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
    review = made_pod(pod, world.policies, world.server)
    outcomes = tuple(
        structs.replace(outcome, allowed=False, code=review.refusals[0].code, refusal=review.refusals[0], object=None)
        if review.refusals and passed_limits(outcome)
        else outcome
        for outcome in admit(pod, world.policies, world.server)
    )
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


class Peak(Struct, frozen=True):
    """The most of one name (as quotas have it: ``pods``, ``requests.cpu``), and the tasks that can reach it together.

    at_least: a matrix among them has a number of runs that is not known yet, counted as one.
    """

    resource: str
    amount: Quantity
    tasks: tuple[str, ...]
    is_finally: bool = False
    at_least: bool = False


def find_peaks(
    plan: Plan, results: Mapping[str, Sequence[RunResult]], finished: Collection[str] = ()
) -> tuple[Peak, ...]:
    """Return the peak of each name, of the tasks and of ``finally`` apart, which never run together.

    results: by task; one that can end in several ways counts with the largest amount. finished: tasks that are done or
    skipped. Tasks without a pod do not count. Empty for a plan with a cycle.
    """
    if plan.cycle:
        return ()
    open_tasks = [task for task in plan.tasks if task.name not in finished]
    usage = {open_task.name: _usage(results.get(open_task.name, ())) for open_task in open_tasks}
    resources = sorted({resource for quantities in usage.values() for resource in quantities})
    return tuple(_find_peaks(plan, open_tasks, usage, resources))


def _find_peaks(
    plan: Plan, tasks: Sequence[Planned], usage: Mapping[str, Quantities], resources: Sequence[str]
) -> Iterator[Peak]:
    unknown = {task.name for task in tasks if task.number is None}
    before = [task for task in tasks if not task.is_finally]
    after = [task for task in tasks if task.is_finally]
    for resource in resources:
        asked = {
            task.name: usage[task.name][resource].nano * (1 if task.number is None else task.number)
            for task in tasks
            if resource in usage[task.name]
        }
        form = next(usage[name][resource].format for name in asked)
        amount, chosen = largest_at_once(plan.graph, {planned.name: asked.get(planned.name, 0) for planned in before})
        if chosen:
            yield Peak(resource, Quantity(amount, form), chosen, at_least=not unknown.isdisjoint(chosen))
        last = tuple(planned.name for planned in after if asked.get(planned.name))
        if last:
            total = Quantity(sum(asked[name] for name in last), form)
            yield Peak(resource, total, last, is_finally=True, at_least=not unknown.isdisjoint(last))


def _usage(results: Sequence[RunResult]) -> Quantities:
    """Return the largest use of each name among the ways that lead to a pod, now or once a quota has room."""
    quantities: Quantities = {}
    for result in results:
        if result.built_pod is None or result.outcome is None or result.outcome.draft is None:
            continue
        if result.problem is not None and result.problem.final:
            continue
        for name, quantity in quota_request(result.built_pod.pod, result.outcome.draft).usage.items():
            if name not in quantities or quantities[name] < quantity:
                quantities[name] = quantity
    return quantities


#: What a quota calls TaskRuns.
RUNS = "count/taskruns.tekton.dev"
#: Condition of a PipelineRun whose first TaskRuns could not all be made: the controller ends before it says more.
STARTED = ("Unknown", "Started", "")
#: The longest that the controller's queue waits between two tries.
_LONGEST_WAIT = 1000


def refused_runs(
    plan: Plan, finished: frozenset[str], children: Mapping[str, TaskRun], world: RunNamespace
) -> Mapping[str, Problem]:
    """By task: the API server's words where one of its TaskRuns is not made.

    TaskRuns are made in the order of the tasks, and count until they are deleted, so that each finds what those before
    it have left. ``children``: those that are there, which ``used`` counts already.
    Source: reconciler/pipelinerun/pipelinerun.go runNextSchedulableTask, createTaskRun.
    """
    if plan.cycle or not any(RUNS in quota.hard for quota in world.policies.quotas):
        return {}
    policies = world.policies
    refused: dict[str, Refusal] = {}
    missing: Counter[str] = Counter()
    for task in _in_order(plan):
        if task.name in finished or (task.gap is not None and task.gap.reason in {"custom", "nested"}):
            continue
        for name in task.names or (task.run.metadata.name,):
            if name in children:
                continue
            creation = Creation("TaskRun", name, count_request(RUNS.removeprefix("count/"), name))
            refused.update((task.name, first) for first in refusals_of((creation,), policies, world.server)[:1])
            if task.name in refused:
                missing[task.name] += 1
            else:
                costs = charges(creation.request, policies.quotas)
                policies = structs.replace(policies, quotas=with_used(policies.quotas, costs))
    return {
        name: refused_object("TaskRun", refusal, missing[name], status=STARTED[0], requeue_seconds=_LONGEST_WAIT)
        for name, refusal in refused.items()
    }


def _in_order(plan: Plan) -> Iterator[Planned]:
    """Yield the tasks as they become ready, ``finally`` last."""
    waiting: Sequence[Planned] = [task for task in plan.tasks if not task.is_finally]
    done: set[str] = set()
    known_names = {planned.name for planned in waiting}
    while waiting:
        ready = [planned for planned in waiting if done.issuperset(known_names.intersection(planned.after))]
        yield from ready
        done.update(planned.name for planned in ready)
        waiting = [planned for planned in waiting if planned.name not in done]
    yield from (task for task in plan.tasks if task.is_finally)


class PipelineAnswer(Struct, frozen=True):
    """results: by the name of the pipeline task; a task that cannot be reported (``Planned.gap``) has none, and one of
    which a TaskRun is refused has that alone.

    finished: tasks that are done or skipped, which ``find_peaks`` leaves out. claims: of workspaces, as far as the run
    makes them itself. refusals: what refuses one of them, whichever is made first; the plan then has the problem of
    one.
    """

    plan: Plan
    results: Mapping[str, tuple[RunResult, ...]] = {}
    peaks: tuple[Peak, ...] = ()
    assistants: tuple[Assistant, ...] = ()
    finished: frozenset[str] = frozenset()
    claims: tuple[workspace_claims.WorkspaceClaim, ...] = ()
    refusals: tuple[ClaimRefusal, ...] = ()


def pipeline_run(
    run: PipelineRun,
    world: RunNamespace,
    *,
    children: Mapping[str, TaskRun] | None = None,
    journal: bool = True,
    claims: Collection[str] = (),
    pods: Collection[str] = (),
) -> PipelineAnswer | MissingReference:
    """Return the answer for each task as if nothing else ran, and what the tasks ask for together.

    children: TaskRuns of the run by name, as far as they are there; what they say of themselves (status.taskSpec) is
    used. claims, pods: names of claims and pods that are there. A plan with a problem of its own has no results.
    """
    result = plan(run, world.lookups, world.config.timeout_minutes)
    if isinstance(result, MissingReference):
        return PipelineAnswer(_without_pipeline(run, result)) if result.reason == "missing" and result.name else result
    problem = _lacks_params(run, result) or result.problem or _task_not_there(run, result)
    if problem is not None:
        return PipelineAnswer(structs.replace(result, problem=problem))
    task_runs = children or {}
    answers = {task.name: one_task(task, world, task_runs, journal=journal) for task in result.tasks}
    results = {name: answer for name, answer in answers.items() if answer}
    done = finished_tasks(run, result.tasks, task_runs)
    extra = assistants(run, result.pipeline, world, claims=claims, pods=pods)
    together = find_peaks(result, results, done)
    not_made = refused_runs(result, done, task_runs, world)
    results |= {name: (RunResult(problem=problem),) for name, problem in not_made.items()}
    own_claims = () if world.config.flags.coschedule in PER_RUN else workspace_claims.claims_of(run, claims)
    if run.status.child_references:
        # They are made before the first TaskRun.
        own_claims = tuple(structs.replace(claim, exists=True) for claim in own_claims)
    refusals = (*_claim_refusals(run, own_claims, world), *_set_refusals(run, extra))
    if refusals:
        result = structs.replace(result, problem=refusals[0].problem)
    elif any(assistant.refused_set for assistant in extra):
        result = structs.replace(result, problem=sets_problem(run, extra))
    return PipelineAnswer(result, results, together, extra, done, own_claims, refusals)


def _claim_refusals(
    run: PipelineRun, claims: Sequence[workspace_claims.WorkspaceClaim], world: RunNamespace
) -> tuple[ClaimRefusal, ...]:
    """Return what refuses a claim of the run's workspaces, which are made before its first TaskRun.

    Source: reconciler/pipelinerun/affinity_assistant.go createOrUpdateAffinityAssistantsAndPVCs.
    """
    if run.status.child_references or has_ended(run):
        return ()
    version = world.config.version
    return tuple(
        ClaimRefusal(answer, outcome, workspace_claims.pipeline_problem(run, answer, outcome.refusal, version))
        for answer in refused_claims(claims, world.policies, world.server)
        for outcome in answer.outcomes
        if outcome.refusal is not None
    )


def _without_pipeline(run: PipelineRun, gap: MissingReference) -> Plan:
    origin = SpecOrigin(Source("Pipeline", gap.name, run.metadata.namespace, "spec"))
    return Plan(resolve.UsedPipeline(PipelineSpec(), origin, gap.name), problem=resolve.without_pipeline(run, gap))


def _set_refusals(run: PipelineRun, assistants: Sequence[Assistant]) -> Iterator[ClaimRefusal]:
    for assistant in assistants if not (run.status.child_references or has_ended(run)) else ():
        for answer in assistant.claims:
            for outcome in answer.outcomes:
                if outcome.refusal is not None and outcome.refusal.code == 422:
                    yield ClaimRefusal(
                        answer, outcome, workspace_claims.set_problem(run, assistant.name, outcome.refusal)
                    )


def sets_problem(run: PipelineRun, made: Sequence[Assistant]) -> Problem:
    """Return the condition of a PipelineRun one of whose assistants' StatefulSets is refused: it fails.

    Source: reconciler/pipelinerun/affinity_assistant.go createOrUpdateAffinityAssistant.
    """
    refused = [(assistant.name, refusal) for assistant in made for refusal in assistant.refused_set[:1]]
    errors = " ".join(f"failed to create StatefulSet {name}: {refusal.message}" for name, refusal in refused)
    about = refused_object("PipelineRun", refused[0][1], len(refused))
    return structs.replace(
        about,
        stage="create",
        message=workspace_claims.set_failure(run, errors),
        reason=workspace_claims.SET_REASON,
        status="False",
    )


def _lacks_params(run: PipelineRun, plan: Plan) -> Problem | None:
    """A run has to give what its Pipeline has no default for; what has started has given it.

    Source: pipelinerun/pipelinerun.go reconcile, resources/validate_params.go ValidateRequiredParametersProvided.
    """
    given_names = {param.name for param in run.spec.params or ()}
    params = plan.pipeline.spec.params or ()
    missing = [param.name for param in params if param.default is None and param.name not in given_names]
    if not missing or run.status.child_references:
        return None
    meta = run.metadata
    text = (
        f"[User error] PipelineRun {meta.namespace}/{meta.name} is missing some parameters required by Pipeline "
        f"{meta.namespace}/{plan.pipeline.name or meta.name}: pipelineRun missing parameters: [{' '.join(missing)}]"
    )
    return Problem("reconcile", "PipelineRun", text, "tekton/params", "ParameterMissing", "False")


def _task_not_there(run: PipelineRun, plan: Plan) -> Problem | None:
    """All Tasks are looked for before the first one runs; what has started keeps its own."""
    started = {child_reference.pipeline_task_name for child_reference in run.status.child_references or ()}
    for task in plan.tasks:
        gap = task.gap
        if gap is not None and gap.reason == "missing" and gap.name and task.name not in started:
            return resolve.without_pipeline_task(run, plan.pipeline.name, gap)
    return None


def one_task(
    task: Planned, world: RunNamespace, children: Mapping[str, TaskRun] | None = None, *, journal: bool = True
) -> tuple[RunResult, ...]:
    """Return the answer for one task; empty if what it runs is not known. Its TaskRun passes the webhook like any
    other.
    """
    if task.gap is not None and task.gap.reason in {"custom", "nested"}:
        return ()
    problem = webhook_refused(task.run, world.config.flags)
    if problem is not None:
        return (RunResult(problem=problem),)
    child = (children or {}).get(task.names[0]) if task.names else None
    child_task = resolve.task_of(child, world.lookups) if child is not None else None
    used = task.task
    if isinstance(child_task, resolve.UsedTask) and (used is None or child_task.spec != used.spec):
        used = child_task
    if used is None:
        return ()
    answer = task_run(child or task.run, world, task=used, fields=task.fields, journal=journal)
    return () if isinstance(answer, MissingReference) else answer


def finished_tasks(run: PipelineRun, tasks: Sequence[Planned], children: Mapping[str, TaskRun]) -> frozenset[str]:
    """Tasks that ask for nothing any more: skipped, or all their TaskRuns have ended."""
    skipped = {skipped_task.name for skipped_task in run.status.skipped_tasks or ()}
    started_tasks = {child_reference.pipeline_task_name for child_reference in run.status.child_references or ()}
    ended = {task.name for task in tasks if task.name in started_tasks and _all_ended(task.names, children)}
    return frozenset(skipped | ended)


def _all_ended(names: Collection[str], children: Mapping[str, TaskRun]) -> bool:
    return all(name in children and has_ended(children[name]) for name in names)


def has_ended(run: TaskRun | PipelineRun) -> bool:
    """Return whether a run has succeeded or failed."""
    return any(
        condition.type == "Succeeded" and condition.status in {"True", "False"}
        for condition in run.status.conditions or ()
    )


def progress(failed: int, incomplete: int, completed: int = 0, skipped: int = 0) -> tuple[str, str, str]:
    """Status, reason and message of a PipelineRun's condition while tasks are left.

    ``completed``: with the failed ones. Source: pipelinerun/resources/pipelinerunstate.go GetPipelineConditionStatus.
    """
    text = f"Tasks Completed: {completed} (Failed: {failed}, Cancelled 0), Incomplete: {incomplete}, Skipped: {skipped}"
    return ("Unknown", "PipelineRunStopping" if failed else "Running", text)
