"""Pods that are alike are summed up once, and each counts as it would by itself."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.quota.quota_admission import PodRequests, pod_request
from kubectl_kres.model.objects import ScopedRequirement
from kubectl_kres.model.pod import Pod

SERVER, NOW = Server(), datetime(2026, 1, 1, tzinfo=UTC)
SCOPES = ("Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass")
_CPU: dict[str, Any] = {"requests": {"cpu": "100m"}}


def pod(name: str, *, spec: dict[str, Any] | None = None, metadata: Any = None, **status: Any) -> Pod:
    spec = {"containers": [{"name": "app", "resources": _CPU}], **(spec or {})}
    metadata = {"name": name, "namespace": "shop", **(metadata or {})}
    return msgspec.convert({"metadata": metadata, "spec": spec, "status": status}, Pod)


PODS = (
    pod("a"),
    pod("b"),
    pod("ended", phase="Succeeded"),
    pod("resized", containerStatuses=[{"name": "app", "resources": {"requests": {"cpu": "1"}}}]),
    pod(
        "infeasible",
        containerStatuses=[{"name": "app", "resources": {"requests": {"cpu": "10m"}}}],
        conditions=[{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}],
    ),
    pod("deadline", spec={"activeDeadlineSeconds": 5}),
    pod("ranked", spec={"priorityClassName": "high"}),
    pod("heavy", spec={"overhead": {"cpu": "50m"}}),
    pod("whole", spec={"resources": {"requests": {"cpu": "2"}}}),
    pod("initial", spec={"initContainers": [{"name": "i", "resources": {"requests": {"cpu": "3"}}}]}),
    pod("classed", qosClass="Guaranteed"),
    pod("best", spec={"containers": [{"name": "app"}]}),
    pod("going", metadata={"deletionTimestamp": "2025-12-31T00:00:00Z", "deletionGracePeriodSeconds": 30}),
)


def test_each_counts_as_it_would_by_itself():
    alike = PodRequests(SERVER, NOW)
    for one in (*PODS, *reversed(PODS)):
        found, alone = alike.request_of(one), pod_request(one, SERVER, now=NOW)
        assert (found.name, found.usage, found.containers) == (alone.name, alone.usage, alone.containers)
        for scope in SCOPES:
            for operator in ("Exists", "DoesNotExist"):
                required = ScopedRequirement(scope_name=scope, operator=operator)
                assert found.in_scope(required) == alone.in_scope(required), (one.metadata.name, scope)


def test_a_name_that_is_no_text_has_its_sum_too():
    odd = pod("x", spec={"containers": [{"name": "\ud800", "resources": _CPU}]})
    assert PodRequests(SERVER).request_of(odd).usage == pod_request(PODS[0], SERVER).usage


def test_what_no_server_would_have_stored_is_said_each_time():
    broken, alike = pod("x", spec={"overhead": {"cpu": "many"}}), PodRequests(SERVER)
    for _ in range(2):
        with pytest.raises(Unparsable):
            alike.request_of(broken)
