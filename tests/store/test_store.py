"""Objects by kind, namespace and name, and what is known of what is not there."""

from __future__ import annotations

import msgspec
import pytest

from kubectl_kres.model.objects import ObjectRef, PriorityClass
from kubectl_kres.model.pod import Pod
from kubectl_kres.store.store import READ, UNREAD, Coverage, Origin, ReadRequest, Store

DENIED = Coverage("denied", "no")
ABSENT = Coverage("absent")
FAILED = Coverage("failed", "timed out")


def pod(name: str, namespace: str, cpu: str = "1") -> Pod:
    container = {"name": "c", "resources": {"requests": {"cpu": cpu}}}
    return msgspec.convert(
        {"metadata": {"name": name, "namespace": namespace}, "spec": {"containers": [container]}}, Pod
    )


def store() -> Store:
    return Store(Origin("cluster"))


def test_objects_come_back_sorted_and_the_last_one_counts():
    held = store()
    for one in (pod("b", "y"), pod("a", "y"), pod("c", "x"), pod("a", "y", "2")):
        held.add("Pod", one)
    held.add("PriorityClass", PriorityClass(metadata=msgspec.convert({"name": "high"}, type(PriorityClass().metadata))))
    assert [(one.metadata.namespace, one.metadata.name) for one in held.all("Pod")] == [
        ("x", "c"),
        ("y", "a"),
        ("y", "b"),
    ]
    assert [one.metadata.name for one in held.all("Pod", "y")] == ["a", "b"]
    assert held.get("Pod", "a", "y").spec.containers[0].resources.requests == {"cpu": "2"}
    assert held.get("PriorityClass", "high").metadata.name == "high"
    assert held.get("Pod", "a") is held.get("Node", "a") is None
    assert list(held.all("Node")) == list(held.all("Pod", "z")) == []
    assert held.kinds() == ("Pod", "PriorityClass")


def test_files_are_remembered():
    held = store()
    held.add("Pod", pod("a", "y"), file="a.yaml")
    held.add("Pod", pod("b", "y"))
    assert held.files == {ObjectRef("Pod", "a", "y"): "a.yaml"}


@pytest.mark.parametrize(
    ("asked", "coverage"),
    [
        pytest.param(ReadRequest("Pod", "a", "p"), READ, id="one object of a list of the namespace"),
        pytest.param(ReadRequest("Pod", "a"), READ, id="the list itself"),
        pytest.param(ReadRequest("Pod", "a", required=False), READ, id="whether it is required is no matter"),
        pytest.param(ReadRequest("Pod", "b", "p"), UNREAD, id="another namespace"),
        pytest.param(ReadRequest("Pod"), UNREAD, id="all namespaces, of which one was read"),
        pytest.param(ReadRequest("LimitRange", "b"), DENIED, id="a namespace, of all that were denied"),
        pytest.param(ReadRequest("LimitRange", "a"), READ, id="denied everywhere, read here"),
        pytest.param(
            ReadRequest("Event", "a", field_selector="type=Warning"), READ, id="with the selector that was used"
        ),
        pytest.param(ReadRequest("Event", "a"), UNREAD, id="without it"),
        pytest.param(
            ReadRequest("ReplicaSet", "a", label_selector="app=web"), READ, id="a part of what was read whole"
        ),
        pytest.param(ReadRequest("ResourcePool"), ABSENT, id="a kind that there is not"),
        pytest.param(ReadRequest("ResourcePool", "a", "p"), ABSENT, id="nor any object of it"),
        pytest.param(ReadRequest("Job", "a", "one"), FAILED, id="exactly what failed, though its list was read"),
        pytest.param(ReadRequest("Job", "a", "two"), READ, id="another one of the list"),
    ],
)
def test_what_is_covered(asked, coverage):
    held = store()
    for need, state in (
        (ReadRequest("Pod", "a"), READ),
        (ReadRequest("LimitRange"), DENIED),
        (ReadRequest("LimitRange", "a"), READ),
        (ReadRequest("Event", "a", field_selector="type=Warning"), READ),
        (ReadRequest("ReplicaSet"), READ),
        (ReadRequest("ResourcePool"), ABSENT),
        (ReadRequest("Job", "a", "one"), FAILED),
        (ReadRequest("Job", "a"), READ),
    ):
        held.cover(need, state)
    assert held.covered(asked) == coverage
    assert held.covered(asked).is_known is (coverage.state in {"read", "absent"})


def test_gaps_are_what_is_not_known():
    held = store()
    for need, state in (
        (ReadRequest("Pod"), READ),
        (ReadRequest("Event"), DENIED),
        (ReadRequest("Job"), FAILED),
        (ReadRequest("Pool"), ABSENT),
    ):
        held.cover(need, state)
    assert held.gaps() == {ReadRequest("Event"): DENIED, ReadRequest("Job"): FAILED}
    assert list(held.coverages()) == [ReadRequest("Pod"), ReadRequest("Event"), ReadRequest("Job"), ReadRequest("Pool")]


def test_what_was_made_is_remembered_while_nothing_of_it_changes():
    store, made = Store(Origin("cluster")), []

    def count(beside: object = None, kinds: tuple[str, ...] | None = ("Pod",)) -> int:
        return store.memo("pods", kinds, beside, lambda: made.append(None) or len(made))

    assert (count(), count()) == (1, 1)
    store.add("PriorityClass", PriorityClass())
    assert count() == 1
    store.add("Pod", Pod())
    assert (count(), count()) == (2, 2)
    store.cover(ReadRequest("Pod"), READ)
    assert count() == 3
    assert (count("another"), count("another")) == (4, 4)
    store.files[ObjectRef("Pod", "web")] = "web.yaml"
    assert count("another") == 5
    assert store.copied().memo("pods", ("Pod",), "another", lambda: 0) == 0


def test_what_depends_on_everything_is_made_again_after_any_change():
    store, made = Store(Origin("cluster")), []

    def count() -> int:
        return store.memo("all", None, None, lambda: made.append(None) or len(made))

    assert (count(), count()) == (1, 1)
    store.add("PriorityClass", PriorityClass())
    assert count() == 2


def test_who_goes_on_after_objects_were_removed_finds_the_rest():
    """Screens make their rows in slices, and what arrives is taken in between two of them."""
    held = store()
    for name in "abc":
        held.add("Pod", pod(name, "x"))
    pods = held.all("Pod")
    assert next(pods).metadata.name == "a"
    held.remove("Pod", "b", "x")
    assert [one.metadata.name for one in pods] == ["c"]
