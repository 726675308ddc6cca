"""LimitRanges of a namespace as one."""

from __future__ import annotations

from reports.stored import made, store_of

from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.namespace.explain_policy import effective_limits


def limits(name, **item):
    return made("LimitRange", name, spec={"limits": [{"type": "Container", **item}]})


def test_the_tightest_bounds_are_in_force():
    store = store_of(
        limits("wide", min={"cpu": "10m"}, max={"cpu": "4"}),
        limits("tight", min={"cpu": "50m"}, max={"cpu": "2"}, maxLimitRequestRatio={"cpu": "3"}),
    )
    [found] = effective_limits(store, "ns")
    assert (found.type, found.resource) == ("Container", "cpu")
    assert (found.band.low, found.band.high, found.band.ratio) == ("50m", "2", "3")
    told = {(part.field, part.source.name): part.force for part in found.parts if part.field in {"min", "max"}}
    assert told == {("min", "wide"): False, ("min", "tight"): True, ("max", "wide"): False, ("max", "tight"): True}


def test_defaults_that_differ_are_all_told():
    """A maximum is a default, too, where none is written: the server fills it in."""
    store = store_of(limits("a", default={"memory": "512Mi"}), limits("b", max={"memory": "1Gi"}))
    [found] = effective_limits(store, "ns")
    assert found.limits == ("512Mi", "1Gi")
    assert not found.certain
    assert found.requests == ("512Mi", "1Gi")


def test_types_and_namespaces_stay_apart():
    pod = made("LimitRange", "p", spec={"limits": [{"type": "Pod", "max": {"cpu": "4"}}]})
    elsewhere = {**limits("o", max={"cpu": "1"}), "metadata": {"name": "o", "namespace": "other"}}
    found = list(effective_limits(store_of(pod, limits("c", max={"cpu": "2"}), elsewhere), "ns"))
    assert [(one.type, one.band.high, one.certain) for one in found] == [("Container", "2", True), ("Pod", "4", True)]


def test_what_does_not_parse_is_left_out_and_said():
    store = store_of(limits("bad", max={"cpu": "much"}), limits("good", max={"cpu": "2"}))
    [found] = effective_limits(store, "ns")
    assert found.band.high == "2"
    assert "bad" in sentence_text(found.assumptions[0].text)


def test_nothing():
    assert list(effective_limits(store_of(), "ns")) == []
