"""What the vertical autoscaler registers with the reports of changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.reports.changes.given_steps import GivenStep
from kubectl_kres.reports.changes.system import ChangeSystem
from kubectl_kres.reports.common.system import AboutPolicies
from kubectl_kres.simulate.change import Apply, Evict, Step, key_of_step
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.vpa.model import BUDGET, KIND, WEBHOOK
from kubectl_kres.vpa.registration import is_registered
from kubectl_kres.vpa.reports import reads as autoscaler_reads
from kubectl_kres.vpa.reports.updater_run import eviction_of


def _remarks(steps: Sequence[GivenStep], store: Store, default: str) -> Iterator[str]:
    """Yield what is said of vertical autoscalers of a change: where their values come from, or why none come."""
    for item in steps:
        kind, name = key_of_step(item.step)
        if kind != KIND or not isinstance(item.step, Apply):
            continue
        stored = store.get(kind, name, item.namespace or default)
        if item.step.object.get("status"):
            yield f"{kind} {name}: the status of the file is taken for what its recommender comes to"
        elif stored is None or stored.status.recommendation is None:
            yield f"{kind} {name} has no recommendation yet: pods come as their template says"
        if is_registered(store) is False:
            yield f"{kind} {name}: webhook {WEBHOOK} is not registered, so that pods come without what it recommends"


def _reads(store: Store, spaces: Sequence[str], steps: Sequence[tuple[Step, str]]) -> Iterator[ReadRequest]:
    """Yield the reads of vertical autoscalers, where their webhook is registered or a step is about one; all at once
    where all else was.
    """
    is_meant = any(key_of_step(step)[0] == KIND for step, _ in steps)
    evicts = any(isinstance(step, Evict) for step, _ in steps)
    all_at_once = any(not read.namespace for read in store.reads_of_kind("LimitRange"))
    for space in [""] if all_at_once else filter(None, dict.fromkeys(spaces)):
        yield from autoscaler_reads(store, AboutPolicies(space)) or ()
        if is_meant and store.origin.kind == "cluster":
            yield ReadRequest(KIND, space, required=False)
        if evicts and store.origin.kind == "cluster":
            yield ReadRequest(BUDGET, space, required=False)


SYSTEM = ChangeSystem(
    "vpa", applied_before={KIND: "Pod"}, remarks=_remarks, reads=_reads, essential=(KIND,), step_part=eviction_of
)
