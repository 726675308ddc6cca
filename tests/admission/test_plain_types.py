"""The quick look at the types of an object accepts nothing that the close one faults."""

from __future__ import annotations

import copy
import random
from typing import Any

from kubectl_kres.admission import decoding

CASES = 3_000
DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "labels": {"app": "web"}},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 1}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {
                "terminationGracePeriodSeconds": 30,
                "hostNetwork": False,
                "containers": [
                    {
                        "name": "main",
                        "image": "web:1",
                        "args": ["--port", "80"],
                        "ports": [{"containerPort": 80}],
                        "env": [{"name": "MODE", "value": "prod"}],
                        "resources": {"requests": {"cpu": "1"}},
                    }
                ],
            },
        },
    },
}
OTHERS = [None, 1, "x", True, [], {}, [1], ["a"], {"a": "b"}, {"a": 1}, 2**40, -1, 1.5, [None], {"a": None}]


def _spoiled(choose: random.Random) -> dict[str, Any]:
    """The object with another value in one place."""
    result = copy.deepcopy(DEPLOYMENT)
    node: Any = result["spec"]
    while True:
        key = choose.choice(list(node)) if isinstance(node, dict) else choose.randrange(len(node))
        if not node[key] or not isinstance(node[key], dict | list) or choose.random() < 0.2:
            node[key] = choose.choice(OTHERS)
            return result
        node = node[key]


def test_what_is_plain_has_no_fault():
    choose, plain = random.Random(3), 0
    for _ in range(CASES):
        raw = _spoiled(choose)
        if decoding._is_well_typed(raw, "Deployment"):
            plain += 1
            assert next(decoding._object_mismatches(raw, "Deployment", "", ""), None) is None, raw
    assert CASES / 50 < plain < CASES
