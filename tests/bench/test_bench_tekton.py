"""The bench's TaskRuns, their pods and the truth about both are what the project's engine computes from the Tasks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
from bench.made import keyed, objects, truth

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.new_pod import policies_of
from kubectl_kres.model.objects import ResourceQuota
from kubectl_kres.quantity import parse
from kubectl_kres.tekton.model import Task, TaskRun
from kubectl_kres.tekton.rules.base.config import TektonConfig
from kubectl_kres.tekton.rules.base.result import MissingReference
from kubectl_kres.tekton.rules.controller.resolve import Lookups
from kubectl_kres.tekton.rules.controller.taskrun import RunNamespace, RunResult, build_run_namespace, task_run


def answers(folder: Path, *, quotas: bool) -> dict[str, tuple[TaskRun, RunResult]]:
    """What becomes of each run of ci-runs, by its name."""

    def read(kind: str, struct: Any) -> list[Any]:
        raw = [one for one in objects(folder, kind) if one["metadata"]["namespace"] == "ci-runs"]
        return [msgspec.convert(one, struct) for one in raw]

    tasks = {one.metadata.name: one for one in read("tasks", Task)}
    held = read("resourcequotas", ResourceQuota) if quotas else []
    world = build_run_namespace(policies_of([], held), Server(), TektonConfig(), Lookups(tasks))
    return {run.metadata.name: (run, only(run, world)) for run in read("taskruns", TaskRun)}


def only(run: TaskRun, world: RunNamespace) -> RunResult:
    found = task_run(run, world, journal=False)
    assert not isinstance(found, MissingReference)
    (result,) = found
    return result


def containers(pod: Any) -> dict[str, Any]:
    return {one["name"]: one.get("resources") or {} for one in pod["spec"]["containers"]}


def test_the_pods_of_runs_have_what_their_tasks_say(folder: Path) -> None:
    pods, sums = keyed(objects(folder, "pods")), Counter[str]()
    found = answers(folder, quotas=False)
    for run, result in found.values():
        assert result.stored_run is not None
        computed = containers(result.stored_run)
        live = pods.get(f"ci-runs/{run.status.pod_name}")
        assert live is None or containers(live) == computed
        for one in computed.values():
            sums.update({name: parse(text).milli() for name, text in one.get("requests", {}).items()})
    told = truth(folder)["taskruns"]
    assert {name: str(value) for name, value in sums.items()} == told["requests"]
    assert len(found) == told["count"]


def test_a_run_that_waits_says_what_the_engine_says(folder: Path) -> None:
    waiting = 0
    for run, result in answers(folder, quotas=True).values():
        kept = (run.status.conditions or ())[0]
        if kept.reason == "ExceededResourceQuota":
            waiting += 1
            assert result.condition == (kept.status, kept.reason, kept.message)
    assert waiting
