"""What is found once for pods that differ in their names is what each of them gets by itself."""

from __future__ import annotations

from itertools import product

from kubectl_kres.admission.base.server import Server
from kubectl_kres.simulate.state import World
from kubectl_kres.simulate.tables import EvaluatedPods, Tables

_SIDES = [{}, {"limits": {"cpu": "500m"}}, {"requests": {"memory": "1Gi"}}, {"limits": {"cpu": "3"}}]
_LIMITS = [
    [],
    [{"type": "Container", "default": {"cpu": "1"}, "defaultRequest": {"cpu": "100m"}}],
    [{"type": "Container", "max": {"cpu": "2"}}],
]


def _worlds():
    for number, limits in enumerate(_LIMITS):
        name = {"name": f"of-{number}"}
        own = {"apiVersion": "v1", "kind": "LimitRange", "metadata": name, "spec": {"limits": limits}}
        yield World.from_objects([{"kind": "Namespace", "metadata": {"name": "a"}}, *([own] if limits else [])])


def _deployment(name, main, side):
    containers = [{"name": f"{name}-main", "resources": main}, {"name": f"side-of-{name}", "resources": side}]
    spec = {"template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": containers}}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


def _answer(tables, raw, world):
    template = tables.template_of(raw)
    shapes = [tables.shapes[number].stored for number in tables.options(template, world)]
    return shapes, [outcome.message for outcome in tables.refusals(template, world)]


def test_what_is_alike_is_answered_as_each_by_itself():
    judged = EvaluatedPods()
    for world, name, main, side in product(_worlds(), ("web", "api"), _SIDES, _SIDES):
        raw = _deployment(name, main, side)
        found = _answer(Tables(Server(), (), judged), raw, world)
        assert found == _answer(Tables(Server()), raw, world)
        assert found[0] or found[1]


def test_the_second_of_two_that_are_alike_is_not_asked_for(monkeypatch):
    world, judged = next(_worlds()), EvaluatedPods()
    _answer(Tables(Server(), (), judged), _deployment("web", {}, {}), world)
    monkeypatch.setattr(Tables, "_outcomes", None)
    shapes, _ = _answer(Tables(Server(), (), judged), _deployment("api", {}, {}), world)
    assert [one["name"] for one in shapes[0]["containers"]] == ["api-main", "side-of-api"]


def test_the_second_of_two_that_are_refused_alike_is_refused_under_its_own_name(monkeypatch):
    *_, world = _worlds()
    main, judged = {"limits": {"cpu": "3"}}, EvaluatedPods()
    first = _deployment("web", main, {})
    second = _deployment("api", main, {})
    expected = [_answer(Tables(Server()), raw, world) for raw in (first, second)]
    assert expected[0] != expected[1]
    assert _answer(Tables(Server(), (), judged), first, world) == expected[0]
    monkeypatch.setattr(Tables, "_outcomes", None)
    assert _answer(Tables(Server(), (), judged), second, world) == expected[1]
