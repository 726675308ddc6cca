"""What makes room for the claims of workspaces: a smaller claim, a larger quota, ended runs that are deleted."""

from __future__ import annotations

from typing import Any

from reports.runs import step, task
from reports.stored import made, store_of, subject

from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.reports.common.remedy import DeleteObject, Remedy
from kubectl_kres.reports.explain.explain import explain

ENDED = {"conditions": [{"type": "Succeeded", "status": "True"}], "completionTime": "2026-11-20T01:00:00Z"}


def claim(size: str) -> dict[str, Any]:
    return {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}


def owned(run: str, size: str, day: int, status: Any = None) -> list[dict[str, Any]]:
    """A PipelineRun that ended, or is as the status says, and its claim."""
    owner = {"kind": "PipelineRun", "name": run, "controller": True}
    time = f"2026-11-{day}T00:00:00Z"
    return [
        made("PipelineRun", run, spec={}, status=ENDED if status is None else status),
        made("PersistentVolumeClaim", f"pvc-{run}", spec=claim(size), ownerReferences=[owner], creationTimestamp=time),
    ]


def quota(name: str, hard: dict[str, str], used: dict[str, str]) -> dict[str, Any]:
    return made("ResourceQuota", name, spec={"hard": hard}, status={"hard": hard, "used": used})


def found(size: str, *objects: Any) -> tuple[Remedy, ...]:
    source = {"name": "src", "volumeClaimTemplate": {"spec": claim(size)}}
    run = made("TaskRun", "r", spec={"taskRef": {"name": "build"}, "workspaces": [source]})
    build = task("build", step("a"), workspaces=[{"name": "src"}])
    asked = EvaluationOptions(now="2026-11-20T03:10:00Z")
    return explain(store_of(build, run, *objects), subject("TaskRun/r"), asked).fixes


def deleted(remedies: tuple[Remedy, ...]) -> list[list[str]]:
    """The runs that each remedy deletes, of those that delete any."""
    named = ([edit.object.name for edit in it.edits if isinstance(edit, DeleteObject)] for it in remedies)
    return [names for names in named if names]


def test_as_few_of_the_oldest_ended_runs_are_deleted_as_are_enough():
    full = quota("disks", {"requests.storage": "10Gi"}, {"requests.storage": "9Gi"})
    old = [*owned("one", "2Gi", 11), *owned("two", "3Gi", 12), *owned("three", "4Gi", 13)]
    (way,) = [it for it in found("6Gi", full, *old) if deleted((it,))]
    assert deleted((way,)) == [["one", "two"]]
    assert way.proven
    assert sentence_text(way.text) == (
        "delete PipelineRun/one and PipelineRun/two, which have ended and still have claims: a claim lives as long as "
        "the run that it was made for, and its data goes with it, then start a new run"
    )
    assert way.commands == ("kubectl delete pipelinerun one -n ns", "kubectl delete pipelinerun two -n ns")


def test_a_run_whose_claim_holds_too_little_is_left_out():
    full = quota("disks", {"requests.storage": "10Gi"}, {"requests.storage": "10Gi"})
    old = [*owned("one", "1Gi", 11), *owned("two", "6Gi", 12)]
    assert deleted(found("6Gi", full, *old)) == [["two"]]


def test_runs_that_go_on_or_hold_too_little_together_are_not_deleted():
    full = quota("disks", {"requests.storage": "10Gi"}, {"requests.storage": "10Gi"})
    going = owned("going", "9Gi", 11, {"conditions": [{"type": "Succeeded", "status": "Unknown"}]})
    assert deleted(found("6Gi", full, *going, *owned("one", "1Gi", 12))) == []


def test_what_is_deleted_makes_room_in_every_quota_that_is_short():
    full = quota("disks", {"requests.storage": "10Gi"}, {"requests.storage": "8Gi"})
    many = quota("many", {"persistentvolumeclaims": "2"}, {"persistentvolumeclaims": "2"})
    old = [*owned("one", "1Gi", 11), *owned("two", "1Gi", 12)]
    assert deleted(found("3Gi", full, many, *old)) == [["one"]]
    assert deleted(found("4Gi", full, many, *old)) == [["one", "two"]]
    assert deleted(found("5Gi", full, many, *old)) == []


def test_an_ended_run_does_not_help_where_a_limit_range_refuses_the_claim_too():
    full = quota("disks", {"requests.storage": "10Gi"}, {"requests.storage": "9Gi"})
    bound = made("LimitRange", "sizes", spec={"limits": [{"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}}]})
    ways = found("4Gi", full, bound, *owned("one", "8Gi", 11))
    assert ways
    assert deleted(ways) == []
