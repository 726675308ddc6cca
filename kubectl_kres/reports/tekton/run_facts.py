"""What the cluster says of a TaskRun, and what was supposed about Tekton."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.model.meta import Condition
from kubectl_kres.model.tekton import PipelineRun, TaskRun
from kubectl_kres.provenance.journal import Assume, Journal, Source
from kubectl_kres.reports.common.explanation import Fact
from kubectl_kres.reports.common.subject import Ask
from kubectl_kres.reports.tekton.config import remarks
from kubectl_kres.reports.tekton.world import refused_definitions, tekton_world
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store

#: Reads whose failure the assumptions tell.
SETTLING = frozenset({"ConfigMap", "CustomResourceDefinition", "Namespace"})


def run_facts(run: TaskRun | PipelineRun) -> Iterator[Fact]:
    """The condition of a run that has not succeeded, then those of its earlier tries."""
    kind = "TaskRun" if isinstance(run, TaskRun) else "PipelineRun"
    source = Source(kind, run.metadata.name, run.metadata.namespace, "status.conditions[Succeeded]")
    yield from _of(run.status.conditions, source)
    tries = (run.status.retries_status or ()) if isinstance(run, TaskRun) else ()
    for index, one in enumerate(tries):
        yield from _of(one.conditions, source.at(f"status.retriesStatus[{index}]"))


def _of(conditions: tuple[Condition, ...] | None, source: Source) -> Iterator[Fact]:
    for one in conditions or ():
        if one.type == "Succeeded" and one.status != "True":
            text = one.message or f"Succeeded is {one.status}"
            yield Fact(one.reason or one.type, text, source, one.last_transition_time or "")


def tekton_remarks(store: Store, namespace: str, ask: Ask, journal: Journal) -> tuple[Assume, ...]:
    """How Tekton is configured where that is not known, what of the run was not, what the namespace enforces."""
    config = tekton_world(store, namespace, ask).config
    own = tuple(one for one in journal if isinstance(one, Assume) and one.code.startswith("tekton/"))
    lost = tuple(
        Assume(ref.kind, "policy/refused", f"{ref} is left out: the server does not store it: {one.text}")
        for ref, one in refused_definitions(store, namespace, ask).items()
    )
    found = tuple({one.text: one for one in (*remarks(store, config), *lost, *own)}.values())
    if store.covered(Need("Namespace", name=namespace)).known or store.get("Namespace", namespace) is not None:
        return found
    text = f"Namespace {namespace} was not read: whether it enforces Pod Security is not known"
    return (*found, Assume("", "tekton/pod-security-unknown", text))
