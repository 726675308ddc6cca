"""What the vertical autoscaler registers with simulations: its webhook on new pods, and passes of its updater."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kubectl_kres.admission.request.new_pod import PodWebhook, Policies
from kubectl_kres.model.objects import Raw
from kubectl_kres.simulate.live import raw_of
from kubectl_kres.simulate.moves import State
from kubectl_kres.simulate.state import World
from kubectl_kres.simulate.system import PodWriter, SimulatedSystem
from kubectl_kres.simulate.tables import Tables
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.vpa.model import BUDGET, CONFIGURATION, HOOKS, KIND, WEBHOOK


def _objects(store: Store, namespace: str) -> Iterator[Raw]:
    """Yield how the webhook is registered, as far as it is or may be, the autoscalers of a namespace, and budgets.

    Also where there is no autoscaler yet: a step can bring one.
    """
    registered = [
        raw_of(item) for item in store.all(HOOKS) if any(hook.name == WEBHOOK for hook in item.webhooks or ())
    ]
    if not registered and (store.origin.kind == "files" or not store.covered(ReadRequest(HOOKS)).is_known):
        hook = {"name": WEBHOOK, "failurePolicy": "Ignore"}
        registered = [{"kind": HOOKS, "metadata": {"name": CONFIGURATION}, "webhooks": [hook]}]
    yield from registered
    for kind in (KIND, BUDGET):
        yield from (raw_of(item) for item in store.all(kind, namespace))


# Few worlds have an autoscaler: what acts for it is loaded with the first.
def _webhooks(world: World) -> tuple[PodWebhook, ...]:
    from kubectl_kres.vpa.simulation.pod_webhooks import pod_webhooks

    return pod_webhooks(world.of_kind(KIND), world.of_kind(HOOKS), (world.of_kind("Namespace") or [{}])[0])


def _evict(tables: Tables, look_up: Callable[[State], Policies], state: State, autoscaler: Raw) -> tuple[State, Any]:
    from kubectl_kres.vpa.simulation.updater_pass import updater_pass

    return updater_pass(tables, look_up, state, autoscaler)


SYSTEM = SimulatedSystem("vpa", writer=PodWriter(KIND, _objects, _webhooks, _evict))
