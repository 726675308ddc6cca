"""Registration of Tekton with the reports about pods, quotas and namespaces; it is asked first who made a pod.

Told without loading anything of Tekton's engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kubectl_kres.admission.base.draft import Draft
from kubectl_kres.admission.limitrange import Limits
from kubectl_kres.errors import UsageError
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.tekton_config import CONFIG_NAMES, DEFINITION, NAMESPACE
from kubectl_kres.record import Wording
from kubectl_kres.reports.common import system
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import EvaluationOptions, RunState, Subject
from kubectl_kres.reports.common.owners import controller
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.reports.common.system_parts import SystemPart
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.tekton.model import GROUP as TEKTON
from kubectl_kres.tekton.model import PipelineRun, TaskRun

#: Kinds that make one pod each.
KINDS = ("TaskRun", "Task")
#: Kinds that make a pod for each of their tasks.
PIPELINES = ("PipelineRun", "Pipeline")


def _reads(store: Store, question: system.Question) -> Iterable[ReadRequest] | None:
    if isinstance(question, system.AboutObject):
        return _reads_of_object(store, question.subject)
    if isinstance(question, system.AboutNamespace):
        from kubectl_kres.tekton.reports.config import tekton_needs_of_namespace

        return tekton_needs_of_namespace(store)
    if isinstance(question, system.AboutConfiguration):
        from kubectl_kres.tekton.reports.config import configuration_needs

        return configuration_needs(store)
    return None


def _reads_of_object(store: Store, subject: Subject) -> tuple[ReadRequest, ...] | None:
    if subject.kind.group == TEKTON:
        from kubectl_kres.tekton.reports.needs import pipeline_needs, tekton_needs

        return (pipeline_needs if subject.ref.kind in PIPELINES else tekton_needs)(store, subject)
    pod = store.get("Pod", subject.ref.name, subject.ref.namespace) if subject.raw is None else None
    if subject.ref.kind != "Pod" or not isinstance(pod, Pod) or controller(pod)[0] != "TaskRun":
        return None
    from kubectl_kres.reports.pod.needs import node_needs
    from kubectl_kres.tekton.reports.needs import pod_needs

    space = subject.ref.namespace
    own_reads = (
        ReadRequest("Pod", space, subject.ref.name),
        ReadRequest("LimitRange", space),
        ReadRequest("ResourceQuota", space),
    )
    return tuple(dict.fromkeys((*own_reads, *pod_needs(store, pod), *node_needs(store, pod))))


def _analyse(
    store: Store, subject: Subject, options: EvaluationOptions, *, journal: bool, another: bool
) -> Analysis | None:
    if system.object_behind(store, subject) is None:
        _refuse_several(subject)
        return None
    from kubectl_kres.tekton.reports import taskrun

    if subject.kind.group == TEKTON:
        return taskrun.taskrun_analysis(store, subject, options, journal=journal, another=another)
    return None if another else taskrun.find_run_of_pod(store, subject, options, journal=journal)


def _refuse_several(subject: Subject) -> None:
    if subject.kind.group != TEKTON or subject.ref.kind not in PIPELINES:
        return
    hint = "explain shows all tasks, and with -c TASK one of them in full"
    if subject.raw is None and subject.ref.kind == "PipelineRun":
        hint = f"ask about its TaskRuns: taskruns -l tekton.dev/pipelineRun={subject.ref.name}; {hint}"
    raise UsageError(f"{subject.ref} makes several pods, one for each task", hint=hint)


def _sentences(
    analysis: Analysis, names: Mapping[str, str], sentences: Mapping[str, system.Sentences]
) -> tuple[Wording, ...]:
    from kubectl_kres.tekton.reports.remedy import sentences_of_run

    return sentences_of_run(analysis, names, sentences)


def _remedies(store: Store, subject: Subject, analysis: Analysis) -> tuple[Remedy, ...]:
    if analysis.made_pod is None or analysis.made_pod.system != SYSTEM.name:
        return ()
    from kubectl_kres.tekton.reports.run_search import run_remedies

    return run_remedies(store, subject, analysis)


def _find_reaches(store: Store, subject: Subject, options: EvaluationOptions, draft: Draft) -> Iterable[Any]:
    from kubectl_kres.tekton.reports.qos_run import find_reaches, run_case

    run = run_case(store, subject, options, draft)
    return find_reaches(run) if run is not None else ()


def _cache_key(store: Store, subject: Subject, options: EvaluationOptions) -> system.CacheKey | None:
    if subject.kind.group != TEKTON or subject.raw is not None or subject.ref.kind != "TaskRun":
        return None
    from kubectl_kres.tekton.reports.run_facts import run_cache_key

    return run_cache_key(store, subject, options)


def _describe(item: Any) -> system.ObjectDescription | None:
    if not isinstance(item, TaskRun | PipelineRun):
        return None
    from kubectl_kres.tekton.rules.controller.quota_retry import waiting_condition
    from kubectl_kres.tekton.rules.pipeline.pipeline_run import has_ended

    held_up = isinstance(item, TaskRun) and waiting_condition(item) is not None
    return system.ObjectDescription(waits=held_up, ended=has_ended(item))


def _state(store: Store, item: Any, now: str) -> RunState | None:
    if not isinstance(item, TaskRun | PipelineRun):
        return None
    from kubectl_kres.tekton.reports.run_state import run_state

    return run_state(store, item, now)


def _history(item: Any) -> system.ObjectHistory | None:
    if not isinstance(item, TaskRun):
        return system.ObjectHistory() if isinstance(item, PipelineRun) else None
    from kubectl_kres.tekton.reports.run_facts import failures, run_facts

    facts = tuple(run_facts(item))
    return system.ObjectHistory(facts, tuple(failures(item, facts)) if facts else ())


def _explain_namespace(store: Store, namespace: str, limits: Sequence[Limits]) -> Iterable[SystemPart]:
    del namespace
    from kubectl_kres.tekton.reports.config import is_installed, merged_limits

    return merged_limits(limits) if is_installed(store) else ()


SYSTEM = system.System(
    "tekton",
    TEKTON,
    answers={
        "TaskRun": system.KindAnswers("pod", one_pod=True),
        "Task": system.KindAnswers("pod", one_pod=True, as_sent=True),
        "PipelineRun": system.KindAnswers(
            "tekton",
            several="ask about its TaskRuns: taskruns -l tekton.dev/pipelineRun=NAME; explain shows all tasks at once",
        ),
        "Pipeline": system.KindAnswers(
            "tekton", several="ask about its Tasks by name; explain shows all of them at once", as_sent=True
        ),
        "StepAction": system.KindAnswers(as_sent=True),
    },
    kinds={
        "in-lists": (
            *("ConfigMap", "CustomResourceDefinition", "Namespace", "PipelineRun", "ServiceAccount", "StepAction"),
            "TaskRun",
        ),
        "assumed": ("ConfigMap", "CustomResourceDefinition", "Namespace"),
        "waits": ("TaskRun",),
        "runs": ("TaskRun", "PipelineRun"),
        "edited": ("Task",),
        "events": ("TaskRun",),
        "overview": ("TaskRun", "PipelineRun"),
    },
    rights={
        "pods": (
            *(system.ReadRight(kind, ("get", "list")) for kind in ("Task", "TaskRun", "Pipeline", "PipelineRun")),
            system.ReadRight("StepAction", ("get",), "what runs in a step that refers to one"),
            system.ReadRight("ConfigMap", ("get",), "how Tekton is configured", CONFIG_NAMES, NAMESPACE),
            system.ReadRight("CustomResourceDefinition", ("get",), "whether Tekton is installed", (DEFINITION,)),
        )
    },
    reads=_reads,
    describe=_describe,
    state=_state,
    history=_history,
    remedies=_remedies,
    explain_namespace=_explain_namespace,
    pods=system.PodMaker(_analyse, _sentences, _find_reaches, _cache_key),
)
