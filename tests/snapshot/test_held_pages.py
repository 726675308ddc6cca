"""Pages that are looked at again: held as they stand in the file, or left out where they are of other namespaces."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload import Event
from kubectl_kres.snapshot import read as snapshots
from kubectl_kres.snapshot.write import write
from kubectl_kres.store.store import READ, Origin, ReadRequest, Store

PODS = 150


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Three namespaces with more than a page of pods each, and an event."""
    store = Store(Origin("cluster", "here"))
    for kind, struct, count in (("Pod", Pod, PODS), ("Event", Event, 1)):
        store.cover(ReadRequest(kind), READ)
        for space in ("a", "a-b", "b"):
            for number in range(count):
                store.add(kind, _named(struct(), f"x{number}", space))
    result = str(tmp_path / "all.kres")
    write(store, result)
    return result


def _named(item: Pod | Event, name: str, space: str) -> Pod | Event:
    return structs.replace(item, metadata=structs.replace(item.metadata, name=name, namespace=space))


def _names(pages: list[list[Pod]], space: str) -> list[str]:
    return [pod.metadata.name for page in pages for pod in page if pod.metadata.namespace == space]


def test_pages_of_other_namespaces_are_left_out(path: str):
    every = list(snapshots.pages(path, "Pod"))
    some = list(snapshots.pages(path, "Pod", spaces={"Pod": {"a-b"}}))
    assert len(some) < len(every)
    assert _names(some, "a-b") == _names(every, "a-b")
    assert len(_names(some, "a-b")) == PODS


def test_what_is_held_is_what_the_file_has(path: str):
    held = snapshots.HeldPages(("Event",))
    snapshots.read(path, without=("Pod", "Event"), held=held)
    Path(path).unlink()
    assert sum(map(len, snapshots.pages(path, "Event", held=held))) == 3
    assert held.of("Pod") is None


def test_too_much_is_not_held(path: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(snapshots, "_HELD", 10)
    held = snapshots.HeldPages(("Event",))
    snapshots.read(path, without=("Pod", "Event"), held=held)
    assert held.of("Event") is None
    assert sum(map(len, snapshots.pages(path, "Event", held=held))) == 3
