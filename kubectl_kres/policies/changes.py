"""What the other admission plugins register with the reports of changes: what is read for policies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.model.admission_objects import AdmissionPolicy
from kubectl_kres.model.objects import decode_object
from kubectl_kres.policies.reports.needs import deciding_needs, parameter_needs
from kubectl_kres.reports.changes.system import ChangeSystem
from kubectl_kres.simulate.change import Apply, Step, key_of_step
from kubectl_kres.simulate.live import raw_of
from kubectl_kres.simulate.plugins import POLICIES, parameters_of
from kubectl_kres.store.parameters import parameter_need
from kubectl_kres.store.store import ReadRequest, Store


def _reads(store: Store, spaces: Sequence[str], steps: Sequence[tuple[Step, str]]) -> Iterator[ReadRequest]:
    """Yield labels of namespaces, policies where something binds them, and parameters; steps may bring some."""
    for read in deciding_needs(store):
        if read.kind in POLICIES:
            yield read
    if store.origin.kind != "cluster":
        return
    given = [step.object for step, _ in steps if isinstance(step, Apply) and step.object.get("kind") in POLICIES]
    more = [decode_object(raw, AdmissionPolicy) for raw in given]
    for space in filter(None, dict.fromkeys([*spaces, *(space for _, space in steps)])):
        yield ReadRequest("Namespace", name=space, required=False)
        yield from parameter_needs(store, space, more)
    parameters = parameters_of([*(raw_of(item) for kind in POLICIES for item in store.all(kind)), *given])
    for step, space in steps:
        if parameters.is_parameter_step(step):
            kind, name = key_of_step(step)
            yield parameter_need(parameters.versions[kind], kind, space, {"name": name})


SYSTEM = ChangeSystem("policies", reads=_reads)
