"""A resize's patch: laid over the stored pod, or refused in one line."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubectl_kres.errors import UsageError
from kubectl_kres.model.pod import ManagedPod, Pod
from kubectl_kres.reports.resize import patch_pod

STORED = {
    "metadata": {"name": "p", "namespace": "ns", "labels": {"a": "b"}},
    "spec": {
        "nodeName": "n1",
        "containers": [
            {
                "name": "app",
                "image": "i",
                "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2", "memory": "1Gi"}},
            },
            {"name": "log", "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]},
        ],
        "initContainers": [{"name": "init"}],
    },
    "status": {"qosClass": "Burstable"},
}  # fmt: skip


def laid(patch: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What differs from the stored pod, and what is ignored."""
    new, ignored = patch_pod(msgspec.convert(STORED, ManagedPod), patch)
    assert isinstance(new, ManagedPod)
    assert (new.metadata.labels, new.status.qos_class, new.spec.node_name) == ({"a": "b"}, "Burstable", "n1")
    spec = msgspec.json.decode(msgspec.json.encode(new.spec))
    return {key: value for key, value in spec.items() if value != STORED["spec"].get(key)}, ignored


def app(**resources: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "app", "resources": resources}]}}


def containers(**resources: Any) -> dict[str, Any]:
    first, second = STORED["spec"]["containers"]
    return {"containers": [{**first, "resources": resources}, second]}


LIMITS = {"cpu": "2", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("patch", "changed"),
    [
        ({"spec": {}}, {}),
        (app(requests={"cpu": "500m"}), containers(requests={"cpu": "500m"}, limits=LIMITS)),
        (app(limits={"cpu": None}), containers(requests={"cpu": "1"}, limits={"memory": "1Gi"})),
        (app(requests=None), containers(limits=LIMITS)),
        (app(limits={"memory": 5}), containers(requests={"cpu": "1"}, limits={"cpu": "2", "memory": 5})),
        ({"spec": {"resources": {"limits": {"cpu": "1"}}}}, {"resources": {"limits": {"cpu": "1"}}}),
        ({"spec": {"resources": {}}}, {"resources": {}}),
        ({"spec": {"resources": None}}, {}),
        ({"spec": {"containers": [{"name": "new"}]}},
         {"containers": [{"name": "new"}, *STORED["spec"]["containers"]]}),
        ({"spec": {"containers": [{"name": "log", "$patch": "delete"}]}},
         {"containers": STORED["spec"]["containers"][:1]}),
        ({"spec": {"initContainers": [{"name": "init", "resources": {"limits": {"cpu": "1"}}}]}},
         {"initContainers": [{"name": "init", "resources": {"limits": {"cpu": "1"}}}]}),
        ({"spec": {"$setElementOrder/containers": [{"name": "app"}, {"name": "log"}], **app(limits={})["spec"]}}, {}),
    ],
)  # fmt: skip
def test_patches(patch: Any, changed: dict[str, Any]):
    assert laid(patch) == (changed, ())


def test_what_a_resize_leaves_out_is_named():
    patch = {"status": {}, "spec": {"nodeName": "n2", "containers": [{"name": "app", "image": "other"}]}}
    assert laid(patch) == ({}, ("status", "spec.nodeName", "spec.containers[0].image"))


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        (None, "an object is expected, not nothing"),
        ([], "an object is expected, not a list"),
        ("x", "an object is expected, not text"),
        (3, "an object is expected, not a number"),
        ({}, "no spec"),
        ({"containers": []}, "containers belongs below spec"),
        ({"spec": []}, "spec is an object, not a list"),
        ({"spec": {"containers": {}}}, "spec.containers is a list, not an object"),
        ({"spec": {"containers": ["app"]}}, "spec.containers[0] is an object, not text"),
        ({"spec": {"containers": [{"resources": {}}]}}, "spec.containers[0] has no name: containers are found by it"),
        (app(limits="x"), "p: Expected `object | null`, got `str` - at `$.spec.containers[0].resources.limits`"),
        (app(limits={"$patch": "replace"}),
         "spec.containers[0].resources.limits: the directive $patch is not supported"),
        ({"spec": {"resources": []}}, "p: Expected `object | null`, got `array` - at `$.spec.resources`"),
    ],
)  # fmt: skip
def test_bad_patches(patch: Any, message: str):
    with pytest.raises(UsageError) as caught:
        patch_pod(msgspec.convert(STORED, Pod), patch)
    assert caught.value.message == f"--resize: {message}"
    assert caught.value.hint != ""


@pytest.mark.parametrize(
    ("sent", "names"),
    [
        ("b", "abc"),
        ("ac", "abc"),
        ("abc", "abc"),
        ("ba", "bac"),
        ("ca", "bca"),
        ("cb", "acb"),
        ("cba", "cba"),
        ("d", "dabc"),
        ("bd", "abdc"),
    ],
)
def test_a_strategic_merge_keeps_the_order_of_the_patch(sent: str, names: str):
    """What the patch does not name comes before what stood behind it; a server answers another order with 422."""
    stored = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": name} for name in "abc"]}}
    new, _ = patch_pod(msgspec.convert(stored, Pod), {"spec": {"containers": [{"name": name} for name in sent]}})
    assert "".join(one.name for one in new.spec.containers or ()) == names


def test_kubectl_edit_says_the_order_itself():
    stored = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": name} for name in "abc"]}}
    order = [{"name": name} for name in "abc"]
    spec = {"$setElementOrder/containers": order, "containers": [{"name": "c"}, {"name": "a"}]}
    new, _ = patch_pod(msgspec.convert(stored, Pod), {"spec": spec})
    assert "".join(one.name for one in new.spec.containers or ()) == "abc"
