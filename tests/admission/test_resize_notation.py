"""A node that does not resize plain init containers refuses also a change of nothing but how a value is written."""

from __future__ import annotations

import msgspec
import pytest

from kubectl_kres.admission.create import policies_of
from kubectl_kres.admission.resize import resize
from kubectl_kres.admission.server import Server
from kubectl_kres.model.node import Node
from kubectl_kres.model.pod import Pod

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
    """Recorded: a real server (v1.36.3) refuses 0.01 for 10m. The cpu is there so that something changes at all."""
    node = msgspec.convert(NODE, Node)
    answers = resize(pod(old, "1", restart), pod(new, "2", restart), policies_of((), ()), Server(), node=node)
    assert [one.code for one in answers] == [403 if refused and restart is None else 200]
