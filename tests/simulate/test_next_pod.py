"""The pod that takes the place of a deleted one, of the template that its maker would use, and what rollouts leave."""

from __future__ import annotations

from typing import Any

import pytest
from simulate.samples import play, quota, workload

from kubectl_kres.simulate.change import Apply, Patch, ScaleStep, Step
from kubectl_kres.simulate.final_states import FinalWorkload
from kubectl_kres.simulate.next_rollout import NextPodAnswer, next_pods


def sized(kind: str, name: str, cpu: str) -> Step:
    containers = [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]
    return Patch(kind, name, {"spec": {"template": {"spec": {"containers": containers}}}})


def after(hard: str, item: dict[str, Any], *steps: Step) -> tuple[NextPodAnswer, FinalWorkload]:
    namespace, states, ends = play(steps, given=[Apply(quota(requests_cpu=hard)), Apply(item)])
    [following], [end] = next_pods(namespace, states[0]), ends[0].workloads
    return following, end


def cpu(following: NextPodAnswer) -> str:
    return str(following.stored[0]["containers"][0]["resources"]["requests"]["cpu"])


def test_a_paused_deployment_makes_pods_of_the_old_template():
    paused = Patch("Deployment", "w", {"spec": {"paused": True}})
    item = workload("Deployment", "w", "100m", 3)
    following, end = after("450m", item, paused, sized("Deployment", "w", "1"), ScaleStep("Deployment", "w", 5))
    assert (cpu(following), following.messages) == ("100m", ())
    assert (end.pods, end.updated, end.behind) == (4, 0, 0)


@pytest.mark.parametrize(("partition", "used", "behind"), [(0, "250m", 1), (2, "250m", 0), (3, "100m", 0)])
def test_pods_below_a_partition_stay_and_are_made_anew_as_they_were(partition: int, used: str, behind: int):
    strategy = {"rollingUpdate": {"partition": partition}}
    item = workload("StatefulSet", "w", "100m", 3, updateStrategy=strategy)
    following, end = after("500m", item, sized("StatefulSet", "w", "250m"))
    assert (cpu(following), following.messages, end.behind) == (used, (), behind)


def test_what_updates_on_delete_does_not_stall_and_is_made_anew_as_written():
    item = workload("StatefulSet", "w", "100m", 3, updateStrategy={"type": "OnDelete"})
    following, end = after("500m", item, sized("StatefulSet", "w", "250m"))
    assert (cpu(following), end.pods, end.behind) == ("250m", 3, 0)
