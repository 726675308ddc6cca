"""Who last wrote a field, from managedFields as real servers write them."""

from __future__ import annotations

import msgspec
import pytest

from kubectl_kres.model.objects import ManagedFields
from kubectl_kres.reports.common.last_editor import last_edit


def fields(manager: str, time: str, tree: dict, operation: str = "Update") -> ManagedFields:
    raw = {"manager": manager, "operation": operation, "time": time, "fieldsV1": tree}
    return msgspec.convert(raw, ManagedFields)


def template(resources: dict, name: str = "app") -> dict:
    """What a manager owns who wrote these fields below ``resources`` of one container of a template."""
    container = {".": {}, "f:name": {}, "f:resources": {".": {}, **resources}}
    containers = {f'k:{{"name":"{name}"}}': container}
    return {"f:spec": {"f:template": {"f:spec": {"f:containers": containers}}}}


LIMIT = template({"f:limits": {".": {}, "f:cpu": {}}})
CPU = "spec.template.spec.containers[0].resources.limits[cpu]"
NAMES = {"spec.template.spec.containers[0]": "app"}

#: LimitRange: spec.limits is an atomic list, of which nobody owns a part.
RANGE = {"f:spec": {"f:limits": {}}}
BOUND = "spec.limits[0].max[cpu]"

#: ResourceQuota: hard is a map of fields.
HARD = {"f:spec": {"f:hard": {".": {}, "f:pods": {}, "f:requests.cpu": {}}}}


@pytest.mark.parametrize(
    ("managed", "path", "names", "manager"),
    [
        pytest.param((), CPU, NAMES, None, id="nobody"),
        pytest.param(None, CPU, NAMES, None, id="no managed fields at all"),
        pytest.param((fields("kubectl", "1", LIMIT),), CPU, NAMES, "kubectl", id="one manager"),
        pytest.param(
            (fields("argocd", "2", LIMIT, "Apply"), fields("kubectl", "1", LIMIT)),
            CPU,
            NAMES,
            "argocd",
            id="the newest",
        ),
        pytest.param(
            (fields("kubectl", "1", LIMIT), fields("other", "9", template({"f:limits": {"f:memory": {}}}))),
            CPU,
            NAMES,
            "kubectl",
            id="not a newer one of another resource",
        ),
        pytest.param(
            (fields("kubectl", "1", LIMIT), fields("other", "9", template({"f:limits": {"f:cpu": {}}}, "sidecar"))),
            CPU,
            NAMES,
            "kubectl",
            id="nor of another container",
        ),
        pytest.param((fields("kubectl", "1", LIMIT),), CPU, {}, None, id="no name for the list item"),
        pytest.param((fields("platform", "1", RANGE),), BOUND, {}, "platform", id="an atomic list as a whole"),
        pytest.param(
            (fields("old", "1", RANGE), fields("new", "2", RANGE)), BOUND, {}, "new", id="the newest of an atomic list"
        ),
        pytest.param(
            (fields("labels", "9", {"f:metadata": {"f:labels": {}}}), fields("old", "1", RANGE)),
            BOUND,
            {},
            "old",
            id="who changed a label is not who changed the list",
        ),
        pytest.param((fields("terraform", "1", HARD),), "spec.hard[pods]", {}, "terraform", id="a name of a quota"),
        pytest.param(
            (fields("terraform", "1", HARD),), "spec.hard[requests.cpu]", {}, "terraform", id="a name with a dot"
        ),
        pytest.param((fields("terraform", "1", HARD),), "spec.hard[memory]", {}, None, id="a name nobody owns"),
    ],
)
def test_last_edit(managed, path, names, manager):
    edit = last_edit(managed, path, names)
    assert (edit.manager if edit else None) == manager


def test_what_is_known_of_an_edit():
    edit = last_edit([fields("argocd", "2026-11-02T08:15:00Z", RANGE, "Apply")], BOUND)
    assert (edit.manager, edit.operation, edit.time) == ("argocd", "Apply", "2026-11-02T08:15:00Z")
    timeless = msgspec.convert({"manager": "m", "fieldsV1": RANGE}, ManagedFields)
    assert last_edit([timeless], BOUND).time == ""
