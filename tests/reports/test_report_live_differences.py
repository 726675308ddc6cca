"""Why a live pod has another value than admission would set today, best evidence first."""

from __future__ import annotations

import msgspec
import pytest
from reports.stored import made, owned_by, store_of, subject, template

from kubectl_kres.model.pod import ManagedPod
from kubectl_kres.provenance.journal import Source
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import EvaluationOptions, LastEdit
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.pod.live_differences import AddedContainer, injection_note, why_different

PATH, NAMES = "spec.containers[0].resources.limits[cpu]", {"spec.containers[0]": "app"}
RANGE = Source("LimitRange", "lr", "ns", "spec.limits[0].default[cpu]")
TREE = {"f:spec": {"f:containers": {'k:{"name":"app"}': {"f:resources": {"f:limits": {"f:cpu": {}}}}}}}
FILLED = {"kubernetes.io/limit-ranger": "LimitRanger plugin set: cpu limit for container app"}
UNKNOWN = "no rule known here explains it; the template or a policy may be newer than the pod"


def manager(name: str, time: str = "2026-02-01T00:00:00Z", **more: str) -> dict:
    return {"manager": name, "operation": "Update", "time": time, "fieldsV1": TREE, **more}


def live(*managers: dict, status: dict | None = None, **metadata) -> ManagedPod:
    raw = made(
        "Pod", "p", spec={"containers": [{"name": "app"}]}, status=status or {}, managedFields=managers, **metadata
    )
    raw["metadata"].setdefault("creationTimestamp", "2026-01-15T00:00:00Z")
    return msgspec.convert(raw, ManagedPod)


RESIZED = manager("kubectl", subresource="resize")
PENDING = {"conditions": [{"type": "PodResizePending", "status": "True", "reason": "Deferred"}]}


@pytest.mark.parametrize(
    ("pod", "policy", "edit", "reason"),
    [
        pytest.param(live(), None, None, UNKNOWN, id="nothing is known"),
        pytest.param(live(RESIZED), RANGE, None, "resized by kubectl at 2026-02-01T00:00:00Z", id="resized"),
        pytest.param(live(status=PENDING), None, None, "resized: PodResizePending Deferred", id="a resize is pending"),
        pytest.param(
            live(annotations={"vpaUpdates": "Pod resources updated by web: container 0: cpu request"}),
            RANGE,
            None,
            "set by the VerticalPodAutoscaler (annotation vpaUpdates)",
            id="VPA",
        ),
        pytest.param(
            live(),
            RANGE,
            LastEdit("platform", "Apply", "2026-03-01T00:00:00Z"),
            "LimitRange/lr was changed by platform at 2026-03-01T00:00:00Z, after the pod was created",
            id="the LimitRange is newer than the pod",
        ),
        pytest.param(
            live(), RANGE, LastEdit("platform", "Apply", "2026-01-01T00:00:00Z"), UNKNOWN, id="the LimitRange is older"
        ),
        pytest.param(
            live(annotations=FILLED),
            None,
            None,
            "a LimitRange set it when the pod was created (annotation kubernetes.io/limit-ranger); "
            "no LimitRange sets it so today",
            id="a LimitRange that is gone",
        ),
        pytest.param(
            live(annotations={"kubernetes.io/limit-ranger": "LimitRanger plugin set: cpu limit for container other"}),
            None,
            None,
            UNKNOWN,
            id="the annotation is of another container",
        ),
        pytest.param(
            live(manager("my-webhook")),
            None,
            None,
            "set by field manager my-webhook at 2026-02-01T00:00:00Z",
            id="a manager",
        ),
        pytest.param(live(manager("kube-controller-manager")), None, None, UNKNOWN, id="who only passes on"),
        pytest.param(
            live(RESIZED, annotations={"vpaUpdates": "x"}),
            None,
            None,
            "resized by kubectl at 2026-02-01T00:00:00Z",
            id="a resize is better evidence than an annotation",
        ),
    ],
)
def test_why(pod, policy, edit, reason):
    assert sentence_text(why_different(pod, PATH, NAMES, policy, edit)) == reason


def test_nothing_is_said_of_limit_ranges_that_could_not_be_read():
    reason = sentence_text(why_different(live(annotations=FILLED), PATH, NAMES, None, None, unread=True))
    assert reason.endswith("(annotation kubernetes.io/limit-ranger); those of today could not be read")


@pytest.mark.parametrize(
    ("pod", "note"),
    [
        (live(), "not in the template: injected"),
        (
            live(annotations={"sidecar.istio.io/status": "{}"}),
            "not in the template: added by the Istio sidecar injector",
        ),
        (
            live(annotations={"linkerd.io/inject": "enabled"}),
            "not in the template: added by the Linkerd proxy injector",
        ),
        (
            live(manager("my-webhook")),
            "not in the template: added by field manager my-webhook when the pod was created",
        ),
        (live(manager("kube-controller-manager")), "not in the template: injected"),
    ],
)
def test_who_injected(pod, note):
    assert sentence_text(injection_note(pod, "app", "spec.containers[0]")) == note


def explained(*objects):
    return explain(store_of(*objects), subject("Pod/p"), EvaluationOptions())


OWNER = made(
    "ReplicaSet",
    "web",
    spec=template({"name": "app", "resources": {"requests": {"cpu": "1", "ephemeral-storage": "1Gi"}}}),
)


def running(*containers: dict, **spec) -> dict:
    return made("Pod", "p", spec={"containers": list(containers), **spec}, **owned_by("ReplicaSet", "web"))


PROXY = {"name": "proxy", "resources": {"requests": {"cpu": "10m"}, "limits": {"memory": "1Gi", "cpu": "1"}}}
APP = {"name": "app", "resources": {"requests": {"cpu": "1", "ephemeral-storage": "1Gi"}}}


@pytest.mark.parametrize(
    ("containers", "inits", "role"),
    [
        ([APP, PROXY], [], "container"),
        ([PROXY, APP], [], "container"),
        ([APP], [PROXY], "init"),
        ([APP], [{**PROXY, "restartPolicy": "Always"}], "sidecar"),
    ],
)
def test_an_injected_container_moves_no_value(containers, inits, role):
    """Wherever it was put in, the template's containers keep their own live values."""
    found = explained(OWNER, running(*containers, initContainers=inits))
    assert [(value.resource, value.value, value.live, value.note) for value in found.containers[0].values] == [
        ("cpu", "1", "1", ""),
        ("ephemeral-storage", "1Gi", "1Gi", ""),
    ]
    added = found.containers[1]
    assert (added.name, added.role, added.note) == ("proxy", role, AddedContainer())
    assert [(value.resource, value.side, value.live) for value in added.values] == [
        ("cpu", "requests", "10m"),
        ("cpu", "limits", "1"),
        ("memory", "limits", "1Gi"),
    ]
    assert [one.code for one in found.assumptions] == ["webhook/not-computed"]
    assert sentence_text(found.assumptions[0].text).endswith(": proxy")


def test_a_live_value_that_nothing_sets_is_shown():
    found = explained(OWNER, running({"name": "app", "resources": {"requests": {"cpu": "1", "memory": "2Gi"}}}))
    assert [(value.resource, value.value, value.live, bool(value.note)) for value in found.containers[0].values] == [
        ("cpu", "1", "1", False),
        ("memory", None, "2Gi", True),
        ("ephemeral-storage", "1Gi", None, True),
    ]


def test_notation_is_no_difference():
    found = explained(
        OWNER, running({"name": "app", "resources": {"requests": {"cpu": "1000m", "ephemeral-storage": "1024Mi"}}})
    )
    assert [value.note for value in found.containers[0].values] == ["", ""]
