"""Versions, feature gates and disabled plugins: what they change in an answer."""

from __future__ import annotations

import pytest
from admission.samples import container, limit_range, one, pod, policies, quota, values

from kubectl_kres.admission.base.server import LimitedResource, Server
from kubectl_kres.admission.base.versions import GATES, nearest_version
from kubectl_kres.admission.pod.aggregate import sum_pod

BOUNDS = limit_range("bounds", {"max": {"cpu": "1"}})
FULL = quota("full", {"pods": "0"})


@pytest.mark.parametrize(
    ("disabled", "ranges", "quotas", "code", "filled"),
    [
        ((), [BOUNDS], [FULL], 403, {"containers[0].limits[cpu]": "1", "containers[0].requests[cpu]": "1"}),
        (("LimitRanger",), [BOUNDS], [], 201, {}),
        (("ResourceQuota",), [], [FULL], 201, {}),
        (("LimitRanger", "ResourceQuota"), [BOUNDS], [FULL], 201, {}),
        (("LimitRanger",), [BOUNDS], [FULL], 403, {}),
    ],
)
def test_disabled_plugins(disabled, ranges, quotas, code, filled):
    outcome = one(pod(), policies(ranges, quotas), Server(disabled_plugins=frozenset(disabled)))
    assert (outcome.code, values(outcome)) == (code, filled)


def test_without_the_plugin_bounds_are_not_checked():
    given = pod(container(limits={"cpu": "2"}))
    assert one(given, policies([BOUNDS])).code == 403
    assert one(given, policies([BOUNDS]), Server(disabled_plugins=frozenset({"LimitRanger"}))).allowed


@pytest.mark.parametrize(
    ("version", "gates", "pod_level", "sidecar"),
    [
        pytest.param((1, 27), {}, False, False, id="1.27: neither exists"),
        pytest.param((1, 27), {"SidecarContainers": True, "PodLevelResources": True}, False, False, id="nor can be on"),
        pytest.param((1, 28), {"SidecarContainers": True}, False, True, id="1.28: sidecars by choice"),
        pytest.param((1, 29), {"SidecarContainers": False}, False, False, id="1.29: or not"),
        pytest.param((1, 33), {"SidecarContainers": False}, False, True, id="1.33: sidecars for good"),
        pytest.param((1, 33), {"PodLevelResources": True}, True, True, id="1.33: pod level by choice"),
        pytest.param((1, 36), {}, True, True, id="1.36: both"),
        pytest.param((1, 36), {"PodLevelResources": False}, False, True, id="1.36: pod level may be off"),
    ],
)
def test_gates_change_the_pods_figure(version, gates, pod_level, sidecar):
    """The pod level says 5; without it the app's 1 runs beside the sidecar's 2, or alone after it."""
    init = container("proxy", requests={"cpu": "2"}, restartPolicy="Always")
    given = pod(container(requests={"cpu": "1"}), initContainers=[init], resources={"requests": {"cpu": "5"}})
    outcome = one(given, server=Server(version, gates))
    expected = "5" if pod_level else "3" if sidecar else "2"
    assert str(sum_pod(outcome.draft, "requests")["cpu"]) == expected
    [stored] = outcome.object["spec"]["initContainers"]
    assert ("restartPolicy" in stored) is sidecar


def test_a_pod_level_that_is_dropped_is_recorded():
    given = pod(resources={"limits": {"cpu": "0.5"}, "requests": {"cpu": "500m"}})
    outcome = one(given, server=Server((1, 33)))
    assert [(entry.path, entry.rule, entry.before, entry.after) for entry in outcome.journal[:3]] == [
        ("spec.resources.limits[cpu]", "quantity/canonical", "0.5", "500m"),
        ("spec.resources.limits[cpu]", "pod-level/dropped", "500m", None),
        ("spec.resources.requests[cpu]", "pod-level/dropped", "500m", None),
    ]
    assert "resources" not in outcome.object["spec"]


@pytest.mark.parametrize("gate", GATES)
def test_a_gate_is_off_before_it_exists_and_has_a_default_later(gate):
    known = GATES[gate]
    assert not Server((1, known.exists - 1), {gate: True}).is_enabled(gate)
    assert Server((1, known.exists), {gate: True}).is_enabled(gate)
    assert Server((1, known.on)).is_enabled(gate)
    assert known.exists == known.on or not Server((1, known.on - 1)).is_enabled(gate)
    if known.locked is not None:
        assert Server((1, known.locked), {gate: False}).is_enabled(gate)
    assert known.locked is None or not Server((1, known.locked - 1), {gate: False}).is_enabled(gate)


def test_a_gate_is_off_without_what_it_needs():
    server = Server((1, 37), {"PodLevelResources": False, "PodLevelResourcesFixDefaulting": True})
    assert not server.is_enabled("PodLevelResourcesFixDefaulting")


@pytest.mark.parametrize(
    ("text", "used", "supposed"),
    [
        ("v1.34.2-gke.100", (1, 34), False),
        ("1.27", (1, 27), False),
        ("v1.36.3+k3s1", (1, 36), False),
        ("v1.26.0", (1, 27), True),
        ("v1.41.0", (1, 37), True),
        ("", (1, 37), True),
        ("latest", (1, 37), True),
    ],
)
def test_the_nearest_version_is_used_and_said(text, used, supposed):
    version, said = nearest_version(text)
    assert (version, bool(said)) == (used, supposed)


def test_limited_resources_need_a_quota_that_names_them():
    server = Server(limited_resources=(LimitedResource("pods", match_contains=("memory",)),))
    given = pod(container(requests={"memory": "1Gi"}))
    held = policies(quotas=[quota("q", {"pods": "9"})])
    assert one(given, held, server).message == (
        'pods "p" is forbidden: insufficient quota to consume: memory,requests.memory'
    )
    covering = policies(quotas=[quota("q", {"memory": "9Gi", "requests.memory": "9Gi"})])
    assert one(given, covering, server).allowed
    assert one(pod(), held, server).allowed
