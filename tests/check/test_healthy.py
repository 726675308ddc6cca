"""Nothing is found where nothing is wrong; one thing broken in such a cluster is found, and nothing else."""

from __future__ import annotations

import copy

import pytest
from check.healthy import cluster
from check.samples import of_objects

from kubectl_kres.render.text.sentences import sentence_text


@pytest.mark.parametrize("start", range(0, 200, 20))
def test_a_healthy_cluster_has_no_findings(start: int):
    for seed in range(start, start + 20):
        found = of_objects(cluster(seed))
        assert found == [], (seed, [(one.code, one.object.full_name, sentence_text(one.message)) for one in found])


def test_what_is_broken_in_a_healthy_cluster_is_found():
    """The seeds have a Deployment; a limit below its request makes the next pod of it, and of nothing else, refused."""
    tried = 0
    for seed in range(40):
        objects = copy.deepcopy(cluster(seed))
        deployment = next((one for one in objects if one["kind"] == "Deployment"), None)
        if deployment is None:
            continue
        tried += 1
        container = deployment["spec"]["template"]["spec"]["containers"][0]
        container["resources"]["limits"]["memory"] = "1Mi"
        found = of_objects(objects)
        assert {(one.code, one.object.name, one.object.namespace) for one in found} == {
            ("KRES102", deployment["metadata"]["name"], deployment["metadata"]["namespace"])
        }
    assert tried > 10
