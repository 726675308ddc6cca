"""What ``explain --resize`` says: verdict, remedy, changes, restarts, figures of node and quotas, what is supposed."""

from __future__ import annotations

from typing import Any

import pytest
from reports.stored import advised, box, made, store_of, subject

from kubectl_kres.admission.base.server import Server
from kubectl_kres.errors import NotFound, UsageError
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.verdict.note import NOTHING
from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.reports.resize import Resize, Sum, resize

GATES = ["InPlacePodLevelResourcesVerticalScaling", "InPlacePodVerticalScalingInitContainers"]
NODE = {"kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "4", "memory": "8Gi"}}}
ABLE = {**NODE, "status": {**NODE["status"], "declaredFeatures": GATES}}
QUOTA = made(
    "ResourceQuota",
    "team",
    spec={"hard": {"requests.cpu": "2"}},
    status={"hard": {"requests.cpu": "2"}, "used": {"requests.cpu": "1"}},
)
HALF = {"cpu": "500m", "memory": "256Mi"}
RESTART = [{"resourceName": "memory", "restartPolicy": "RestartContainer"}]


def pod(*containers: Any, qos: str = "Burstable", **spec: Any) -> dict[str, Any]:
    return made("Pod", "p", spec={"nodeName": "n1", "containers": list(containers), **spec}, status={"qosClass": qos})


def patch(name: str = "app", *, key: str = "containers", **resources: Any) -> dict[str, Any]:
    return {"spec": {key: [{"name": name, "resources": resources}]}}


def asked(
    raw: Any, sent: Any, *objects: Any, node: Any = NODE, server: Server | None = None, unread: tuple[str, ...] = ()
) -> Resize:
    store = store_of(raw, *(one for one in (node,) if one), *objects, unread=unread)
    return resize(store, subject("Pod/p"), sent, EvaluationOptions(server or Server((1, 36))))


STORED = pod(box(requests=HALF, limits={"memory": "1Gi"}, resizePolicy=RESTART), box("log", requests={"cpu": "100m"}))
GUARANTEED = pod(box(limits=HALF), qos="Guaranteed")
LEVEL = pod(box(), resources={"limits": {"cpu": "1"}})
INIT = pod(box(requests=HALF), initContainers=[box("init", requests=HALF)])
MORE = patch(requests={"cpu": "3"})


@pytest.mark.parametrize(
    ("found", "message", "remedy"),
    [
        pytest.param(asked(STORED, patch(requests={"cpu": "1"})), "", "nothing to change", id="allowed"),
        pytest.param(asked(STORED, MORE, QUOTA), "exceeded quota: team, requested: requests.cpu=2500m",
                     "free 1500m of requests.cpu in quota team, or raise its hard to 3500m, or grow by at most 1",
                     id="quota"),
        pytest.param(asked(STORED, patch(requests={"cpu": "5"})), "cpu, requested: 5100, allocatable: 4000",
                     "ask for at most 4 of cpu in total, which is what n1 has, or make a new pod", id="node"),
        pytest.param(asked(STORED, MORE, node=None), 'node "n1" not found',
                     "wait until the pod has been removed with its node", id="no node"),
        pytest.param(asked(GUARANTEED, patch(requests={"cpu": "250m"})), "Pod QOS Class may not change",
                     "keep cpu and memory requests equal to the limits in every container", id="guaranteed"),
        pytest.param(asked(GUARANTEED, {"spec": {"resources": {"limits": {"cpu": "3"}}}}, node=ABLE),
                     "Pod QOS Class may not change",
                     "keep cpu and memory requests equal to the limits at the pod level", id="guaranteed, pod level"),
        pytest.param(asked(pod(box(), qos="BestEffort"), MORE), "Pod QOS Class may not change",
                     "make a new pod: change the template", id="best effort"),
        pytest.param(asked(pod(box(requests=HALF)), patch(requests=HALF, limits=HALF)), "Pod QOS Class may not change",
                     "leave at least one cpu or memory request below its limit", id="burstable"),
        pytest.param(asked(STORED, patch(limits={"memory": None})), "resource limits cannot be removed",
                     "lower the values of spec.containers[0].resources.limits instead", id="removed"),
        pytest.param(asked(STORED, patch(requests={"ephemeral-storage": "1Gi"})), "only cpu and memory",
                     "change cpu and memory only", id="storage"),
        pytest.param(asked(STORED, patch("new")), "containers may not be added or removed",
                     "name the containers that the pod has: app, log", id="another container"),
        pytest.param(asked(STORED, patch(requests={"cpu": "x"})), "quantities must match",
                     "write requests.cpu of container app as", id="no quantity"),
        pytest.param(asked(STORED, MORE, server=Server((1, 32))), "could not find the requested resource",
                     "make a new pod: change the template", id="1.32 has no resize"),
        pytest.param(asked(LEVEL, {"spec": {"resources": {"limits": {"cpu": "2"}}}}, node=ABLE), "",
                     "nothing to change", id="pod level"),
        pytest.param(asked(LEVEL, {"spec": {"resources": {"limits": {"cpu": "2"}}}}),
                     f'pod update requires features {GATES[0]} which are not available on node "n1"',
                     "resize containers and sidecars only: n1 does not declare", id="pod level, older node"),
        pytest.param(asked(LEVEL, {"spec": {"resources": {"limits": {"cpu": "2"}}}}, server=Server((1, 35))),
                     "resize of pods with pod-level resources is forbidden", "make a new pod", id="pod level in 1.35"),
        pytest.param(asked(INIT, patch("init", key="initContainers", requests={"cpu": "1"})), GATES[1],
                     "resize containers and sidecars only: n1 does not declare", id="init container, older node"),
        pytest.param(asked(INIT, patch("init", key="initContainers", requests={"cpu": "1"}), server=Server((1, 34))),
                     "resources for non-sidecar init containers are immutable", "leave plain init containers",
                     id="init container in 1.34"),
        pytest.param(asked(STORED, patch(limits={"cpu": "3"}), made("LimitRange", "l", spec={"limits": [
                         {"type": "Container", "max": {"cpu": "2"}}]})), "maximum cpu usage per Container is 2",
                     "set limits.cpu of container app to at most 2", id="a younger LimitRange"),
    ],
)  # fmt: skip
def test_verdict_and_remedy(found: Resize, message: str, remedy: str):
    assert found.verdict.allowed is (message == "")
    assert message in found.verdict.message
    assert next(iter(advised(found)), NOTHING).startswith(remedy), advised(found)


def test_changes_restarts_and_sums():
    found = asked(STORED, patch(requests={"cpu": "1"}, limits={"memory": "2Gi"}), QUOTA)
    assert [(one.container, one.resource, one.side, one.before, one.after, one.restart) for one in found.changes] == [
        ("app", "cpu", "requests", "500m", "1", False),
        ("app", "memory", "limits", "1Gi", "2Gi", True),
    ]
    assert found.restarts == ("app",)
    assert found.sums == (
        Sum("requests", "cpu", "600m", "1100m", "4"),
        Sum("requests", "memory", "256Mi", "256Mi", "8Gi"),
        Sum("limits", "memory", "1Gi", "2Gi"),
    )
    (charge,) = found.charges
    assert (charge.requested, charge.after) == ({"requests.cpu": "500m"}, {"requests.cpu": "1500m"})
    assert (found.qos, found.qos_after, found.node) == ("Burstable", "Burstable", "n1")


def test_the_class_that_it_would_be():
    found = asked(GUARANTEED, patch(requests={"cpu": "250m"}))
    assert (found.qos, found.qos_after) == ("Guaranteed", "Burstable")


def test_the_pod_level_comes_first_and_reaches_containers_without_limits():
    found = asked(LEVEL, {"spec": {"resources": {"limits": {"cpu": "2"}, "requests": {"cpu": "1500m"}}}}, node=ABLE)
    assert [(one.container, one.side, one.before, one.after) for one in found.changes] == [
        ("", "requests", "1", "1500m"),
        ("", "limits", "1", "2"),
        ("app", "limits", "1", "2"),
    ]


def test_what_is_not_known_is_supposed_and_said():
    found = asked(STORED, MORE, node=None, unread=("Node",), server=Server((1, 34)))
    assert found.verdict.allowed is True
    assert found.complete
    texts = [sentence_text(one.text) for one in found.assumptions]
    assert texts[0].startswith("node n1 is not known")
    assert texts[1].startswith("feature gate InPlacePodVerticalScaling is taken as on")


def test_nothing_changes():
    found = asked(STORED, {"spec": {"nodeName": "n2"}})
    assert (found.verdict.allowed, found.changes, found.ignored) == (True, (), ("spec.nodeName",))


def test_a_file_is_taken_as_stored():
    found = resize(store_of(NODE), subject("Pod/p", STORED, "p.yaml"), MORE, EvaluationOptions())
    assert found.verdict.allowed is True


def test_only_pods_that_are_there():
    with pytest.raises(UsageError, match="takes pods, not deployments"):
        resize(store_of(made("Deployment", "web", spec={})), subject("Deployment/web"), MORE, EvaluationOptions())
    with pytest.raises(NotFound, match='pods "p" not found'):
        resize(store_of(), subject("Pod/p"), MORE, EvaluationOptions())
