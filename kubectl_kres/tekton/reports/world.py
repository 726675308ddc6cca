"""The world of a namespace's runs: policies, Tekton's configuration, the Tasks that they refer to, stored as v1."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from msgspec import structs

from kubectl_kres.model.objects import Namespace, ObjectRef
from kubectl_kres.reports.common.effective_policies import extending_kinds, policies
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.pod.manifest_source import missing_error
from kubectl_kres.reports.pod.preflight import namespace_refusal
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.tekton.model import Pipeline, PipelineRun, Task, TaskRun
from kubectl_kres.tekton.reports.config import configuration
from kubectl_kres.tekton.rules.base.problem import Problem
from kubectl_kres.tekton.rules.controller.creation import Accounts
from kubectl_kres.tekton.rules.controller.resolve import Lookups
from kubectl_kres.tekton.rules.controller.taskrun import RunNamespace, build_run_namespace, send_object

RunType = TypeVar("RunType", TaskRun, PipelineRun)
Template = TypeVar("Template", Task, Pipeline)

_KINDS = (
    *("LimitRange", "ResourceQuota", "PriorityClass", "RuntimeClass"),
    *("ConfigMap", "CustomResourceDefinition", "Namespace", "ServiceAccount"),
)
_REFERRED = ("Task", "StepAction", "Pipeline")

#: By ref: why the server does not store a Task, Pipeline or StepAction of a file.
Refused = Mapping[ObjectRef, Problem]


def tekton_world(store: Store, namespace: str, options: EvaluationOptions) -> RunNamespace:
    """Return the world of a namespace."""
    return _find_world(store, namespace, options)[0]


def refused_definitions(store: Store, namespace: str, options: EvaluationOptions) -> Refused:
    """Return the refused definitions: Tasks, Pipelines and StepActions of files that are not stored, so that no run
    finds them.
    """
    return _find_world(store, namespace, options)[1]


def revision_of(store: Store) -> tuple[int, ...]:
    """Return a number that changes with anything that runs may depend on."""
    return (*store.revision(*_deciding_kinds()), len(store.files))


def _deciding_kinds() -> tuple[str, ...]:
    return (*_KINDS, *_REFERRED, *extending_kinds())


def _find_world(store: Store, namespace: str, options: EvaluationOptions) -> tuple[RunNamespace, Refused]:
    return store.memo(("runs", namespace), _deciding_kinds(), options, lambda: _build_world(store, namespace, options))


def _build_world(store: Store, namespace: str, options: EvaluationOptions) -> tuple[RunNamespace, Refused]:
    stored_namespace = store.get("Namespace", namespace)
    bare = build_run_namespace(
        policies(store, namespace, options.server).policies,
        options.server,
        configuration(store, options),
        namespace=stored_namespace if isinstance(stored_namespace, Namespace) else None,
        accounts=_accounts(store, namespace),
    )
    refused = {
        ref: refusals[0]
        for ref, raw in store.written.items()
        if ref.kind in _REFERRED
        and ref.namespace == namespace
        and (refusals := send_object(raw, bare, exists=store.beneath.get(ref) is not None).refusals)
    }
    tasks, actions, pipelines = (_by_name(store, kind, namespace, refused) for kind in _REFERRED)
    return structs.replace(bare, lookups=Lookups(tasks, actions, pipelines, _partial(store, namespace))), refused


def _accounts(store: Store, namespace: str) -> Accounts:
    """Return the ServiceAccounts as far as they were read; in files alone nothing tells which there are."""
    names = frozenset(item.metadata.name for item in store.all("ServiceAccount", namespace))
    absent = {
        read.name
        for read, coverage in store.coverages().items()
        if read.kind == "ServiceAccount" and read.namespace == namespace and read.name and coverage.is_known
    }
    complete = store.covered(ReadRequest("ServiceAccount", namespace)).is_known
    return Accounts(names, frozenset(absent) - names, complete)


def _by_name(store: Store, kind: str, namespace: str, refused: Refused) -> Mapping[str, Any]:
    """Return the definitions by name; a refused one leaves the existing one in place."""
    result = {item.metadata.name: item for item in store.all(kind, namespace)}
    for ref in refused:
        if ref.kind == kind and (stored_object := store.beneath.get(ref)) is not None:
            result[ref.name] = stored_object
        elif ref.kind == kind:
            del result[ref.name]
    return result


def _partial(store: Store, namespace: str) -> Mapping[str, frozenset[str]]:
    """Return, for kinds that were not read in full, the names that were looked for and do not exist."""
    return {
        kind: frozenset(
            read.name
            for read, coverage in store.coverages().items()
            if (read.kind, read.namespace) == (kind, namespace) and read.name and coverage.is_known
        )
        for kind in _REFERRED
        if not store.covered(ReadRequest(kind, namespace)).is_known
    }


#: The code of what cannot be decoded, which comes before all else.
_UNDECODED = 400


def _no_namespace(store: Store, subject: Subject) -> Problem | None:
    """Return that the namespace of an object of a file does not exist, or is ending; None: it is there."""
    refusal = namespace_refusal(store, subject.ref, subject.kind.qualified_name) if subject.file else None
    if refusal is None:
        return None
    rule = refusal.findings[0].rule
    observed = refusal.findings[0].observed
    return Problem(
        "object", subject.ref.kind, refusal.message, rule, refusal.reason, code=refusal.code, observed=observed
    )


def stored_run(
    store: Store,
    subject: Subject,
    world: RunNamespace,
    run: type[RunType],
    template: type[Template],
    alone: Callable[[Template], RunType],
) -> tuple[RunType | None, tuple[Problem, ...]]:
    """Return the run as it is stored, or why a file's is not. ``alone``: what a template that nothing runs would be run
    as.

    Raises NotFound or Forbidden if the cluster's object cannot be had.
    """
    item: Any
    refusals: tuple[Problem, ...] = ()
    if subject.raw is not None:
        is_stored = store.read(subject.ref.kind, subject.ref.name, subject.ref.namespace) is not None
        item, refusals = (answer := send_object(subject.raw, world, exists=is_stored)).item, answer.refusals
        nowhere = _no_namespace(store, subject)
        if nowhere is not None and not any(refusal.code == _UNDECODED for refusal in refusals):
            return None, (nowhere,)
    else:
        item = store.get(subject.ref.kind, subject.ref.name, subject.ref.namespace)
        if item is None:
            raise missing_error(store, subject)
    if isinstance(item, template):
        return alone(item), refusals
    if not isinstance(item, run):
        return None, refusals
    # A file's object has a name that stands for a generated one.
    metadata = structs.replace(item.metadata, name=subject.ref.name, namespace=subject.ref.namespace)
    return structs.replace(item, metadata=metadata), refusals
