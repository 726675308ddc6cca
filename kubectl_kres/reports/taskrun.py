"""A TaskRun, or a Task run with defaults, as admission sees it: the pod that Tekton makes of it, and its way there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import structs

from kubectl_kres.admission.outcome import Finding, Outcome, Refusal
from kubectl_kres.errors import ClusterError, Forbidden, NotFound
from kubectl_kres.model.pod import Container, Pod, ResourceRequirements
from kubectl_kres.model.tekton import Task, TaskRun
from kubectl_kres.provenance.journal import Journal, Set, Source
from kubectl_kres.reports.analysis import Analysis
from kubectl_kres.reports.policies import policies
from kubectl_kres.reports.start import Start, missing
from kubectl_kres.reports.subject import Ask, Subject
from kubectl_kres.reports.tekton_part import TektonPart
from kubectl_kres.reports.tekton_world import tekton_world
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.answer import Gap, Problem
from kubectl_kres.tekton.resolve import UsedTask, task_of
from kubectl_kres.tekton.run import Result, World, alone, sent, task_run

KINDS = ("TaskRun", "Task")

#: What the author of the Task wrote, in contrast to whoever runs it.
_AUTHORED = frozenset({"tekton/step", "tekton/step-template", "tekton/sidecar"})


def taskrun_analysis(store: Store, subject: Subject, ask: Ask, *, journal: bool = True) -> Analysis:
    """Every way in which the run can go.

    Raises NotFound or Forbidden if the run or its Task cannot be had, ClusterError if the Task is not in the cluster.
    """
    world = tekton_world(store, subject.ref.namespace, ask)
    run, refusals = run_of(store, subject, world)
    if run is None:
        return _none(store, subject, ask, refusals)
    found = task_of(run, world.lookups)
    if isinstance(found, Gap):
        raise unknown_task(subject, found)
    results = task_run(run, world, task=found, journal=journal)
    if isinstance(results, Gap):
        raise unknown_task(subject, results)
    return _analysed(store, subject, ask, run, found, results)


def run_of(store: Store, subject: Subject, world: World) -> tuple[TaskRun | None, tuple[Problem, ...]]:
    """The run as it is stored, or why a file's is not; a Task is run with defaults. Raises NotFound, Forbidden."""
    refusals: tuple[Problem, ...] = ()
    if subject.raw is not None:
        item, refusals = (answer := sent(subject.raw, world)).item, answer.refusals
    else:
        item = store.get(subject.ref.kind, subject.ref.name, subject.ref.namespace)
        if item is None:
            raise missing(store, subject)
    if isinstance(item, Task):
        return alone(item), refusals
    if not isinstance(item, TaskRun):
        return None, refusals
    # A file's object has a name that stands for a generated one.
    metadata = structs.replace(item.metadata, name=subject.ref.name, namespace=subject.ref.namespace)
    return structs.replace(item, metadata=metadata), refusals


def unknown_task(subject: Subject, gap: Gap) -> ClusterError:
    """That the pod cannot be told, and why."""
    text = f"{subject.ref}: {gap}"
    if gap.why == "missing":
        return NotFound(text, code=404, reason="NotFound", hint="a run that started keeps its Task in status.taskSpec")
    if gap.why == "unreadable":
        return Forbidden(text, code=403, reason="Forbidden", hint="who may read it can make a snapshot")
    return ClusterError(text, hint="once the run has started, its status keeps what was fetched")


def _none(store: Store, subject: Subject, ask: Ask, refusals: Sequence[Problem]) -> Analysis:
    """A run that is not stored has no pod."""
    ref = subject.ref
    start = Start(Pod(), Source(ref.kind, ref.name, ref.namespace), "", subject.file or "the input")
    outcomes = tuple(_refused(one, ()) for one in refusals)
    return Analysis(start, policies(store, ref.namespace, ask.server), outcomes, TektonPart(problem=refusals[0]))


def _analysed(
    store: Store, subject: Subject, ask: Ask, run: TaskRun, task: UsedTask, results: Sequence[Result]
) -> Analysis:
    known = policies(store, subject.ref.namespace, ask.server)
    live = _live(store, run)
    if live is not None:
        results = sorted(results, key=lambda one: one.problem is not None)
    first = results[0]
    problem = next((one.problem for one in results if one.problem is not None), None)
    pod = authored(first.submitted, first.journal) if first.submitted is not None else Pod()
    source = Source("Pod", pod.metadata.name or f"{run.metadata.name}-pod", run.metadata.namespace)
    start = Start(pod, source, "", _origin(task), live=live)
    config = tekton_world(store, subject.ref.namespace, ask).config
    part = TektonPart(task.origin.source, len(task.spec.steps or ()), problem, ".".join(map(str, config.version or ())))
    return Analysis(start, known, tuple(_outcome(one) for one in results), part)


def _origin(task: UsedTask) -> str:
    source = task.origin.source
    where = f"{source.kind}/{source.name}"
    return f"the Task in {source.field} of {where}" if source.kind != "Task" else where


def _live(store: Store, run: TaskRun) -> Pod | None:
    found = store.get("Pod", run.status.pod_name, run.metadata.namespace) if run.status.pod_name else None
    return found if isinstance(found, Pod) else None


def _outcome(result: Result) -> Outcome:
    """The API server's answer, told as Tekton tells it in the run's condition."""
    if result.outcome is None:
        return _refused(result.problem, result.journal) if result.problem is not None else Outcome(True, 201)
    outcome = structs.replace(result.outcome, journal=result.journal, order=_order(result))
    if result.problem is None:
        return outcome
    if outcome.refusal is None:
        return structs.replace(_refused(result.problem, result.journal), draft=outcome.draft)
    return structs.replace(outcome, refusal=structs.replace(outcome.refusal, message=result.problem.text))


def _order(result: Result) -> tuple[str, ...]:
    """An order of LimitRanges that leads here: Tekton's and the API server's are not the same."""
    if result.outcome is not None and result.outcome.order:
        return result.outcome.order
    return result.built.orders[0] if result.built is not None and result.built.orders else ()


def _refused(problem: Problem, journal: Journal) -> Outcome:
    finding = Finding(problem.text, problem.rule)
    refusal = Refusal(problem.code, problem.reason, problem.text, (finding,))
    return Outcome(False, problem.code, refusal, journal=journal)


def authored(pod: Pod, journal: Journal) -> Pod:
    """The pod with nothing but what the Task's author wrote; what Tekton then did to it stands in the journal."""
    written = {
        entry.path: entry.after
        for entry in journal
        if isinstance(entry, Set) and entry.rule in _AUTHORED and entry.after is not None
    }
    spec = structs.replace(
        pod.spec,
        containers=_with(pod.spec.containers or (), "spec.containers", written),
        init_containers=_with(pod.spec.init_containers or (), "spec.initContainers", written),
    )
    return structs.replace(pod, spec=spec)


def _with(containers: Iterable[Container], field: str, written: Mapping[str, str]) -> tuple[Container, ...]:
    return tuple(
        structs.replace(one, resources=_resources(one.resources, f"{field}[{index}]", written))
        for index, one in enumerate(containers)
    )


def _resources(held: ResourceRequirements | None, path: str, written: Mapping[str, str]) -> ResourceRequirements | None:
    sides: dict[str, dict[str, str]] = {"limits": {}, "requests": {}}
    for side, values in sides.items():
        head = f"{path}.resources.{side}["
        values.update({at[len(head) : -1]: text for at, text in written.items() if at.startswith(head)})
    claims = held.claims if held is not None else None
    if not (sides["limits"] or sides["requests"] or claims):
        return None
    return ResourceRequirements(sides["limits"] or None, sides["requests"] or None, claims)
