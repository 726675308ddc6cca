"""A workload is found to lack pods exactly where the simulation of its scaling ends without all of them."""

from __future__ import annotations

import copy
import random
from typing import Any

from check.healthy import cluster
from check.samples import of_objects
from reports.stored import store_of

from kubectl_kres.admission.base.server import Server
from kubectl_kres.reports.changes.compare import report
from kubectl_kres.simulate.change import PlacedStep, ScaleStep
from kubectl_kres.simulate.cluster import simulate_steps

Raw = dict[str, Any]


def narrowed(objects: list[Raw], rng: random.Random) -> tuple[Raw, int] | None:
    """Some StatefulSet, and how many pods it is to have, with a quota that has room for some more; None: there is none.

    The quota is narrowed in place.
    """
    sets = [one for one in objects if one["kind"] == "StatefulSet"]
    for one in sets:
        space = one["metadata"]["namespace"]
        for quota in objects:
            counted = quota["kind"] == "ResourceQuota" and quota["metadata"].get("namespace") == space
            if counted and "scopeSelector" not in quota["spec"]:
                used = quota["status"]["used"]
                hard = {**quota["spec"]["hard"], "pods": str(int(used["pods"]) + rng.randint(0, 3))}
                if "requests.cpu" in used:
                    hard["requests.cpu"] = f"{int(used['requests.cpu'].removesuffix('m')) + rng.randint(0, 1500)}m"
                quota["spec"]["hard"] = quota["status"]["hard"] = hard
                return one, one["spec"]["replicas"] + rng.randint(1, 3)
    return None


def with_sets(objects: list[Raw]) -> list[Raw]:
    """The cluster with StatefulSets alone: its Deployments have no ReplicaSets, which a simulation would make."""
    found = copy.deepcopy(objects)
    for one in found:
        one["kind"] = "StatefulSet" if one["kind"] == "Deployment" else one["kind"]
        for owner in one["metadata"].get("ownerReferences", ()):
            owner["kind"] = "StatefulSet"
    return found


def lacks_by_check(objects: list[Raw], name: str, space: str, replicas: int) -> bool:
    """In the cluster where the controller has tried: the spec asks for more than there are."""
    scaled = copy.deepcopy(objects)
    for one in scaled:
        if (one["kind"], one["metadata"]["name"], one["metadata"].get("namespace")) == ("StatefulSet", name, space):
            one["spec"]["replicas"] = replicas
    return any(
        (one.code, one.object.name, one.object.namespace) == ("KRES101", name, space) for one in of_objects(scaled)
    )


def lacks_by_simulation(objects: list[Raw], name: str, space: str, replicas: int) -> bool:
    steps = [PlacedStep(ScaleStep("StatefulSet", name, replicas), space)]
    found = report(simulate_steps(store_of(*objects), steps, Server(), (space,)))
    [change] = [one for one in found.workloads if one.subject.name == name]
    assert change.after is not None
    return change.after.pods < replicas


def test_check_and_simulate_agree():
    answers = []
    for seed in range(120):
        rng, objects = random.Random(f"narrow/{seed}"), with_sets(cluster(seed))
        found = narrowed(objects, rng)
        if found is None:
            continue
        one, replicas = found
        asked = objects, one["metadata"]["name"], one["metadata"]["namespace"], replicas
        lacks = lacks_by_check(*asked)
        assert lacks == lacks_by_simulation(*asked), (seed, asked[1:])
        answers.append(lacks)
    assert answers.count(True) > 10 and answers.count(False) > 10, answers
