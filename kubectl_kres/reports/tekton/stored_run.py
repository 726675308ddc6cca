"""The run that an answer is about: as it is stored, or as a file's would be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec import structs

from kubectl_kres.model.tekton import Pipeline, PipelineRun, Task, TaskRun
from kubectl_kres.reports.common.subject import Subject
from kubectl_kres.reports.pod.manifest_source import missing
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.base.result import Problem
from kubectl_kres.tekton.controller.taskrun import RunWorld, sent

RunType = TypeVar("RunType", TaskRun, PipelineRun)
Template = TypeVar("Template", Task, Pipeline)


def stored_run(
    store: Store,
    subject: Subject,
    world: RunWorld,
    run: type[RunType],
    template: type[Template],
    alone: Callable[[Template], RunType],
) -> tuple[RunType | None, tuple[Problem, ...]]:
    """The run as it is stored, or why a file's is not. ``alone``: what a template that nothing runs would be run as.

    Raises NotFound or Forbidden if the cluster's object cannot be had.
    """
    item: Any
    refusals: tuple[Problem, ...] = ()
    if subject.raw is not None:
        item, refusals = (answer := sent(subject.raw, world)).item, answer.refusals
    else:
        item = store.get(subject.ref.kind, subject.ref.name, subject.ref.namespace)
        if item is None:
            raise missing(store, subject)
    if isinstance(item, template):
        return alone(item), refusals
    if not isinstance(item, run):
        return None, refusals
    # A file's object has a name that stands for a generated one.
    metadata = structs.replace(item.metadata, name=subject.ref.name, namespace=subject.ref.namespace)
    return structs.replace(item, metadata=metadata), refusals
