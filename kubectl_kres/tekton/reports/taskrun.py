"""The admission of a TaskRun, or of a Task run with defaults: the pod that Tekton makes of it, and its origin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import structs

from kubectl_kres.admission.base.outcome import Finding, Outcome, Refusal
from kubectl_kres.errors import ClusterError, Forbidden, NotFound
from kubectl_kres.model.objects import Condition, ObjectRef, struct_as_json
from kubectl_kres.model.pod import AddedContainers, Container, Pod, ResourceRequirements
from kubectl_kres.provenance.journal import Assumption, Derive, Journal, Set, Source
from kubectl_kres.quantity import parse
from kubectl_kres.record import joined
from kubectl_kres.reports.common.analysis import Analysis, MadePod, PodClaims, PodManifest
from kubectl_kres.reports.common.effective_policies import policies
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject, not_computed
from kubectl_kres.reports.common.system import assumed_of_object, object_behind
from kubectl_kres.reports.common.system_parts import hold
from kubectl_kres.reports.pod.pod_claims import add_charges as sums_of
from kubectl_kres.reports.pod.resource_view import values_of, written_pod
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.tekton.model import Task, TaskRun, TaskSpec
from kubectl_kres.tekton.reports.earlier_pods import EarlierPods, earlier_pods, with_origins
from kubectl_kres.tekton.reports.part import TektonPart
from kubectl_kres.tekton.reports.remedies.run_values import RunCase
from kubectl_kres.tekton.reports.run_containers import (
    killed_containers,
    left_running,
    outweighed_resources,
    summed_steps,
)
from kubectl_kres.tekton.reports.run_facts import (
    find_quota_shortfalls,
    find_waiting_run,
    pipeline_run_of,
    spec_status_hold,
    tekton_remarks,
)
from kubectl_kres.tekton.reports.run_objects import existing_claims
from kubectl_kres.tekton.reports.world import stored_run, tekton_world
from kubectl_kres.tekton.rules.base.config import version_of, version_remarks
from kubectl_kres.tekton.rules.base.problem import Problem
from kubectl_kres.tekton.rules.base.result import Fields, MissingReference, SpecOrigin, fields_below
from kubectl_kres.tekton.rules.controller.resolve import UsedTask, task_of
from kubectl_kres.tekton.rules.controller.taskrun import RunNamespace, RunResult, default_task_run, task_run
from kubectl_kres.tekton.rules.controller.workspace_claims import admit_claims, claims_of, unknown_claims

#: What the author of the Task wrote, in contrast to whoever runs it.
_AUTHORED = frozenset({"tekton/step", "tekton/step-template", "tekton/sidecar"})

_NAME = "tekton"

#: What a term of a division is called that says how much is lost.
LOST = "lost in the division"


def taskrun_analysis(
    store: Store,
    subject: Subject,
    options: EvaluationOptions,
    *,
    journal: bool = True,
    live: Pod | None = None,
    another: bool = False,
) -> Analysis:
    """Return the analysis of a run, with every outcome. ``live``: a pod of it to compare with, instead of the run's
    last one; ``another``: one more run like it.

    Raises NotFound or Forbidden if the run or its Task cannot be had, ClusterError if the Task is not in the cluster.
    """
    world = tekton_world(store, subject.ref.namespace, options)
    run, refusals = run_of(store, subject, world)
    if run is None:
        return refused_run(store, subject.ref, options, subject.file or "the input", refusals)
    result = task_of(run, world.lookups)
    used = result if isinstance(result, UsedTask) else None
    live = None if another else live or pod_of(store, run)
    # A quota is not asked again for a pod that was made; in lists the pod itself is not read.
    counted = not another and (live is not None or bool(run.status.pod_name))
    existing = existing_claims(store, run)
    earlier = earlier_pods(store, run) if options.seen and not counted else EarlierPods()
    added = earlier.added
    results = task_run(run, world, task=used, journal=journal, counted=counted, existing=existing, added=added)
    if isinstance(results, MissingReference):
        raise unknown_task(store, subject, results)
    results = with_origins(results, earlier)
    return build_analysis(
        store, subject.ref, options, run, used or _build_missing_task(run), results, live, exists=counted, added=added
    )


def _build_missing_task(run: TaskRun) -> UsedTask:
    """Return the refusal of a run whose Task does not exist, with the name that the run has for it."""
    name = run.spec.task_ref.name if run.spec.task_ref is not None else ""
    return UsedTask(TaskSpec(), SpecOrigin(Source("Task", name, run.metadata.namespace)))


def find_run_of_pod(
    store: Store, subject: Subject, options: EvaluationOptions, *, journal: bool = True
) -> Analysis | None:
    """Return the run that made a live pod; None if no run did, or if the run or its Task cannot be read."""
    run = object_behind(store, subject)
    if run is None or run is subject:
        return None
    pod = store.get("Pod", subject.ref.name, subject.ref.namespace)
    try:
        analysis = taskrun_analysis(store, run, options, journal=journal, live=pod)
    except ClusterError:
        return None
    manifest = structs.replace(analysis.manifest, text=joined(str(run.ref), analysis.manifest.text, between=", "))
    return structs.replace(analysis, manifest=manifest)


def run_of(store: Store, subject: Subject, world: RunNamespace) -> tuple[TaskRun | None, tuple[Problem, ...]]:
    """Return the run as it is stored, or why a file's is not; a Task is run with defaults. Raises NotFound,
    Forbidden.
    """
    return stored_run(store, subject, world, TaskRun, Task, default_task_run)


def unknown_task(store: Store, subject: Subject, gap: MissingReference) -> ClusterError:
    """Return the error for a run whose Task is not known, with the reason."""
    text = f"{subject.ref}: {gap}"
    if gap.reason == "missing":
        hint = "create it, or give it with -f beside the run; a run that has started keeps it in its status"
        return NotFound(text, code=404, reason="NotFound", hint=hint)
    if gap.reason == "unreadable":
        coverage = store.covered(ReadRequest(gap.kind, subject.ref.namespace, gap.name))
        if coverage.state == "denied":
            return Forbidden(coverage.message or text, code=403, reason="Forbidden", hint=f"needed for {subject.ref}")
        return ClusterError(f"{text}{f': {coverage.message}' if coverage.message else ''}")
    run = store.get(subject.ref.kind, subject.ref.name, subject.ref.namespace) if subject.raw is None else None
    condition = next((item for item in run.status.conditions or () if item.type == "Succeeded"), None) if run else None
    if condition is not None and condition.status == "False":
        text = f"{subject.ref} has failed: {condition.reason}: {condition.message}"
        return ClusterError(text, hint="correct what the message names, then start a new run: nothing revives this one")
    return ClusterError(text, hint="once the run has started, its status keeps what was fetched")


def refused_run(
    store: Store, ref: ObjectRef, options: EvaluationOptions, origin_text: str, refusals: Sequence[Problem]
) -> Analysis:
    """Return the analysis of a run that is not stored, and so has no pod. ``origin_text``: what it
    comes from.
    """
    manifest = PodManifest(Pod(), Source(ref.kind, ref.name, ref.namespace), "", origin_text)
    outcomes = tuple(refused_outcome(refusal) for refusal in refusals)
    by_operator = tekton_world(store, ref.namespace, options).config.by_operator
    part = TektonPart(problem=refusals[0], by_operator=by_operator)
    made_pod = _build_made_pod(store, ref, options, part, outcomes)
    return Analysis(manifest, policies(store, ref.namespace, options.server), outcomes, hold(part), made_pod=made_pod)


def _build_made_pod(
    store: Store,
    ref: ObjectRef,
    options: EvaluationOptions,
    part: TektonPart,
    outcomes: Sequence[Outcome],
    case: RunCase | None = None,
    *,
    exists: bool = False,
    assumed: Iterable[Assumption] = (),
) -> MadePod:
    """Return the pod of a run. It is wanted again after a failure, not after a success, nor while it ``exists``."""
    done = (part.has_ended and not part.failed) or (exists and not part.about_another)
    return MadePod(
        _NAME,
        missing=int(not done),
        state=f"held back by spec.status {part.held_by}" if part.held_by else "",
        about_another=part.about_another,
        never=part.never_fits,
        version_remarks=tuple(remark.text for remark in version_remarks(version_of(part.version))),
        assumptions=(*tekton_remarks(store, ref.namespace, options, outcomes[0].journal), *assumed),
        source=case,
    )


def _asked_webhooks(store: Store, pod: Pod, options: EvaluationOptions) -> Iterator[Assumption]:
    """Yield the webhooks that are asked about the pod of a run and whose answers are not computed."""
    raw = struct_as_json(pod, "v1", "Pod")
    yield from assumed_of_object(store, pod.metadata.namespace, raw, options.server)


def build_analysis(
    store: Store,
    ref: ObjectRef,
    options: EvaluationOptions,
    run: TaskRun,
    task: UsedTask,
    results: Sequence[RunResult],
    live: Pod | None = None,
    fields: Fields | None = None,
    *,
    exists: bool,
    added: AddedContainers = (),
) -> Analysis:
    """Return what admission made of the pods of a run; ``ref``: what is asked about. ``live``: its pod, where that was
    read; ``exists``: it has one.

    ``fields``: where the run's values stand, if not in itself. ``added``: as ``RunCase`` has it.
    """
    namespace_policies, world = (
        policies(store, ref.namespace, options.server),
        tekton_world(store, ref.namespace, options),
    )
    if live is not None:
        results = sorted(
            results, key=lambda run_result: (run_result.problem is not None, not _is_live_pod(run_result, live))
        )
    first = results[0]
    problem = next((result.problem for result in results if result.problem is not None), None)
    pod = _restore_task_values(first.submitted, first.journal) if first.submitted is not None else Pod()
    source = Source("Pod", pod.metadata.name or f"{run.metadata.name}-pod", run.metadata.namespace)
    manifest = PodManifest(pod, source, "", _origin(task), live=live)
    containers = (*(pod.spec.init_containers or ()), *(pod.spec.containers or ()))
    steps, sidecars = task.spec.steps or (), task.spec.sidecars or ()
    named = {f"sidecar-{sidecar.name}" for sidecar in sidecars}
    conditions = (condition for condition in run.status.conditions or () if condition.type == "Succeeded")
    condition = next(conditions, Condition())
    additions = tuple(
        container.name
        for container in containers
        if not container.name.startswith("step-") and container.name not in named
    )
    part = TektonPart(
        task.origin.source,
        len(steps),
        len(sidecars),
        additions,
        condition.status,
        condition.reason,
        problem,
        find_quota_shortfalls(results, namespace_policies.policies),
        max(0, run.spec.retries - len(run.status.retries_status or ())),
        _lost_amounts(first.journal),
        any(entry.rule.startswith("tekton/task-level") for entry in first.journal if isinstance(entry, Derive)),
        find_waiting_run(store, run, options.now, world.config.timeout_minutes),
        pipeline_run_of(run),
        ".".join(map(str, world.config.version or ())),
        spec_status_hold(run),
        killed_containers(live or pod_of(store, run), first, additions),
        outweighed_resources([result.outcome for result in results if result.outcome is not None], additions),
        _added_cpu_limits(first),
        world.config.by_operator,
        () if run.spec.compute_resources is not None else summed_steps(live or pod_of(store, run)),
        left_running(live or pod_of(store, run)) if condition.status in {"True", "False"} else (),
    )
    run_fields = fields or fields_below(Source("TaskRun", run.metadata.name, run.metadata.namespace, "spec"))
    outcomes = tuple(_outcome(result) for result in results)
    return Analysis(
        manifest,
        namespace_policies,
        outcomes,
        hold(part),
        tuple(map(_first_lister_order, results)),
        made_pod=_build_made_pod(
            store,
            ref,
            options,
            part,
            outcomes,
            RunCase(run, task, run_fields, world, added),
            exists=exists,
            assumed=() if exists or first.submitted is None else _asked_webhooks(store, first.submitted, options),
        ),
        claims=_claims(store, run, world) if not run.status.pod_name else None,
        unread=tuple(map(not_computed, dict.fromkeys(gap for result in results for gap in result.gaps))),
    )


def _claims(store: Store, run: TaskRun, world: RunNamespace) -> PodClaims | None:
    """Return the quota costs of the claims of the run's workspaces; None: it makes none."""
    claims = claims_of(run, existing_claims(store, run))
    if not claims:
        return None
    answers = admit_claims(claims, world.policies, world.server)
    costs = tuple(sums_of(cost for answer in answers for cost in answer.charges))
    unknown = unknown_claims(run)
    text = f"what workspace {', '.join(unknown)} claims is not known: taken as admitted"
    return PodClaims(charges=costs, assumptions=(Assumption("", "tekton/claim-unknown", text),) if unknown else ())


def _added_cpu_limits(result: RunResult) -> Mapping[str, str]:
    """Return the limits of cpu that the version of Tekton gives the containers that it adds."""
    limits: dict[str, str] = {}
    if result.built_pod is None:
        return limits
    rules = {entry.path: entry for entry in result.built_pod.journal if isinstance(entry, Set)}
    spec = result.built_pod.pod.spec
    for field, group in (("initContainers", spec.init_containers), ("containers", spec.containers)):
        for index, container in enumerate(group or ()):
            entry = rules.get(f"spec.{field}[{index}].resources.limits[cpu]")
            if entry is not None and entry.rule == "tekton/built-in" and entry.after is not None:
                limits[container.name] = entry.after
    return limits


def _lost_amounts(journal: Journal) -> Mapping[str, str]:
    """Return the amount of each resource that the division of task-level requests loses."""
    result: dict[str, str] = {}
    for entry in journal:
        if isinstance(entry, Derive) and entry.rule.startswith("tekton/task-level"):
            name = entry.path.rpartition("[")[2].rstrip("]")
            result.update((name, term.value) for term in entry.terms if term.path == LOST and parse(term.value).nano)
    return result


def _origin(task: UsedTask) -> str:
    source = task.origin.source
    origin_text = str(source.ref)
    return f"the Task in {source.field} of {origin_text}" if source.kind != "Task" else origin_text


def pod_of(store: Store, run: TaskRun) -> Pod | None:
    """Return the pod of the run; None if there is none."""
    pod = store.get("Pod", run.status.pod_name, run.metadata.namespace) if run.status.pod_name else None
    return pod if isinstance(pod, Pod) else None


def _is_live_pod(result: RunResult, live: Pod) -> bool:
    """Return whether a stored pod is the live pod."""
    return result.stored_run is not None and values_of(result.stored_run) == values_of(written_pod(live))


def _outcome(result: RunResult) -> Outcome:
    """Return the API server's answer, with the message of the run's condition."""
    if result.outcome is None:
        return refused_outcome(result.problem, result.journal) if result.problem is not None else Outcome(True, 201)
    outcome = structs.replace(result.outcome, journal=result.journal)
    if result.problem is None:
        return outcome
    if outcome.refusal is None:
        return structs.replace(refused_outcome(result.problem, result.journal), draft=outcome.draft)
    return structs.replace(outcome, refusal=structs.replace(outcome.refusal, message=result.problem.text))


def _first_lister_order(result: RunResult) -> tuple[str, ...]:
    """Return an order of LimitRanges in Tekton's lister that leads to this outcome; the API server has its own."""
    return result.built_pod.orders[0] if result.built_pod is not None and result.built_pod.orders else ()


def refused_outcome(problem: Problem, journal: Journal = ()) -> Outcome:
    """Return Tekton's refusal as an outcome of admission."""
    finding = Finding(problem.text, problem.rule, problem.field, observed=problem.observed)
    several = tuple(
        Finding(
            fault.text,
            fault.rule,
            resource=fault.resource,
            used=fault.used,
            requested=fault.requested,
            limit=fault.limit,
            source=fault.source,
        )
        for fault in problem.faults
    )
    refusal = Refusal(problem.code, problem.reason, problem.text, several or (finding,))
    return Outcome(False, problem.code, refusal, journal=journal)


def _restore_task_values(pod: Pod, journal: Journal) -> Pod:
    """Return the pod with the values of the Task; the journal has Tekton's changes."""
    written = {
        entry.path: entry.after
        for entry in journal
        if isinstance(entry, Set) and entry.rule in _AUTHORED and entry.after is not None
    }
    spec = structs.replace(
        pod.spec,
        containers=_set_resources(pod.spec.containers or (), "spec.containers", written),
        init_containers=_set_resources(pod.spec.init_containers or (), "spec.initContainers", written),
    )
    return structs.replace(pod, spec=spec)


def _set_resources(containers: Iterable[Container], field: str, written: Mapping[str, str]) -> tuple[Container, ...]:
    return tuple(
        structs.replace(container, resources=_resources(container.resources, f"{field}[{index}]", written))
        for index, container in enumerate(containers)
    )


def _resources(
    resource_requirements: ResourceRequirements | None, path: str, written: Mapping[str, str]
) -> ResourceRequirements | None:
    sides: dict[str, dict[str, str]] = {"limits": {}, "requests": {}}
    for side, values in sides.items():
        head = f"{path}.resources.{side}["
        values.update({key[len(head) : -1]: text for key, text in written.items() if key.startswith(head)})
    claims = resource_requirements.claims if resource_requirements is not None else None
    if not (sides["limits"] or sides["requests"] or claims):
        return None
    return ResourceRequirements(sides["limits"] or None, sides["requests"] or None, claims)
