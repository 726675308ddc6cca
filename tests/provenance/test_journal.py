"""A journal is replayed, cut down to one path, and sent as JSON."""

from __future__ import annotations

import msgspec
import pytest

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.provenance.journal import (
    Assumption,
    Check,
    Derive,
    Entry,
    Journal,
    Set,
    Source,
    Term,
    by_path,
    replay,
)

AT = Source("LimitRange", "lr", "ns", "spec.limits[0].max[cpu]")
ENTRIES: Journal = (
    Set("a", "quantity/canonical", "1Gi", "1024Mi"),
    Set("b", "limitrange/default", "2", source=AT),
    Check("a", "limitrange/max", passed=True, observed="1Gi", bound="2Gi", source=AT),
    Set("a", "pod-level/dropped", before="1Gi"),
    Derive("c", "pod/sum", "3", (Term("a", "1"), Term("b", "2", kept=False))),
    Assumption("c", "start/live", "the template is not known"),
)


def test_replay_sets_and_drops():
    assert replay({"a": "1024Mi", "z": "9"}, ENTRIES) == {"b": "2", "z": "9"}
    assert replay({"a": "1024Mi"}, ENTRIES[:1]) == {"a": "1Gi"}
    assert replay({}, [Set("gone", "pod-level/dropped", before="1")]) == {}


def test_replay_leaves_what_it_is_given_alone():
    given = {"a": "1"}
    replay(given, ENTRIES)
    assert given == {"a": "1"}


def test_the_entries_about_each_path_in_order():
    found = by_path(ENTRIES)
    assert (found["a"], found["b"]) == ((ENTRIES[0], ENTRIES[2], ENTRIES[3]), (ENTRIES[1],))
    assert found.keys() == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("entry", "written"),
    [
        (ENTRIES[0], '{"type":"set","path":"a","rule":"quantity/canonical","after":"1Gi","before":"1024Mi"}'),
        (ENTRIES[3], '{"type":"set","path":"a","rule":"pod-level/dropped","before":"1Gi"}'),
        (
            ENTRIES[4],
            (
                '{"type":"derive","path":"c","rule":"pod/sum","value":"3",'
                '"terms":[{"path":"a","value":"1"},{"path":"b","value":"2","kept":false}]}'
            ),
        ),
        (ENTRIES[5], '{"type":"assume","path":"c","code":"start/live","text":"the template is not known"}'),
    ],
)
def test_as_json(entry: Entry, written: str):
    assert msgspec.json.encode(entry).decode() == written
    assert msgspec.json.decode(written, type=Entry) == entry


def test_a_source_names_its_object():
    assert AT.ref == ObjectRef("LimitRange", "lr", "ns")
    assert AT.at_path("spec") == Source("LimitRange", "lr", "ns", "spec")
    assert str(AT.ref) == "LimitRange/lr"
