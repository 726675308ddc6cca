"""The runner itself: whatever a recording asks, it goes on."""

from __future__ import annotations

from conformance import tekton_live
from conformance.cases import Case
from conformance.systems import judge


def test_what_a_play_cannot_express_is_a_failure():
    case = Case("tekton", "made-up", {"name": "x", "setup": [{"kind": 7}], "steps": "none"}, {})
    assert judge(case).faults


def test_an_affinity_assistant_races_with_the_tasks_for_a_quota():
    """Either may win (edges A6): the answer is the set of both."""
    run = {
        "apiVersion": "tekton.dev/v1",
        "kind": "PipelineRun",
        "metadata": {"name": "pr", "namespace": "case"},
        "spec": {
            "workspaces": [{"name": "w", "persistentVolumeClaim": {"claimName": "c"}}],
            "pipelineSpec": {
                "workspaces": [{"name": "w"}],
                "tasks": [{"name": "a", "taskSpec": {"steps": [{"name": "s", "image": "i"}]}}],
            },
        },
    }
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "one", "namespace": "case"}}
    given = {"pipelineRun": run, "quotas": [{**quota, "spec": {"hard": {"pods": "1"}}}]}
    ways = tekton_live.play({"given": given, "expect": {}}, {})
    winners = {
        (one["taskRuns"]["pr-a"]["condition"]["reason"], "failedCreate" in one["statefulSets"][0]) for one in ways
    }
    assert winners == {("ExceededResourceQuota", False), ("Pending", True)}


def test_a_taskrun_that_a_quota_refuses_leaves_the_pipelinerun_started():
    steps = {"taskSpec": {"steps": [{"name": "s", "image": "i"}]}}
    run = {
        "apiVersion": "tekton.dev/v1",
        "kind": "PipelineRun",
        "metadata": {"name": "pr", "namespace": "case"},
        "spec": {"pipelineSpec": {"tasks": [{"name": "a", **steps}, {"name": "b", **steps}]}},
    }
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "one", "namespace": "case"}}
    given = {"pipelineRun": run, "quotas": [{**quota, "spec": {"hard": {"count/taskruns.tekton.dev": "1"}}}]}
    (way,) = tekton_live.play({"given": given, "expect": {}}, {})
    assert way["pipelineRun"]["condition"] == {"status": "Unknown", "reason": "Started", "message": ""}
    assert [*way["taskRuns"]] == ["pr-a"]
