"""The simulation of changes in one namespace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import ValidationError

from kubectl_kres.admission.base.server import Server
from kubectl_kres.model.objects import Raw, ResourceQuota, decode_object
from kubectl_kres.model.ordinals import Names
from kubectl_kres.policies.rules.policy import Look, no_parameters
from kubectl_kres.simulate.change import Apply, Delete, Step, apply_step, key_of_step
from kubectl_kres.simulate.explore import MOST_STATES, Explorer, FinalStates
from kubectl_kres.simulate.final_states import FinalState, StateReader
from kubectl_kres.simulate.moves import Controllers, Kubelet, State
from kubectl_kres.simulate.plugins import POLICIES
from kubectl_kres.simulate.requests import Requests
from kubectl_kres.simulate.state import Key, Workloads, World
from kubectl_kres.simulate.tables import EvaluatedPods, Tables


class NamespaceSimulation:
    """A namespace in which steps are simulated one after the other."""

    def __init__(
        self,
        server: Server,
        world: World,
        steps: Iterable[Step] = (),
        evaluated: EvaluatedPods | None = None,
        look: Look = no_parameters,
    ) -> None:
        """``steps``: everything that will be carried out: quotas that it brings are counted from the beginning.

        ``evaluated``: what was found in other namespaces of the same server. ``look``: where parameters of policies
        are.
        """
        steps = tuple(steps)
        quotas = [*world.quotas, *_quotas(steps, world)]
        #: What steps delete, by name: of what controllers made only this is reported apart from others like it.
        self.deleted = {key_of_step(step) for step in steps if isinstance(step, Delete)}
        self.tables = Tables(server, quotas, evaluated, look)
        kinds = {key[0] for key in (*world.objects, *map(key_of_step, steps))}
        self.tables.reviews = not kinds.isdisjoint(POLICIES)
        self.requests = Requests(self.tables)
        self.reader = StateReader(self.requests)
        #: Shapes of the pods that belong to something which no controller here acts on.
        self.others: dict[Key, list[int]] = {}
        self._controllers: dict[Kubelet, Controllers] = {}

    def empty(self, world: World) -> State:
        """Return the state of a world in which no controller has made anything yet."""
        size = len(self.tables.measures.items)
        state = State(self.tables.world(world), 0, (0,) * size, (None,) * size, Workloads.from_items(), Names.of())
        for raw in world.objects.values():
            state = state.with_charge(self.tables.object_cost(raw, world))
        return state

    def after(
        self,
        starts: Sequence[State],
        steps: Sequence[Step],
        kubelet: Kubelet,
        *,
        between: bool,
        maximum: int = MOST_STATES,
        is_drawn: bool = True,
    ) -> FinalStates:
        """Return every state in which controllers come to rest after the steps. For the arguments see ``Explorer``."""
        fresh = [state._replace(step=0, answers=()) for state in starts]
        self.requests.begin(ready=kubelet.ready)
        explorer = Explorer(self.requests, self.controllers(kubelet), steps, maximum)
        return explorer.final_states(fresh, between=between, is_drawn=is_drawn)

    def controllers(self, kubelet: Kubelet) -> Controllers:
        """Return the controllers of the namespace over pods that fare like this."""
        if kubelet not in self._controllers:
            self._controllers[kubelet] = Controllers(self.tables, kubelet)
        return self._controllers[kubelet]

    def describe_final_state(self, state: State) -> FinalState:
        """Return the description of a state at rest."""
        return self.reader.describe_final_state(state)


def _quotas(steps: Iterable[Step], world: World) -> Iterable[ResourceQuota]:
    """Return every form that a quota takes on the way, so that all its amounts are numbered."""
    result: dict[tuple[str, str], Raw | None] = dict(world.objects)
    for step in steps:
        key = key_of_step(step)
        if key[0] != "ResourceQuota":
            continue
        stored = result.get(key)
        if stored is None and not isinstance(step, Apply):
            continue
        raw = apply_step(step, stored)
        result[key] = raw
        try:
            yield decode_object(raw, ResourceQuota)
        except ValidationError:  # the server will say what is wrong with it
            continue
