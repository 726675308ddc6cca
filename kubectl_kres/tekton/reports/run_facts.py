"""The cluster's facts about a TaskRun, what it waits for, and the assumptions about Tekton.

It also has the key that equal runs of one Task share: their explanations differ in a few texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from msgspec import Struct, structs

from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.model.content_key import content_key
from kubectl_kres.model.objects import Condition
from kubectl_kres.provenance.journal import Assumption, Journal, OmittedObject, QuotaShortfall, Source
from kubectl_kres.reports.common.explanation import EvaluationOptions, Fact, Subject
from kubectl_kres.reports.common.system import CacheKey, TimelineEvent
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.tekton.model import PipelineRun, TaskRun
from kubectl_kres.tekton.reports.config import remarks
from kubectl_kres.tekton.reports.part import WaitingRun
from kubectl_kres.tekton.reports.world import refused_definitions, revision_of, tekton_world
from kubectl_kres.tekton.rules.base.variables import pod_name
from kubectl_kres.tekton.rules.controller.quota_retry import REASON, never_fits, next_try, time_left, waiting_condition
from kubectl_kres.tekton.rules.controller.taskrun import RunResult

#: Reads whose failure the assumptions tell.
SETTLING = frozenset({"ConfigMap", "CustomResourceDefinition", "Namespace"})
HELD_TASK_RUN, HELD_PIPELINE_RUN = "TaskRunPending", "PipelineRunPending"
#: Reasons of a run that has not ended. Source: tekton pkg/apis/pipeline/v1/taskrun_types.go.
_UNDER_WAY = frozenset({
    "Started", "Pending", "Running", "TaskRunResolvingTaskRef", "ResolvingTaskRef", "ToBeRetried",
    HELD_TASK_RUN, HELD_PIPELINE_RUN,
})  # fmt: skip
#: States of a run that has ended.
_OVER = frozenset({"succeeded", "failed", "cancelled"})


def run_facts(run: TaskRun | PipelineRun) -> Iterator[Fact]:
    """Yield the condition of a run that has not succeeded, then those of its earlier tries."""
    kind = "TaskRun" if isinstance(run, TaskRun) else "PipelineRun"
    source = Source(kind, run.metadata.name, run.metadata.namespace, "status.conditions[Succeeded]")
    yield from _condition_facts(run.status.conditions, source)
    tries = (run.status.retries_status or ()) if isinstance(run, TaskRun) else ()
    for index, item in enumerate(tries):
        yield from _condition_facts(item.conditions, source.at_path(f"status.retriesStatus[{index}]"))


def _condition_facts(conditions: tuple[Condition, ...] | None, source: Source) -> Iterator[Fact]:
    for condition in conditions or ():
        if condition.type == "Succeeded" and condition.status != "True":
            text = condition.message or f"Succeeded is {condition.status}"
            yield Fact(condition.reason or condition.type, text, source, condition.last_transition_time or "")


def failures(run: TaskRun, facts: Iterable[Fact]) -> Iterator[TimelineEvent]:
    """Yield the conditions that ended a try of a run, and that it waits for a quota."""
    waiting = waiting_condition(run)
    for fact in facts:
        if waiting is not None and fact.reason == waiting.reason:
            yield TimelineEvent(fact, "warn")
        elif fact.reason not in _UNDER_WAY:
            yield TimelineEvent(fact, "bad")


def tekton_remarks(
    store: Store, namespace: str, options: EvaluationOptions, journal: Journal
) -> tuple[Assumption, ...]:
    """Return how Tekton is configured where that is not known, what of the run was not, what the namespace enforces."""
    config = tekton_world(store, namespace, options).config
    own_assumptions = tuple(
        entry for entry in journal if isinstance(entry, Assumption) and entry.code.startswith("tekton/")
    )
    lost = tuple(
        Assumption(ref.kind, "policy/refused", OmittedObject(str(ref), refused_definition.text))
        for ref, refused_definition in refused_definitions(store, namespace, options).items()
    )
    assumes = tuple({remark.text: remark for remark in (*remarks(store, config), *lost, *own_assumptions)}.values())
    if (
        store.covered(ReadRequest("Namespace", name=namespace)).is_known
        or store.get("Namespace", namespace) is not None
    ):
        return assumes
    text = f"Namespace {namespace} was not read: whether it enforces Pod Security is not known"
    return (*assumes, Assumption("", "tekton/pod-security-unknown", text))


def find_waiting_run(store: Store, run: TaskRun, now: str, minutes: int) -> WaitingRun | None:
    """Return the wait for a quota; None: the run does not wait for one. ``minutes``: the timeout of a PipelineRun that
    names none.
    """
    condition = waiting_condition(run)
    if condition is None:
        return None
    time = parse_api_time(now)
    tried = next_try(run, time) if time is not None else None
    owner = pipeline_run_of(run)
    pipeline_run = store.get("PipelineRun", owner, run.metadata.namespace) if owner else None
    left = (
        time_left(pipeline_run, time, minutes) if isinstance(pipeline_run, PipelineRun) and time is not None else None
    )
    return WaitingRun(
        condition.last_transition_time or "",
        tried.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if tried is not None else "",
        owner,
        int(left.total_seconds()) if left is not None else None,
    )


def find_quota_shortfalls(results: Sequence[RunResult], policies: Policies) -> tuple[QuotaShortfall, ...]:
    """Return the requests of a refused pod that exceed the whole of its quota; empty: it can still fit."""
    if any(result.problem is None or result.problem.reason != REASON for result in results):
        return ()
    pairs = [never_fits(result, policies) for result in results]
    return pairs[0] if pairs and all(pairs) else ()


def condition_of(run: TaskRun | PipelineRun) -> Condition | None:
    """Return the condition that gives a run's state; None for a run that no controller has seen."""
    return next((condition for condition in run.status.conditions or () if condition.type == "Succeeded"), None)


def spec_status_hold(run: TaskRun | PipelineRun) -> str:
    """Return the value of ``spec.status`` that holds a run back, so that nothing is made of it; empty: none does.

    Source: pkg/apis/pipeline/v1 TaskRun.IsPending, PipelineRun.IsPending.
    """
    condition = condition_of(run)
    if condition is not None and condition.status != "Unknown":
        return ""
    value = HELD_TASK_RUN if isinstance(run, TaskRun) else HELD_PIPELINE_RUN
    return value if run.spec.status == value else ""


def waits_for_quota(run: TaskRun | PipelineRun) -> bool:
    """Return whether a quota refuses the pod of a run, or a claim that a PipelineRun is to get first.

    Source: reconciler/pipelinerun/pipelinerun.go, MarkRunning with ReasonPending where a claim is tried again.
    """
    condition = condition_of(run)
    if condition is None or condition.status in {"True", "False"}:
        return False
    held = run.spec.status == HELD_PIPELINE_RUN
    return condition.reason == REASON or (condition.reason == HELD_PIPELINE_RUN and not held)


def run_status(run: TaskRun | PipelineRun) -> str:
    """Return the state of a run in a word: waiting is for a quota."""
    condition = condition_of(run)
    if condition is None:
        return "new"
    if condition.status == "True":
        return "succeeded"
    if condition.status == "False":
        return "cancelled" if "Cancelled" in condition.reason else "failed"
    return "waiting" if waits_for_quota(run) else "pending" if condition.reason == "Pending" else "running"


class TaskProgress(Struct, frozen=True):
    """How far a PipelineRun is: of its ``tasks`` those that ``ended``, skipped ones among them, and that are
    ``under_way``.
    """

    ended: int
    under_way: int
    tasks: int


def task_progress(run: PipelineRun, task_runs: Iterable[TaskRun]) -> TaskProgress | None:
    """Return how far a PipelineRun is by the TaskRuns that were read; None: its Pipeline is not in it yet."""
    spec = run.status.pipeline_spec or run.spec.pipeline_spec
    if spec is None:
        return None
    names = [task.name for task in (*(spec.tasks or ()), *(spec.finally_ or ()))]
    over = run_status(run) in _OVER
    states = {task_run.metadata.name: run_status(task_run) for task_run in task_runs}
    made: dict[str, list[bool]] = {}
    for child in run.status.child_references or ():
        made.setdefault(child.pipeline_task_name, []).append(over or states.get(child.name) in _OVER)
    skipped = {task.name for task in run.status.skipped_tasks or ()}
    ended = sum(name in skipped or all(made.get(name, (False,))) for name in names)
    under_way = sum(name not in skipped and not all(made.get(name, (True,))) for name in names)
    return TaskProgress(ended, under_way, len(names))


def pipeline_run_of(run: TaskRun) -> str:
    """Return the PipelineRun that made the run; empty if none did."""
    owners = (
        owner_reference
        for owner_reference in run.metadata.owner_references or ()
        if owner_reference.kind == "PipelineRun"
    )
    return next((owner.name for owner in owners), "")


def parse_api_time(text: str) -> datetime | None:
    """Return a time of the API; None for what is none."""
    try:
        result = datetime.fromisoformat(text)
    except ValueError:
        return None
    return result if result.tzinfo is not None else None


#: Variables that stand for what is a run's own.
_OWN = b"$(context."


def run_cache_key(store: Store, subject: Subject, options: EvaluationOptions) -> CacheKey | None:
    """Return the key of a run in the cluster that was not retried and whose pod is not read; None for any other.

    The key is all of the run but its name, its times, and the figures that those of a waiting run lead to.
    """
    ref = subject.ref
    run = store.get(ref.kind, ref.name, ref.namespace)
    if not isinstance(run, TaskRun) or run.status.retries_status or (run.status.conditions or ())[1:]:
        return None
    name, pod, condition = ref.name, run.status.pod_name, condition_of(run)
    # A name that is too long for its pod goes into a hash.
    if pod not in {"", f"{name}-pod"} or pod_name(name) != f"{name}-pod":
        return None
    if pod and store.get("Pod", pod, ref.namespace) is not None:
        return None
    world = tekton_world(store, ref.namespace, options)
    if world.policies.reviewer is not None and not pod:
        # Policies may go by its name.
        return None
    waits = find_waiting_run(store, run, options.now, world.config.timeout_minutes)
    since = (condition.last_transition_time if condition is not None else None) or ""
    tried = waits.next_try if waits is not None else ""
    key = (
        ref.namespace,
        revision_of(store),
        store.covered(ReadRequest("Pod", ref.namespace, pod, required=False)) if pod else None,
        structs.replace(run.metadata, name="", uid="", resource_version="", creation_timestamp=None, generation=0),
        run.spec,
        structs.replace(
            run.status,
            pod_name=bool(pod) * "pod",
            start_time=None,
            completion_time=None,
            conditions=condition and (structs.replace(condition, last_transition_time=None),),
        ),
        waits and (waits.pipeline_run, waits.seconds_left),
        bool(since),
        bool(tried),
    )
    encoded = content_key(key)
    if _OWN in encoded or name.encode("utf-8", "replace") in encoded:
        return None
    return CacheKey(encoded, (name, *filter(None, (since, tried))))
