"""The remedies where admission refuses nothing: a container was killed, or throttled, or the run is held back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.remedy import Remedy, SetBound
from kubectl_kres.reports.remedies.commands import patch_command
from kubectl_kres.reports.remedies.engine import State
from kubectl_kres.reports.run_state.scheduling import kueue_queue
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.model import PipelineRun, TaskRun
from kubectl_kres.tekton.reports.part import KilledContainer, TektonPart
from kubectl_kres.tekton.reports.remedies.container_defaults import entry_states
from kubectl_kres.tekton.reports.remedies.run_trials import ConfigEntry, RunSearch
from kubectl_kres.tekton.reports.remedies.run_values import RunCase
from kubectl_kres.tekton.reports.remedy import for_new_run

#: What Tekton 1.13.0 requests, without its limit of cpu.
_REQUESTS = (("requests", "cpu", "10m"), ("requests", "memory", "32Mi"))


def admitted_remedies(store: Store, subject: Subject, part: TektonPart, case: RunCase) -> Iterator[Remedy]:
    """Yield the remedies with which an admitted run also ends well; none where nothing is wrong."""
    if part.held_by:
        run = store.get(subject.ref.kind, subject.ref.name, subject.ref.namespace)
        yield release_remedy(store, subject.ref, part.held_by, run, stored=subject.raw is None)
        return
    for killed in (killed for killed in part.killed if killed.again):
        if killed.added:
            yield from _KilledSearch(store, subject, case, killed, again=part.has_ended).remedies()
            continue
        above = f" above {killed.limit}" if killed.limit else ""
        field_text = f" ({killed.source.ref} {killed.source.field})" if killed.source is not None else ""
        text = f"raise limits.memory of {killed.name}{above}{field_text}"
        yield Remedy(for_new_run(text, again=part.has_ended))
    if part.throttled and not part.has_ended:
        yield from _ThrottledSearch(store, subject, case, part.throttled).remedies()


def release_remedy(
    store: Store, ref: ObjectRef, value: str, run: TaskRun | PipelineRun | None, *, stored: bool
) -> Remedy:
    """Return the edit that releases a run that is held back; of one with a queue that it is not to be made by hand.

    ``run``: as it is; None: it is not known. ``stored``: it is in the cluster.
    """
    queue = kueue_queue(run.metadata.labels) if run is not None else ""
    if queue:
        text = f"queue {queue} takes spec.status ({value}) out in its turn; where that is done by hand, the run is over"
        return Remedy(text)
    command = patch_command(store.origin, ref, [{"op": "remove", "path": "/spec/status"}], "json")
    text = f"take spec.status ({value}) out once it may run; where a queue wrote it, that does so in its turn"
    return Remedy(text, commands=(command,) if stored else ())


class _KilledSearch(RunSearch):
    """More memory for a container that Tekton adds: in config-defaults, or at the source of its limit."""

    def __init__(self, store: Store, subject: Subject, case: RunCase, killed: KilledContainer, *, again: bool) -> None:
        super().__init__(store, subject, case, again=again)
        self.killed = killed

    def states(self) -> Iterator[State]:
        """Yield the entry of the container, then the default of a LimitRange."""
        limit, source = self.killed.limit and parse(self.killed.limit), self.killed.source
        least = limit.nano * 2 if limit else 0
        yield self.find_first_passing(entry_states(self.case, {"memory"}, {self.killed.name}, least)) or {}
        if limit and source is not None and source.kind == "LimitRange":
            amount = max(Quantity(least, "BinarySI"), parse("128Mi"))
            ref = ObjectRef("LimitRange", source.name, self.namespace)
            edit = SetBound(ref, source.field, "memory", str(amount), self.killed.limit, "default", "Container")
            yield {(ref, source.field): edit}


class _ThrottledSearch(RunSearch):
    """Requests without a limit of cpu for containers that Tekton adds."""

    def __init__(self, store: Store, subject: Subject, case: RunCase, names: Iterable[str]) -> None:
        super().__init__(store, subject, case, again=False)
        self.names = names

    def states(self) -> Iterator[State]:
        """Yield the entries of all of them."""
        yield {ConfigEntry(name): _REQUESTS for name in self.names}
