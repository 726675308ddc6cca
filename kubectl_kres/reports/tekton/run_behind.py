"""Whether a TaskRun stands behind an object that is asked about: told without loading anything of Tekton's engine."""

from __future__ import annotations

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.tekton import GROUP as TEKTON
from kubectl_kres.model.tekton import TaskRun
from kubectl_kres.reports.common.subject import Subject
from kubectl_kres.reports.pod.owned import controller
from kubectl_kres.store.store import Store

#: Kinds that make one pod each.
KINDS = ("TaskRun", "Task")
#: Kinds that make a pod for each of their tasks.
PIPELINES = ("PipelineRun", "Pipeline")


def makes_one_pod(subject: Subject) -> bool:
    """Whether the answer about the object is made here."""
    return subject.kind.group == TEKTON and subject.ref.kind in KINDS


def run_behind(store: Store, subject: Subject) -> Subject | None:
    """The subject itself if it is a run or a Task, the run that made a live pod; None for anything else."""
    ref = subject.ref
    if makes_one_pod(subject):
        return subject
    pod = store.get("Pod", ref.name, ref.namespace) if subject.raw is None and ref.kind == "Pod" else None
    kind, name = controller(pod) if isinstance(pod, Pod) else ("", "")
    if kind != "TaskRun" or not isinstance(store.get(kind, name, ref.namespace), TaskRun):
        return None
    return Subject(ObjectRef(kind, name, ref.namespace), BY_KIND[kind])
