"""The next rollouts of a namespace: which of them do not complete, alone and beside others."""

from __future__ import annotations

import random

import pytest
from e2e.changing import limit_range as any_limit_range
from e2e.changing import quota as any_quota
from e2e.changing import workload as any_workload
from simulate.samples import limit_range, play, quota, workload

from kubectl_kres.admission.base.server import Server
from kubectl_kres.reports.changes import compare
from kubectl_kres.reports.changes.compare import compare_sides
from kubectl_kres.simulate.change import Apply, Delete, Patch, ScaleStep, Step, WaitForControllers
from kubectl_kres.simulate.cluster import ClusterStates
from kubectl_kres.simulate.moves import Kubelet, State
from kubectl_kres.simulate.next_rollout import StalledRollout, stalled_rollouts
from kubectl_kres.simulate.simulation import NamespaceSimulation
from kubectl_kres.simulate.state import DeploymentState, Key, StatefulSetState, World, pods_of
from kubectl_kres.simulate.system import controllers
from kubectl_kres.store.store import Origin, Store

RESTART = {"spec": {"template": {"metadata": {"annotations": {"restarted": "now"}}}}}


def surging(name: str, cpu: str = "500m", replicas: int = 4, surge: int = 1, down: int = 0) -> Step:
    rolling = {"rollingUpdate": {"maxSurge": surge, "maxUnavailable": down}}
    return Apply(workload("Deployment", name, cpu, replicas, strategy=rolling))


def stalled(at_once: int, *given: Step) -> dict[str, StalledRollout]:
    namespace, states, _ = play([], given=given)
    return {key[1]: item for key, item in stalled_rollouts(namespace, states[:1], at_once).items()}


@pytest.mark.parametrize(
    ("hard", "surge", "down", "updated"),
    [("2", 1, 0, 0), ("2500m", 1, 0, None), ("2", 0, 1, None), ("2", 1, 1, None), ("10", 4, 0, None)],
)
def test_a_rollout_alone(hard: str, surge: int, down: int, updated: int | None):
    result = stalled(1, Apply(quota(requests_cpu=hard)), surging("a", surge=surge, down=down))
    assert [(item.updated, item.wanted) for item in result.values()] == ([] if updated is None else [(updated, 4)])


def test_the_servers_words_are_told():
    result = stalled(1, Apply(quota(requests_cpu="2")), surging("a"))
    text = "exceeded quota: q, requested: requests.cpu=500m, used: requests.cpu=2, limited: requests.cpu=2"
    assert result["a"].tell() == (f'pods "a-*" is forbidden: {text}',)


def test_without_a_quota_every_rollout_completes():
    assert stalled(9, surging("a"), surging("b")) == {}


def test_rollouts_of_pods_of_one_size_wait_for_each_other_and_complete():
    """Who gets the room for its surge pod gives it back when it has ended."""
    given = [Apply(quota(requests_cpu="4500m")), surging("a"), surging("b")]
    assert stalled(1, *given) == {}
    assert stalled(2, *given) == {}


def grown(hard: str, **replicas: int) -> list[Step]:
    """Deployments of 100m a pod whose next pods have 200m, without surge."""
    rolling = {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}}
    small, big = (Apply(limit_range(defaultRequest={"cpu": cpu})) for cpu in ("100m", "200m"))
    workloads = [Apply(workload("Deployment", name, "", number, **rolling)) for name, number in replicas.items()]
    return [small, *workloads, big, Apply(quota(requests_cpu=hard))]


def test_two_at_once_take_each_others_room():
    assert stalled(1, *grown("600m", a=2, b=2)) == {}
    both = stalled(2, *grown("600m", a=2, b=2))
    assert {name: (item.updated, item.wanted, item.beside) for name, item in both.items()} == {
        "a": (0, 2, (("Deployment", "b"),)),
        "b": (0, 2, (("Deployment", "a"),)),
    }
    assert stalled(2, *grown("800m", a=2, b=2)) == {}
    assert stalled(3, *grown("800m", a=2, b=2, c=1)) != {}


def test_the_others_are_those_that_ask_for_most_of_what_is_short():
    result = stalled(2, *grown("1100m", a=2, b=1, c=4))
    assert {name: item.beside for name, item in result.items()} == {
        "a": (("Deployment", "c"),), "b": (("Deployment", "c"),), "c": (("Deployment", "a"),)
    }  # fmt: skip


def test_what_waits_for_room_takes_that_of_an_old_pod():
    given = [Apply(quota(requests_cpu="2")), surging("a", surge=0, down=1), Apply(workload("Deployment", "w", "500m"))]
    result = stalled(1, *given)
    assert list(result) == ["a"], "w has no pod, so nothing of it can be restarted"
    assert (result["a"].updated, result["a"].wanted) == (0, 4)


def test_bigger_next_pods_stall_a_rollout_that_gives_up_old_ones():
    template = workload("Deployment", "a", "", 3, strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}})
    given = [Apply(limit_range(defaultRequest={"cpu": "100m"})), Apply(template), Apply(quota(requests_cpu="400m"))]
    assert stalled(1, *given) == {}
    bigger = Apply(limit_range(defaultRequest={"cpu": "200m"}))
    assert [(item.updated, item.wanted) for item in stalled(1, *given, bigger).values()] == [(1, 3)]


def test_a_partition_bounds_what_has_to_come():
    rolling = {"updateStrategy": {"rollingUpdate": {"partition": 1}}}
    given = [Apply(quota(pods="3")), Apply(workload("StatefulSet", "s", "100m", 3, **rolling))]
    assert stalled(1, *given) == {}
    assert stalled(1, *given, Apply(quota(pods="2")))["s"].wanted == 2


def test_paused_and_on_delete_do_not_roll():
    given = [Apply(quota(pods="1")), Apply(workload("Deployment", "a", "1", 1, paused=True)),
             Apply(workload("StatefulSet", "s", "1", 1, updateStrategy={"type": "OnDelete"}))]  # fmt: skip
    assert stalled(1, *given, Apply(quota(pods="0")), Delete("Deployment", "none")) == {}


def _brute(namespace: NamespaceSimulation, state: State, key: Key, of: int) -> bool:
    """Whether a restart, sent to the API server as any other change, does not complete in one of its ends."""
    ends = namespace.after([state], [Patch(*key, RESTART)], Kubelet(), between=False).states
    found = [end for each in ends for end in namespace.describe_final_state(each).workloads if end.key == key]
    return any((end.updated or 0) < of for end in found)


@pytest.mark.parametrize("seed", range(120))
def test_alone_as_if_it_were_restarted(seed: int):
    rng = random.Random(seed)
    given = [any_quota(rng), *([any_limit_range(rng)] if rng.random() < 0.3 else [])]
    given += [any_workload(rng, name) for name in "abcd"[: rng.randint(1, 4)]]
    given += [any_limit_range(rng)] if rng.random() < 0.4 else []
    given += [any_quota(rng)] if rng.random() < 0.3 else []
    namespace, states, _ = play([ScaleStep("Deployment", "none", 1)], given=[Apply(item) for item in given])
    state = states[0]
    found = stalled_rollouts(namespace, [state], 1)
    for key, item in state.workloads:
        rolls = isinstance(item, DeploymentState | StatefulSetState) and 0 < item.replicas <= pods_of(item)
        world = namespace.tables.worlds[state.world]
        shapes = [namespace.tables.shapes[number] for number in namespace.tables.options(item.template, world)]
        stated = all(state.limits[number] is None for shape in shapes for number in shape.unstated)
        if rolls and stated and not namespace.tables.refusals(item.template, world):
            assert (key in found) == _brute(namespace, state, key, item.replicas)


@pytest.mark.parametrize("seed", range(200))
def test_what_is_not_asked_would_say_nothing(seed: int, monkeypatch: pytest.MonkeyPatch):
    """Rollouts are asked about only where the two sides can differ: the answer is that of asking about all."""
    rng = random.Random(seed)
    given = [any_quota(rng), *(any_workload(rng, name) for name in "abcd"[: rng.randint(2, 4)])]
    step = Apply(rng.choice((any_quota, any_limit_range))(rng))
    namespace = NamespaceSimulation(Server(), World.from_objects(()), [*map(Apply, given), step])
    settled = [each for item in given for each in (Apply(item), WaitForControllers())]
    rest = namespace.after([namespace.empty(World.from_objects(()))], settled, Kubelet(), between=False)
    ends = namespace.after(rest.states[: rest.usual], [step], Kubelet(), between=False)
    empty = Store(Origin("files"))
    worlds = {system: each.build(empty, {}) for system, each in controllers().items()}
    sides = [ClusterStates({"space": (namespace, each)}, worlds) for each in (rest, ends)]
    report = compare_sides(*sides)
    monkeypatch.setattr(
        compare.next_rollout, "circumstances", lambda _, state, keys: ((key, id(state)) for key in keys)
    )
    assert compare_sides(*sides) == report
