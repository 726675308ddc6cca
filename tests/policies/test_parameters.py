"""Parameters of policies out of a store: which are found, and what is said where they are not known."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from kubectl_kres.documents.scalar import Number
from kubectl_kres.manifests.manifest import Manifest
from kubectl_kres.manifests.overlay import overlay
from kubectl_kres.model.admission_objects import Parameter, parameter_of
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.policies.cel.base.values import NotComputed
from kubectl_kres.policies.rules.policy import build_param_finder
from kubectl_kres.simulate.plugins import parameters_of
from kubectl_kres.store.parameters import kind_need, parameter_need, parameters
from kubectl_kres.store.store import READ, Coverage, Origin, Store

CEILING = ("rules.example.com/v1", "Ceiling")
NAMED = {"name": "a"}


def item(name: str, space: str = "ns", **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": space, "managedFields": [{"manager": "x"}]}
    return {"apiVersion": CEILING[0], "kind": CEILING[1], "metadata": metadata, "spec": spec}


def store_of(state: Coverage | None, *items: dict[str, Any], reference: Any = NAMED) -> Store:
    store = Store(Origin("cluster"))
    for one in items:
        store.add("Ceiling.v1.rules.example.com", parameter_of(one))
    if state is not None:
        store.cover(parameter_need(*CEILING, "ns", reference), state)
    return store


def found(store: Store, reference: Any = NAMED) -> Any:
    return build_param_finder(partial(parameters, store))(*CEILING, "ns", reference)


def test_what_was_read_is_found_without_who_wrote_it():
    [one] = found(store_of(READ, item("a", cpu="1")))
    assert one["spec"] == {"cpu": "1"} and "managedFields" not in one["metadata"]


def test_what_is_read_and_not_there_is_none():
    assert found(store_of(READ)) == []


def test_a_kind_that_is_not_served_is_told_from_one_without_objects():
    store = store_of(Coverage("absent"))
    assert found(store) is None and found(store, None) is None
    assert found(store_of(READ), None) == ()


def test_without_a_reference_it_is_asked_whether_the_kind_is_served():
    store = Store(Origin("cluster"))
    with pytest.raises(NotComputed, match="whether the server has its paramKind, Ceiling"):
        found(store, None)
    assert build_param_finder(partial(parameters, store))("v1", "ConfigMap", "ns", None) == ()
    store.cover(kind_need(*CEILING), Coverage("denied"))
    with pytest.raises(NotComputed, match="whether the server has its paramKind, Ceiling"):
        found(store, None)
    store.cover(kind_need(*CEILING), Coverage("absent"))
    assert found(store, None) is None
    store.cover(kind_need(*CEILING), READ)
    assert found(store, None) == ()


@pytest.mark.parametrize(("state", "why"), [
    (Coverage("denied"), "may not be read"), (Coverage("failed"), "could not be read"), (None, "are not read"),
])  # fmt: skip
def test_what_is_not_known_is_named(state: Coverage | None, why: str):
    with pytest.raises(NotComputed, match=rf"^its parameters \(Ceiling of rules.example.com/v1 ns/a\) {why}$"):
        found(store_of(state))


def test_a_file_needs_no_reading():
    store = Store(Origin("files"))
    overlay(store, [Manifest({**item("a"), "spec": {"most": Number("2.5")}})], namespace="ns")
    [one] = found(store)
    assert one["spec"] == {"most": 2.5}


def test_secrets_are_neither_kept_nor_looked_up():
    store = Store(Origin("files"))
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": {"x": "eA=="}}
    overlay(store, [Manifest(secret)], namespace="ns")
    assert store.kinds() == ()
    with pytest.raises(NotComputed, match="Secrets, which are never read"):
        build_param_finder(partial(parameters, store))("v1", "Secret", "ns", NAMED)


@pytest.mark.parametrize("kind", ["secrets/db", "../v1/namespaces/shop/secrets", "Od_d", "", "a.b", "Secret.v1"])
def test_a_kind_that_no_server_can_have_is_not_served(kind: str):
    assert build_param_finder(partial(parameters, Store(Origin("cluster"))))("v1", kind, "ns", NAMED) is None
    param_kind = {"apiVersion": "v1", "kind": kind}
    policy = {"kind": "ValidatingAdmissionPolicy", "metadata": {"name": "a"}, "spec": {"paramKind": param_kind}}
    assert parameters_of([policy]).versions == {}


def test_a_selector_is_asked_as_the_server_takes_it():
    expressions = [
        {"key": "a", "operator": "In", "values": ["x", "y"]}, {"key": "b", "operator": "NotIn", "values": ["z"]},
        {"key": "c", "operator": "Exists"}, {"key": "d", "operator": "DoesNotExist"},
    ]  # fmt: skip
    reference = {"selector": {"matchLabels": {"t": "1"}, "matchExpressions": expressions}, "namespace": "other"}
    need = parameter_need("v1", "ConfigMap", "ns", reference)
    assert (need.kind, need.namespace, need.name) == ("ConfigMap.v1", "other", "")
    assert need.label_selector == "t=1,a in (x,y),b notin (z),c,!d"


def test_a_kind_by_its_name_in_needs():
    kind = BY_KIND["Ceiling.v1beta1.rules.example.com"]
    assert (kind.group, kind.version, kind.struct) == ("rules.example.com", "v1beta1", Parameter)
    with pytest.raises(KeyError):
        BY_KIND["Nothing"]
