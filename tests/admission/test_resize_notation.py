"""A node that does not resize plain init containers refuses also a change of nothing but how a value is written."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from admission.samples import limit_range

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.new_pod import policies_of
from kubectl_kres.admission.resize import resize
from kubectl_kres.model.pod import Node, Pod

NODE = {"metadata": {"name": "old"}, "status": {"allocatable": {"cpu": "8", "memory": "8Gi"}, "declaredFeatures": []}}


def pod(value: str, other: str, restart: str | None) -> Pod:
    init = {"name": "i", "resources": {"requests": {"memory": value}}, "restartPolicy": restart}
    containers = [{"name": "c", "resources": {"requests": {"cpu": other}}}]
    spec = {"nodeName": "old", "initContainers": [init], "containers": containers}
    return msgspec.convert({"metadata": {"name": "p"}, "spec": spec}, Pod)


@pytest.mark.parametrize(
    ("old", "new", "refused"),
    [
        ("10m", "0.01", True),
        ("10m", "010m", True),
        ("1Mi", "1024Ki", True),
        ("8Mi", "8192Ki", False),
        ("1Mi", "1Mi", False),
        ("1Mi", " 1Mi ", False),
        ("1", "1000m", True),
        ("1m", "1u", True),
        ("1Mi", "2Mi", True),
    ],
)
@pytest.mark.parametrize("restart", [None, "Always"])
def test_a_value_written_otherwise(old: str, new: str, refused: bool, restart: str | None) -> None:
    """Found by the differential, on a server v1.36.3: it refuses 0.01 for 10m. Without the cpu nothing would change."""
    node = msgspec.convert(NODE, Node)
    answers = resize(pod(old, "1", restart), pod(new, "2", restart), policies_of((), ()), Server(), node=node)
    assert [one.code for one in answers] == [403 if refused and restart is None else 200]


@pytest.mark.parametrize(
    ("resources", "bounded", "code"),
    [
        ({"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}, False, 200),
        ({"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}, True, 200),
        ({"requests": {"cpu": "1"}}, False, 200),
        ({"requests": {"cpu": "1"}}, True, 403),
        ({"requests": {"cpu": "1"}, "limits": {}}, False, 403),
        ({}, False, 200),
        ({}, True, 403),
        ({"requests": {}}, False, 403),
        ({"limits": None}, False, 200),
    ],
)
def test_an_empty_side_is_not_an_absent_one(resources: dict[str, Any], bounded: bool, code: int) -> None:
    """Found by the differential, on a server v1.36.3: LimitRanges leave empty sides where there was none."""
    ranges = [limit_range("lr", {"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}})] if bounded else []

    def written(cpu: str, init: dict[str, Any]) -> Pod:
        inits = [{"name": "i", "resources": init}]
        containers = [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]
        spec = {"nodeName": "old", "initContainers": inits, "containers": containers}
        return msgspec.convert({"metadata": {"name": "p"}, "spec": spec}, Pod)

    kept = {side: values for side, values in resources.items() if values}
    node = msgspec.convert(NODE, Node)
    answers = resize(written("1", kept), written("2", resources), policies_of(ranges, ()), Server(), node=node)
    assert [one.code for one in answers] == [code]
