"""A refusal stands until something that it depends on has changed since: worlds in which one thing is not seen."""

from __future__ import annotations

import copy
import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from msgspec import structs
from reports.stored import advised, event, made, owned_by, store_of, subject, template

from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.verdict.note import note_text
from kubectl_kres.reports.common.explanation import EvaluationOptions, Explanation, HiddenQuota, Injection
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.explain.summary import Outlines
from kubectl_kres.reports.pod.verdict import is_negative

BEFORE, REFUSED, AFTER = "2026-11-01T10:00:00Z", "2026-11-01T11:00:00Z", "2026-11-01T11:30:00Z"
NOW = "2026-11-01T12:00:00Z"
NAMES = ("limits.cpu", "requests.cpu", "limits.memory", "requests.memory")
Raw = dict[str, Any]


class World(NamedTuple):
    """Objects with a workload whose pods were refused by something that is not among them; ``mended``: what else there
    is once it was changed after the refusal, by name of the object that replaces one or comes to them.
    """

    kind: str
    objects: list[Raw]
    message: str
    mended: list[Raw] | None = None


def dated(raw: Raw, time: str) -> Raw:
    return {**raw, "metadata": {**raw["metadata"], "creationTimestamp": time}}


def quota(name: str, hard: Raw, used: Raw, time: str = BEFORE, **spec: Any) -> Raw:
    return dated(made("ResourceQuota", name, spec={"hard": hard, **spec}, status={"hard": hard, "used": used}), time)


def container(draw: random.Random, name: str = "app") -> Raw:
    cpu, memory = draw.randint(1, 4), draw.randint(1, 8)
    amounts = {"cpu": str(cpu), "memory": f"{memory}Gi"}
    return {"name": name, "image": "x", "resources": {"requests": amounts, "limits": amounts}}


def workload(draw: random.Random, app: Raw) -> tuple[str, list[Raw]]:
    """A workload without pods and who makes them."""
    kind = draw.choice(("Deployment", "StatefulSet", "DaemonSet", "Job", "ReplicaSet"))
    replicas = draw.randint(1, 5)
    spec: Raw = {**template(app)}
    status: Raw = {"observedGeneration": 1}
    if kind == "Job":
        spec |= {"parallelism": replicas, "completions": replicas}
    elif kind == "DaemonSet":
        status |= {"desiredNumberScheduled": replicas}
    else:
        spec["replicas"] = replicas
    item = dated(made(kind, "web", spec=spec, status=status, generation=1), BEFORE)
    if kind != "Deployment":
        return kind, [item]
    revision = {"deployment.kubernetes.io/revision": "1"}
    replica_set = made(
        "ReplicaSet", "web-1", spec={"replicas": replicas, **template(app)}, annotations=revision,
        **owned_by("Deployment", "web"),
    )  # fmt: skip
    return kind, [item, dated(replica_set, BEFORE)]


def refusal_of(quota_name: str, name: str, requested: str, used: str, limited: str) -> str:
    amounts = f"requested: {name}={requested}, used: {name}={used}, limited: {name}={limited}"
    return f'pods "web-1-x" is forbidden: exceeded quota: {quota_name}, {amounts}'


def hidden_quota(draw: random.Random, kind: str, objects: list[Raw], app: Raw) -> World:
    name = draw.choice(NAMES)
    message = refusal_of("team", name, *("1", "4", "4") if "cpu" in name else ("1Gi", "4Gi", "4Gi"))
    other = [quota("other", {"pods": "90"}, {"pods": "1"})] if draw.random() < 0.5 else []
    return World(kind, [*objects, *other], message)


def injected_amount(draw: random.Random, kind: str, objects: list[Raw], app: Raw) -> World:
    cpu = int(app["resources"]["limits"]["cpu"])
    used, more = draw.randint(0, 3), draw.randint(1, 3)
    hard = used + cpu + more - 1
    message = refusal_of("team", "limits.cpu", str(cpu + more), str(used), str(hard))
    full = quota("team", {"limits.cpu": str(hard)}, {"limits.cpu": str(used)})
    raised = quota("team", {"limits.cpu": str(hard + 5 * (cpu + more))}, {"limits.cpu": str(used)})
    return World(kind, [*objects, full], message, [*objects, raised])


def injected_without_values(draw: random.Random, kind: str, objects: list[Raw], app: Raw) -> World:
    name = draw.choice(NAMES[:2])
    message = f'pods "web-1-x" is forbidden: failed quota: team: must specify {name} for: proxy,proxy-init'
    demands = quota("team", {name: "90"}, {name: "0"})
    filled = dated(made("LimitRange", "fill", spec={"limits": [{"type": "Container", "default": {"cpu": "1"}}]}), AFTER)
    return World(kind, [*objects, demands], message, [*objects, demands, filled])


def limited_scope(draw: random.Random, kind: str, objects: list[Raw], app: Raw) -> World:
    message = "insufficient quota to match these scopes: [{PriorityClass Exists []}]"
    objects = copy.deepcopy(objects)
    for item in objects:
        item["spec"]["template"]["spec"]["priorityClassName"] = "gold"
    classes = dated({**made("PriorityClass", "gold"), "value": 5}, BEFORE)
    covering = quota("gold", {"pods": "90"}, {"pods": "0"}, AFTER, scopes=["PriorityClass"])
    return World(kind, [*objects, classes], message, [*objects, classes, covering])


def limited_resource(draw: random.Random, kind: str, objects: list[Raw], app: Raw) -> World:
    message = 'pods "web-1-x" is forbidden: insufficient quota to consume: requests.cpu'
    covering = quota("cpu", {"requests.cpu": "90"}, {"requests.cpu": "0"}, AFTER)
    return World(kind, objects, message, [*objects, covering])


def injected_bound(draw: random.Random, kind: str, objects: list[Raw], app: Raw) -> World:
    message = 'pods "web-1-x" is forbidden: maximum cpu usage per Container is 8, but limit is 9'
    bound = [{"type": "Container", "max": {"cpu": "8"}}]
    there = dated(made("LimitRange", "bounds", spec={"limits": bound}), BEFORE)
    raised = [{"type": "Container", "max": {"cpu": "12"}}]
    return World(
        kind, [*objects, there], message,
        [*objects, dated(made("LimitRange", "bounds", spec={"limits": raised}), BEFORE)],
    )  # fmt: skip


def webhook(draw: random.Random, kind: str, objects: list[Raw], app: Raw) -> World:
    message = 'admission webhook "gate.example.org" denied the request: no'
    there = {**made("ValidatingWebhookConfiguration", "gate"), "webhooks": [{"name": "gate.example.org"}]}
    return World(kind, [*objects, there], message, objects)


def unknown(draw: random.Random, kind: str, objects: list[Raw], app: Raw) -> World:
    return World(kind, objects, draw.choice(("Internal error occurred: no", "etcdserver: request timed out")))


WORLDS: tuple[Callable[..., World], ...] = (
    hidden_quota, injected_amount, injected_without_values, limited_scope, limited_resource, injected_bound, webhook,
    unknown,
)  # fmt: skip


def generated(first: int, count: int) -> Iterator[World]:
    for seed, make in zip(range(first, first + count), itertools.cycle(WORLDS), strict=False):
        draw = random.Random(seed)
        app = container(draw)
        kind, objects = workload(draw, app)
        yield make(draw, kind, objects, app)


def answered(kind: str, objects: list[Raw], message: str) -> Explanation:
    """What a list says of it is the same."""
    about = "ReplicaSet/web-1" if kind == "Deployment" else f"{kind}/web"
    failed = event(about, "FailedCreate", f"Error creating: {message}", lastTimestamp=REFUSED, count=5)
    store, options = store_of(*objects, failed), EvaluationOptions(now=NOW)
    found = explain(store, subject(f"{kind}/web"), options)
    assert Outlines(store, options).outline(subject(f"{kind}/web")).verdict.outcome == found.verdict.outcome
    return found


@pytest.mark.one_in(20)
@pytest.mark.parametrize("first", range(0, 10_000, 500))
def test_a_refusal_by_what_is_not_seen_stands(first: int):
    for world in generated(first, 500):
        found = answered(world.kind, world.objects, world.message)
        assert is_negative(found.verdict), world
        assert not found.verdict.changed
        blocked = found.verdict.blocked
        assert blocked is not None
        assert blocked.message == world.message.removeprefix("Error creating: ")
        assert (blocked.times, blocked.last) == (5, REFUSED)
        [first, *_] = advised(found)
        assert not first.startswith(("wait", "nothing to change")), world


@pytest.mark.one_in(10)
@pytest.mark.parametrize("first", range(0, 2_000, 200))
def test_a_change_after_the_refusal_ends_it(first: int):
    for world in generated(first, 200):
        if world.mended is None:
            continue
        found = answered(world.kind, world.mended, world.message)
        assert not is_negative(found.verdict), (world, found.verdict)
        assert found.verdict.changed
        assert note_text(found.note).startswith("wait: ")


@pytest.mark.parametrize("make", WORLDS, ids=lambda make: make.__name__)
def test_a_workload_made_after_the_refusal_is_another_one(make: Callable[..., World]):
    draw = random.Random(1)
    app = container(draw)
    kind, objects = workload(draw, app)
    world = make(draw, kind, [dated(item, AFTER) for item in objects], app)
    found = answered(kind, world.objects, world.message)
    if make in {hidden_quota, webhook}:
        # What refuses is still there, or nothing says that it is not.
        return
    assert found.verdict.blocked is None or make is injected_amount


def test_the_cause_is_told():
    draw = random.Random(2)
    app = container(draw)
    kind, objects = workload(draw, app)
    causes = {}
    for make in WORLDS:
        world = make(draw, kind, objects, app)
        blocked = answered(kind, world.objects, world.message).verdict.blocked
        assert blocked is not None
        causes[make] = blocked.cause
    assert isinstance(causes[hidden_quota], HiddenQuota)
    amounts = causes[injected_amount]
    assert isinstance(amounts, Injection)
    assert amounts.computed == {"limits.cpu": app["resources"]["limits"]["cpu"]}
    values = causes[injected_without_values]
    assert isinstance(values, Injection)
    assert values.containers == ("proxy", "proxy-init")
    assert causes[unknown] is None


def test_what_pods_of_an_earlier_template_were_given_the_next_one_gets():
    """The refusal names three cores, the template one: the pods of the template before have a proxy of two."""
    app = {"name": "app", "image": "x", "resources": {"limits": {"cpu": "1"}}}
    proxy = {"name": "proxy", "image": "p", "resources": {"limits": {"cpu": "2"}}}
    old = made(
        "ReplicaSet", "web-0", spec=template(app), annotations={"deployment.kubernetes.io/revision": "1"},
        **owned_by("Deployment", "web"),
    )  # fmt: skip
    new = made(
        "ReplicaSet", "web-1", spec=template(app), annotations={"deployment.kubernetes.io/revision": "2"},
        **owned_by("Deployment", "web"),
    )  # fmt: skip
    pod = dated(made("Pod", "web-0-a", spec={"containers": [app, proxy]}, **owned_by("ReplicaSet", "web-0")), BEFORE)
    deployment = made(
        "Deployment", "web", spec={"replicas": 1, **template(app)}, status={"replicas": 1, "observedGeneration": 1}
    )
    team = quota("team", {"limits.cpu": "5"}, {"limits.cpu": "3"})
    found = answered(
        "Deployment", [deployment, old, new, pod, team], refusal_of("team", "limits.cpu", "3", "3", "5")
    )  # fmt: skip
    assert found.verdict.allowed is False
    [value] = [
        value
        for container in found.containers
        if container.name == "proxy"
        for value in container.values
        if value.side == "limits"
    ]
    assert (value.value, value.rule) == ("2", "seen/added-on-create")


def test_a_quota_of_several_namespaces_is_read_and_its_users_are_named():
    draw = random.Random(3)
    app = container(draw)
    kind, objects = workload(draw, app)
    total = {"hard": {"limits.cpu": "4"}, "used": {"limits.cpu": "4"}}
    shared = made(
        "ClusterResourceQuota", "team",
        status={"total": total, "namespaces": [{"namespace": "lab", "status": {"used": {"limits.cpu": "3"}}}]},
    )  # fmt: skip
    found = answered(kind, [*objects, shared], refusal_of("team", "limits.cpu", "1", "4", "4"))
    blocked = found.verdict.blocked
    assert blocked is not None
    assert isinstance(blocked.cause, HiddenQuota)
    assert (sentence_text(blocked.by), blocked.cause.users) == (
        "ClusterResourceQuota team",
        {"lab": {"limits.cpu": "3"}},
    )
    [fix] = found.fixes
    assert fix.commands[0].startswith("kubectl patch clusterresourcequota team --type merge")
    assert sentence_text(fix.text).endswith(", or free some in lab (limits.cpu 3)")
    free = {"hard": {"limits.cpu": "40"}, "used": {"limits.cpu": "4"}}
    raised = {**shared, "status": {**shared["status"], "total": free}}
    later = answered(kind, [*objects, raised], refusal_of("team", "limits.cpu", "1", "4", "4"))
    assert note_text(later.note).startswith("wait: limits.cpu of ClusterResourceQuota/team went from 4 to 40")


@pytest.mark.parametrize(
    ("version", "covered", "said"),
    [("v1.33.1-gke.100", False, True), ("v1.33.1-gke.100", True, False), ("v1.33.1", False, False)],
)
def test_what_gke_limits_is_said_before_it_refuses(version: str, covered: bool, said: bool):
    draw = random.Random(4)
    world = limited_scope(draw, *workload(draw, container(draw)), container(draw))
    objects = copy.deepcopy(world.objects)
    for item in objects:
        if "template" in item.get("spec", {}):
            item["spec"]["template"]["spec"]["priorityClassName"] = "system-node-critical"
    critical = dated({**made("PriorityClass", "system-node-critical"), "value": 5}, BEFORE)
    quotas = [quota("critical", {"pods": "90"}, {"pods": "0"}, scopes=["PriorityClass"])] if covered else []
    store = store_of(*objects, critical, *quotas)
    store.origin = structs.replace(store.origin, version=version)
    found = explain(store, subject(f"{world.kind}/web"), EvaluationOptions(now=NOW))
    assert any(sentence_text(item.text).startswith("GKE admits pods of") for item in found.assumptions) is said
