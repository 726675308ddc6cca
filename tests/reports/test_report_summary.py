"""Lines of lists: pods share one only where both what was sent and what lives are the same."""

from __future__ import annotations

from reports.outlined import outline_of, shown
from reports.stored import limits, made, owned_by, store_of, subject, template

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.explain.summary import Outline, Outlines
from kubectl_kres.store.store import Store


def container(cpu: str) -> dict:
    sides = {"cpu": cpu, "memory": "1Gi"}
    return {"name": "app", "resources": {"requests": sides, "limits": sides}}


def lines(store: Store, *names: str) -> list[Outline]:
    """Made in this order by one and the same maker, and each that of its explanation."""
    outlines = Outlines(store, EvaluationOptions())
    found = [outlines.outline(subject(name)) for name in names]
    assert [*map(shown, found)] == [
        shown(outline_of(explain(store, subject(name), EvaluationOptions()))) for name in names
    ]
    return found


def live(name: str, owner: str, held: dict) -> dict:
    return made("Pod", name, spec={"containers": [held]}, status={"phase": "Running"}, **owned_by("ReplicaSet", owner))


def test_pods_that_live_differently_have_their_own_class():
    """Sent without values, under two LimitRanges of which the first one decides."""
    least = {"cpu": "1", "memory": "1Gi"}
    twice = {"name": "app", "resources": {"requests": least, "limits": {"cpu": "2", "memory": "2Gi"}}}
    store = store_of(
        made("ReplicaSet", "web", spec=template()),
        limits("a", default=least, defaultRequest=least),
        limits("b", default=twice["resources"]["limits"], defaultRequest=least),
        *(live(name, "web", held) for name, held in (("p", container("1")), ("q", twice), ("r", container("1")))),
    )
    found = lines(store, "Pod/p", "Pod/q", "Pod/r")
    assert [one.quality for one in found] == ["Guaranteed", "Burstable", "Guaranteed"]


def test_pods_that_were_sent_differently_have_their_own_verdict():
    """They live alike: the second one's template was raised since."""
    store = store_of(
        *(made("ReplicaSet", name, spec=template(container(cpu))) for name, cpu in (("web", "1"), ("big", "8"))),
        limits("few", max={"cpu": "4"}),
        *(
            live(name, owner, container("1"))
            for name, owner in (("p", "web"), ("q", "big"), ("r", "big"), ("s", "web"))
        ),
    )
    found = lines(store, "Pod/p", "Pod/q", "Pod/r", "Pod/s")
    assert [one.verdict.allowed for one in found] == [True, False, False, True]
    assert [one.verdict.outcome for one in found] == ["admitted", "full", "full", "admitted"]


def test_of_several_namespaces_each_has_its_own():
    held = [made("ReplicaSet", "web", spec=template(container("2"))), live("p", "web", container("2"))]
    there = [{**one, "metadata": {**one["metadata"], "namespace": "other"}} for one in held]
    outlines = Outlines(store_of(*held, *there, limits("few", max={"cpu": "1"})), EvaluationOptions())
    here = subject("Pod/p")
    other = Subject(ObjectRef("Pod", "p", "other"), here.kind)
    assert [outlines.outline(one).verdict.allowed for one in (here, other, here)] == [False, True, False]
