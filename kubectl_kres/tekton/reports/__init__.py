"""What Tekton registers with the answers about pods, quotas and namespaces: whether a run stands behind them first.

Told without loading anything of Tekton's engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kubectl_kres.admission.base.draft import Draft
from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.limitrange import Limits
from kubectl_kres.errors import UsageError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.tekton_config import CONFIG_NAMES, DEFINITION, NAMESPACE
from kubectl_kres.provenance.journal import Assume, Journal
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import EvaluationOptions, Fact, RunState, Subject
from kubectl_kres.reports.common.parts import MergedLimit, Remedy
from kubectl_kres.reports.common.replicas import controller
from kubectl_kres.reports.common.system import CacheKey, KindAnswers, Naming, Right, Sentences, System, TimelineEvent
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.tekton.model import GROUP as TEKTON
from kubectl_kres.tekton.model import PipelineRun, TaskRun

#: Kinds that make one pod each.
KINDS = ("TaskRun", "Task")
#: Kinds that make a pod for each of their tasks.
PIPELINES = ("PipelineRun", "Pipeline")


def makes_one_pod(subject: Subject) -> bool:
    """Return whether the answer about the object is made here."""
    return subject.kind.group == TEKTON and subject.ref.kind in KINDS


def run_behind(store: Store, subject: Subject) -> Subject | None:
    """Return the subject itself if it is a run or a Task, the run that made a live pod; None for anything else."""
    ref = subject.ref
    if makes_one_pod(subject):
        return subject
    pod = store.get("Pod", ref.name, ref.namespace) if subject.raw is None and ref.kind == "Pod" else None
    kind, name = controller(pod) if isinstance(pod, Pod) else ("", "")
    if kind != "TaskRun" or not isinstance(store.get(kind, name, ref.namespace), TaskRun):
        return None
    return Subject(ObjectRef(kind, name, ref.namespace), BY_KIND[kind])


class Tekton(System):
    """TaskRuns, Tasks, PipelineRuns and Pipelines."""

    name = "tekton"
    group = TEKTON
    answers: Mapping[str, KindAnswers] = {
        "TaskRun": KindAnswers("pod", one_pod=True),
        "Task": KindAnswers("pod", one_pod=True, as_sent=True),
        "PipelineRun": KindAnswers(
            "tekton",
            several="ask about its TaskRuns: taskruns -l tekton.dev/pipelineRun=NAME; explain shows all tasks at once",
        ),
        "Pipeline": KindAnswers(
            "tekton", several="ask about its Tasks by name; explain shows all of them at once", as_sent=True
        ),
        "StepAction": KindAnswers(as_sent=True),
    }
    beside_lists = frozenset(
        {"ConfigMap", "CustomResourceDefinition", "Namespace", "PipelineRun", "StepAction", "TaskRun"}
    )
    assumed = frozenset({"ConfigMap", "CustomResourceDefinition", "Namespace"})
    waiting = ("TaskRun",)
    running = ("TaskRun", "PipelineRun")
    policies = ("Task",)
    telling = ("TaskRun",)
    rights: Mapping[str, tuple[Right, ...]] = {
        "pods": (
            *(Right(kind, ("get", "list")) for kind in ("Task", "TaskRun", "Pipeline", "PipelineRun")),
            Right("StepAction", ("get",), "what runs in a step that refers to one"),
            Right("ConfigMap", ("get",), "how Tekton is configured", CONFIG_NAMES, NAMESPACE),
            Right("CustomResourceDefinition", ("get",), "whether Tekton is installed", (DEFINITION,)),
        )
    }

    def own_remedies(self) -> Mapping[str, Sentences]:
        from kubectl_kres.tekton.reports.remedy import TEKTON_REMEDIES, WHOLE

        return {**TEKTON_REMEDIES, **WHOLE}

    def needs(self, store: Store, subject: Subject) -> tuple[ReadRequest, ...] | None:
        if subject.kind.group == TEKTON:
            from kubectl_kres.tekton.reports.needs import tekton_needs

            return tekton_needs(store, subject)
        pod = store.get("Pod", subject.ref.name, subject.ref.namespace) if subject.raw is None else None
        if subject.ref.kind != "Pod" or not isinstance(pod, Pod) or controller(pod)[0] != "TaskRun":
            return None
        from kubectl_kres.tekton.reports.needs import pod_needs

        space = subject.ref.namespace
        own = (
            ReadRequest("Pod", space, subject.ref.name),
            ReadRequest("LimitRange", space),
            ReadRequest("ResourceQuota", space),
        )
        return tuple(dict.fromkeys((*own, *pod_needs(store, pod))))

    def namespace_needs(self, store: Store, namespace: str) -> Iterable[ReadRequest]:
        del namespace
        from kubectl_kres.tekton.reports.config import tekton_needs_of_namespace

        return tekton_needs_of_namespace(store)

    def configuration_needs(self, store: Store) -> Iterable[ReadRequest]:
        from kubectl_kres.tekton.reports.config import configuration_needs

        return configuration_needs(store)

    def cache_key(self, store: Store, subject: Subject, ask: EvaluationOptions) -> CacheKey | None:
        if subject.kind.group != TEKTON or subject.raw is not None or subject.ref.kind != "TaskRun":
            return None
        from kubectl_kres.tekton.reports.run_facts import run_likeness

        return run_likeness(store, subject, ask)

    def refuse_several(self, subject: Subject) -> None:
        if subject.kind.group != TEKTON or subject.ref.kind not in PIPELINES:
            return
        hint = "explain shows all tasks, and with -c TASK one of them in full"
        if subject.raw is None and subject.ref.kind == "PipelineRun":
            hint = f"ask about its TaskRuns: taskruns -l tekton.dev/pipelineRun={subject.ref.name}; {hint}"
        raise UsageError(f"{subject.ref} makes several pods, one for each task", hint=hint)

    def makes(self, store: Store, subject: Subject) -> bool:
        return run_behind(store, subject) is not None

    def analysis(
        self, store: Store, subject: Subject, ask: EvaluationOptions, *, journal: bool = True, another: bool = False
    ) -> Analysis | None:
        if run_behind(store, subject) is None:
            return None
        from kubectl_kres.tekton.reports import taskrun

        if makes_one_pod(subject):
            return taskrun.taskrun_analysis(store, subject, ask, journal=journal, another=another)
        return None if another else taskrun.of_pod(store, subject, ask, journal=journal)

    def missing(self, analysis: Analysis) -> int:
        """Return how many pods are wanted: one more of a failed run, none of one that has succeeded."""
        part = analysis.tekton
        if part is None or (part.ended and not part.failed):
            return 0
        return 0 if analysis.start.live is not None and not part.about_another else 1

    def state(self, analysis: Analysis) -> str:
        part = analysis.tekton
        return f"held back by spec.status {part.held}" if part is not None and part.held else ""

    def is_about_another(self, analysis: Analysis) -> bool:
        return analysis.tekton is not None and analysis.tekton.about_another

    def remarks(self, store: Store, namespace: str, ask: EvaluationOptions, journal: Journal) -> tuple[Assume, ...]:
        from kubectl_kres.tekton.reports.run_facts import tekton_remarks

        return tekton_remarks(store, namespace, ask, journal)

    def facts(self, item: Any) -> tuple[Fact, ...] | None:
        if not isinstance(item, TaskRun):
            return None
        from kubectl_kres.tekton.reports.run_facts import run_facts

        return tuple(run_facts(item))

    def run_state(self, store: Store, item: Any, now: str) -> RunState | None:
        if not isinstance(item, TaskRun | PipelineRun):
            return None
        from kubectl_kres.tekton.reports.run_state import run_state

        return run_state(store, item, now)

    def reach(self, store: Store, subject: Subject, ask: EvaluationOptions, draft: Draft) -> Iterable[Any]:
        from kubectl_kres.tekton.reports.qos_run import reaches, run_case

        run = run_case(store, subject, ask, draft)
        return reaches(run) if run is not None else ()

    def ways(self, store: Store, subject: Subject, analysis: Analysis) -> tuple[Remedy, ...]:
        from kubectl_kres.tekton.reports.run_search import run_remedies

        return run_remedies(store, subject, analysis)

    def adapt_remedies(self, texts: Sequence[str], analysis: Analysis) -> tuple[str, ...]:
        from kubectl_kres.tekton.reports.remedy import of_run

        assert analysis.tekton is not None
        return of_run(texts, analysis.tekton)

    def naming(self, analysis: Analysis, outcome: Outcome) -> Naming:
        from kubectl_kres.tekton.reports.remedy import naming

        return naming(analysis.tekton, outcome) if analysis.tekton is not None else Naming()

    def merged_limits(self, store: Store, limits: Sequence[Limits]) -> tuple[MergedLimit, ...]:
        from kubectl_kres.tekton.reports.config import is_installed, merged_limits

        return merged_limits(limits) if is_installed(store) else ()

    def waits(self, item: Any) -> bool:
        from kubectl_kres.tekton.rules.controller.quota_retry import waits

        return isinstance(item, TaskRun) and waits(item) is not None

    def may_wait(self, item: Any) -> bool:
        from kubectl_kres.tekton.rules.pipeline.pipeline_run import has_ended

        return not has_ended(item)

    def happened(self, item: Any) -> Iterator[TimelineEvent]:
        from kubectl_kres.tekton.reports.run_facts import failures

        return failures(item)

    def overview_areas(self) -> tuple[Any, ...]:
        from kubectl_kres.tekton.reports.overview import AREAS

        return AREAS

    def overview_needs(self, namespace: str) -> Iterable[ReadRequest]:
        return ReadRequest("TaskRun", namespace, required=False), ReadRequest("PipelineRun", namespace, required=False)


SYSTEM = Tekton()
