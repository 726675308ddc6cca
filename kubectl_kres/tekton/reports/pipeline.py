"""The answer of ``explain pipelinerun/x`` and ``pipeline/x``: structs that text, JSON and screens are made from."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec
from msgspec import structs

from kubectl_kres.errors import UsageError
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.provenance.journal import Assumption, Source
from kubectl_kres.record import HOLDER, Record
from kubectl_kres.reports.common.analysis import AccountStep
from kubectl_kres.reports.common.explanation import Explanation, Fact, FailedRead, RunState, Verdict
from kubectl_kres.reports.common.nodes import NodeShortage
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.reports.common.system_parts import Parts
from kubectl_kres.tekton.rules.base.problem import Problem
from kubectl_kres.tekton.rules.base.result import MissingReference

#: skipped, done, failed: asks for nothing any more. running: has pods. waiting: a quota refuses its pods.
TaskState = Literal["", "running", "waiting", "done", "failed", "skipped"]


class PlannedTask(Record, frozen=True):
    """A task of the Pipeline. ``runs``: how many TaskRuns its matrix makes; absent: only known when a task has ended.

    ``names``: of the TaskRuns as far as they are known. ``explanation``: of the first of them, as if nothing else ran;
    absent where ``missing`` says what is missing to tell. ``state``: what has become of them.
    """

    name: str
    runs: int | None = 1
    names: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    is_finally: bool = False
    state: TaskState = ""
    task: Source | None = None
    missing: MissingReference | None = None
    explanation: Explanation | None = None


class AtOnce(Record, frozen=True):
    """The most that open tasks can ask of a quota at one moment: ``amount`` in total, by ``tasks``.

    ``quota`` empty: no quota limits it. ``counted``: what of it is in ``used`` already. ``assistants``: what affinity
    assistants add for as long as the run lasts. ``after``: used with all of it. ``at_least``: a number of runs among
    them is not known yet and taken as one.
    """

    resource: str
    amount: str
    tasks: tuple[str, ...]
    quota: str = ""
    is_finally: bool = False
    at_least: bool = False
    counted: str = ""
    assistants: str = ""
    used: str = ""
    hard: str = ""
    after: str = ""
    exceeded: bool = False


class LackingTask(Record, frozen=True):
    """A task whose pod asks for more than a node has left once the tasks before it have ended."""

    name: str
    shortages: tuple[NodeShortage, ...]


class AssistantPod(Record, frozen=True):
    """A pod that keeps tasks on one node, by the name of its StatefulSet. ``workspace`` empty: for the whole run.

    ``refused``: the events of the StatefulSet, which are all that say so. ``tasks``: those whose pods must be on its
    node, and find none without it. ``exists``: its pod exists, on ``node``; empty: on none. Of the tasks to come
    ``fitting`` fit there, each alone, and ``not_fitting`` do not; ``unread_node``: what is left there could not be
    read.
    """

    name: str
    workspace: str = ""
    refused: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    exists: bool = False
    node: str = ""
    fitting: tuple[str, ...] = ()
    not_fitting: tuple[LackingTask, ...] = ()
    unread_node: bool = False


class PipelineExplanation(Record, frozen=True):
    """What becomes of a PipelineRun. ``problem``: why nothing of it runs, in Tekton's words; ``cycle``: tasks that wait
    for each other. ``verdict``: over all open tasks, each as if it ran alone; ``at_once``: what they ask for together.

    ``seconds_left``: of its timeout, negative: it is over; absent: it has none, or has not started. ``ended``: it has
    succeeded or failed, so that nothing of it is made any more. ``held_by``: the value of ``spec.status`` that holds it
    back, where no queue does. ``claims``: of its workspaces. ``run_state``: whether it runs, and why it does not;
    absent of a file. ``pod_parts``: of who decides when it starts. With ``-c`` there is that task alone.
    """

    TRANSIENT: ClassVar[frozenset[str]] = frozenset({"seconds_left"})

    subject: ObjectRef
    start: str
    verdict: Verdict
    fixes: tuple[Remedy, ...]
    problem: Problem | None = None
    cycle: tuple[str, ...] = ()
    tasks: tuple[PlannedTask, ...] = ()
    at_once: tuple[AtOnce, ...] = ()
    assistants: tuple[AssistantPod, ...] = ()
    seconds_left: int | None = None
    ended: bool = False
    facts: tuple[Fact, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    unread: tuple[FailedRead, ...] = ()
    version: str = ""
    complete: bool = True
    held_by: str = ""
    claims: tuple[AccountStep, ...] = ()
    run_state: RunState | None = None
    pod_parts: Parts = msgspec.field(default_factory=dict, name=f"{HOLDER}pods")

    @property
    def lacks_objects(self) -> bool:
        """Return whether a claim or an assistant that its tasks need is refused."""
        claims = any(claim.state == "refused" for claim in self.claims)
        return claims or any(
            assistant.refused and assistant.tasks and not assistant.exists for assistant in self.assistants
        )


def narrow_to_task(explanation: PipelineExplanation, name: str) -> PipelineExplanation:
    """Return the same with one task alone, without what all ask for together. Raises UsageError naming those
    there are.
    """
    kept = tuple(task for task in explanation.tasks if task.name == name)
    if not kept:
        names = ", ".join(task.name for task in explanation.tasks) or "none"
        raise UsageError(f'{explanation.subject} has no task "{name}"', hint=f"its tasks: {names}")
    return structs.replace(explanation, tasks=kept, at_once=(), assistants=())
