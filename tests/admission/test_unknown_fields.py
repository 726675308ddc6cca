"""Unknown fields: what a real server warned of in the objects of unknown-fields.json, and what lies beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubectl_kres.admission import decoding
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.create import create
from kubectl_kres.admission.request.new_pod import policies_of
from kubectl_kres.model.kinds import BY_KIND, DEVICES
from kubectl_kres.model.workload_kinds import WORKLOADS

RECORDED = json.loads(Path(__file__).with_name("unknown-fields.json").read_text())
CASES = [pytest.param(case, id=case["name"]) for case in RECORDED["cases"]]
NOTHING = policies_of([], [], [], [])


@pytest.mark.parametrize("case", CASES)
def test_as_the_server_warned(case: dict):
    assert list(decoding.unknown_fields(case["object"], case["object"]["kind"])) == case["warnings"]


@pytest.mark.parametrize("case", CASES)
def test_creation_carries_them(case: dict):
    """Also one that is refused; the code is compared where the engine knows the rule that gave it."""
    [outcome] = create(case["object"], NOTHING, Server())
    assert outcome.warnings == tuple(sorted(case["warnings"]))
    if case["object"]["kind"] == "LimitRange" or case["code"] != 422:
        assert outcome.code == case["code"]


def test_an_unreadable_quantity_hides_them():
    """The server answers 400 before it has looked at the fields."""
    container = {"name": "c", "image": "i", "foo": 1, "resources": {"limits": {"cpu": "one"}}}
    raw = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [container]}}
    [outcome] = create(raw, NOTHING, Server())
    assert (outcome.code, outcome.warnings) == (400, ())


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        pytest.param({"kind": "Widget", "foo": 1}, "Widget", id="a kind that is not known"),
        pytest.param({"kind": "Container", "foo": 1}, "Container", id="a type that is no kind"),
        pytest.param({"apiVersion": "serving.knative.dev/v1", "kind": "Service", "foo": 1}, "Service", id="a group"),
        pytest.param({"apiVersion": "v1", "kind": "Pod", "spec": 1, "metadata": []}, "Pod", id="wrong types"),
        pytest.param({"kind": "Pod", "spec": {"containers": [None, 1], "volumes": {}}}, "Pod", id="wrong items"),
    ],
)
def test_nothing_to_say(raw: dict, kind: str):
    assert decoding.unknown_fields(raw, kind) == ()


def test_a_lone_surrogate_is_shown_as_go_reads_it():
    """Recorded apart, as no JSON file should hold one: the server read "\\ud800x"."""
    assert decoding.unknown_fields({"kind": "Pod", "\ud800x": 1}, "Pod") == ('unknown field "\ufffdx"',)


def test_fields_that_are_new_in_1_37():
    """As 1.37.2 warned of this pod."""
    spec = {
        "containers": [],
        "evictionResponders": [{"name": "a", "nope": 1}],
        "volumes": [{"emptyDir": {"mode": 1, "no": 2}}],
    }
    assert decoding.unknown_fields({"kind": "Pod", "spec": spec}, "Pod") == (
        'unknown field "spec.evictionResponders[0].nope"',
        'unknown field "spec.volumes[0].emptyDir.no"',
    )


def test_the_table_is_of_the_version_of_the_tests_and_whole():
    """1.37.2 was asked for the recorded objects, too: it gives the same warnings as 1.36.3."""
    table = decoding.table()
    pinned = Path(__file__).parents[1] / "controlplane" / "kubernetes" / "go.mod"
    held = {inner.removeprefix("[]") for known in table.types.values() for inner in known.values()}
    assert f"k8s.io/kubernetes {table.version}\n" in pinned.read_text()
    assert held - {""} <= table.types.keys()
    kinds = {case["object"]["kind"] for case in RECORDED["cases"]}
    # Policies are in the table for the types of their fields: what is unknown of them was not recorded.
    # A container's claims are in it under the name of a kind that is not.
    recorded = {kind for kind in BY_KIND if BY_KIND[kind].group not in {"admissionregistration.k8s.io", DEVICES}}
    assert kinds == recorded & table.types.keys()
    assert kinds >= {*WORKLOADS, "Pod", "LimitRange", "ResourceQuota", "PersistentVolumeClaim", "Service"}
