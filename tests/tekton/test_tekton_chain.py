"""The chain from a run to its pod, where the recordings do not tell: sources, remarks, sizes, versions."""

from __future__ import annotations

import hashlib

import pytest
from tekton.made import (
    built,
    config,
    limit_range,
    problem,
    quota,
    resources,
    results,
    step,
    submitted,
    taskrun,
    world,
)

from kubectl_kres.model.objects import ManagedMetadata, Namespace
from kubectl_kres.provenance.journal import Assumption, Derive, Set
from kubectl_kres.tekton.rules.controller.taskrun import task_run

CPU = "spec.containers[0].resources.requests[cpu]"


def told(run, around=None, path=CPU):
    """Rule, value before and after, source of the steps of one value."""
    return [
        (entry.rule, entry.before, entry.after, f"{entry.source.kind}/{entry.source.name} {entry.source.field}")
        for entry in built(run, around).journal
        if isinstance(entry, Set) and entry.path == path
    ]


def test_each_step_of_a_value_names_its_rule_and_source():
    run = taskrun(
        [step("a", {"cpu": "1"}), step("b")],
        stepSpecs=[{"name": "b"}, {"name": "a", "computeResources": resources({"cpu": "2"})}],
    )
    assert told(run) == [
        ("tekton/step", None, "1", "TaskRun/run spec.taskSpec.steps[0].computeResources.requests[cpu]"),
        ("tekton/step-spec", "1", "2", "TaskRun/run spec.stepSpecs[1].computeResources.requests[cpu]"),
    ]


def test_a_task_level_request_names_the_division_and_what_is_lost():
    run = taskrun(
        [step("a", {"cpu": "9", "memory": "1Gi"}), step("b"), step("c")], computeResources=resources({"cpu": "1"})
    )
    assert told(run)[1] == ("tekton/task-level-request", "9", "333m", "TaskRun/run spec.computeResources.requests[cpu]")
    assert told(run, path="spec.containers[0].resources.requests[memory]")[1][:3] == (
        "tekton/task-level-dropped",
        "1Gi",
        None,
    )
    (division,) = [entry for entry in built(run).journal if isinstance(entry, Derive) and entry.path == CPU]
    assert [(term.path, term.value, term.kept) for term in division.terms] == [
        ("spec.computeResources.requests[cpu] 1 / 3 steps", "333m", True),
        ("lost in the division", "1m", False),
    ]


def test_a_share_names_the_limit_range_that_decides():
    around = world(
        limit_range("a", defaultRequest={"cpu": "1"}, min={"cpu": "100m"}),
        limit_range("b", defaultRequest={"cpu": "2"}, min={"cpu": "300m"}),
    )
    assert told(taskrun([step("a"), step("b")]), around) == [
        ("tekton/limitrange-share", None, "500m", "LimitRange/a spec.limits[0].defaultRequest[cpu]")
    ]
    assert told(taskrun([step(name) for name in "abcd"]), around) == [
        ("tekton/limitrange-share", None, "300m", "LimitRange/b spec.limits[0].min[cpu]")
    ]


def test_config_defaults_name_their_entry():
    around = world(settings=config({"default": resources({"cpu": "1"}), "prefix-step": resources({"cpu": "2"})}))
    key = "ConfigMap/config-defaults default-container-resource-requirements"
    assert told(taskrun(), around) == [("tekton/config-default-prefix", None, "2", f"{key}[prefix-step].requests[cpu]")]
    assert told(taskrun(), around, "spec.initContainers[0].resources.requests[cpu]") == [
        ("tekton/config-default", None, "1", f"{key}[default].requests[cpu]")
    ]


def test_one_journal_goes_on_to_what_the_server_stores():
    (one,) = results(taskrun([step("a"), step("b")]), world(limit_range("a", default={"cpu": "2"})))
    rules = [
        entry.rule for entry in one.journal if isinstance(entry, Set) and entry.path.startswith("spec.containers[0]")
    ]
    assert rules == ["tekton/limitrange-share", "limitrange/default"]
    assert one.stored_run["spec"]["containers"][0]["resources"] == {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}
    assert one.condition == ("Unknown", "Pending", "Pending")


def test_competing_prefixes_are_all_tried():
    entries = {"prefix-step": resources({"cpu": "1"}), "prefix-step-a": resources({"cpu": "2"})}
    run = taskrun([step("a-b"), step("c")])
    found = {
        one.stored_run["spec"]["containers"][0]["resources"]["requests"]["cpu"]
        for one in results(run, world(settings=config(entries)))
    }
    assert found == {"1", "2"}


def test_many_competing_prefixes_end():
    name = "-".join("abcdefgh")
    entries = {f"prefix-step-{name[:length]}": resources({"cpu": str(length)}) for length in range(1, len(name), 2)}
    found = results(taskrun([step(f"{name}-x")]), world(settings=config(entries)))
    assert len(found) == len(entries)


def test_hundreds_of_steps():
    steps = [step(f"s{index}", {"memory": "1Mi"}) for index in range(500)]
    (one,) = results(
        taskrun(steps), world(limit_range("a", defaultRequest={"cpu": "1"}), quota("q", {"requests.cpu": "9"}))
    )
    assert one.stored_run["spec"]["containers"][499]["resources"] == {"requests": {"cpu": "2m", "memory": "1Mi"}}


@pytest.mark.parametrize(
    ("version", "amounts"),
    [("v1.12.2", {}), ("v1.13.0", resources(*[{"cpu": "10m", "memory": "32Mi"}] * 2)), ("x", {})],
)
def test_one_version_gave_its_own_containers_values(version, amounts):
    assert submitted(taskrun(), world(settings=config(info=version)))["prepare"] == amounts


def test_names_are_cut_and_runs_numbered():
    run = taskrun([step("x" * 61 + "-y"), {"name": ""}], name="r" * 60, status={"retriesStatus": [{}, {}]})
    pod = built(run).pod
    assert [one.name for one in pod.spec.containers] == ["step-" + "x" * 58, "step-unnamed-1"]
    digest = hashlib.md5(b"r" * 60, usedforsecurity=False).hexdigest()
    assert pod.metadata.name == f"{'r' * 20}{digest}-pod-retry2"


@pytest.mark.parametrize(
    ("path", "added"),
    [("sub", True), ("/workspace/x", True), ("/workspace", False), ("//workspace/x", True), ("/a/../workspace/x", True),
     ("/workspaces", False), ("/", False), ("", False), ("$(params.dir)", True)],
)  # fmt: skip
def test_working_directories_that_are_made(path, added):
    assert ("working-dir-initializer" in submitted(taskrun([step("a", workingDir=path)]))) == added
    assert ("working-dir-initializer" in submitted(taskrun(template={"workingDir": path}))) == added


@pytest.mark.parametrize(
    ("timeout", "deadline"),
    [(None, 5400), ("10m", 900), ("0", 2147483647), ("0s", 2147483647), ("1h0m0s", 5400), ("1.5s", 2), ("soon", 5400)],
)
def test_deadlines(timeout, deadline):
    assert built(taskrun(timeout=timeout)).pod.spec.active_deadline_seconds == deadline


def test_flags_of_the_run_itself_win():
    flags = {"provenance": {"featureFlags": {"resultExtractionMethod": "sidecar-logs", "enableAPIFields": "beta"}}}
    run = taskrun([{"name": "a", "script": "cat $(step.artifacts.path)"}], status=flags)
    assert "sidecar-tekton-log-results" in submitted(run)
    assert "sidecar-tekton-log-results" not in submitted(taskrun([{"name": "a", "script": "$(step.artifacts.path)"}]))
    named = world(settings=config(enable_kubernetes_sidecar="true"))
    assert [one.name for one in built(taskrun(sidecars=[{"name": "db"}]), named).pod.spec.init_containers] == [
        "prepare",
        "sidecar-db",
    ]
    again = taskrun(sidecars=[{"name": "db"}], status=flags)
    assert [one.name for one in built(again, named).pod.spec.init_containers] == ["prepare"]


def test_pod_security_is_answered_for_pods_that_say_nothing():
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    space = Namespace(ManagedMetadata(name="ns", labels=labels))
    full = quota("q", {"pods": "0"})
    assert problem(taskrun(), world(full, namespace=space)).reason == "PodAdmissionFailed"
    assert (
        problem(taskrun([step("a", {"cpu": "2"})]), world(limit_range("l", max={"cpu": "1"}), namespace=space)).reason
        == "PodCreationFailed"
    )
    own = taskrun([{"name": "a", "securityContext": {"runAsNonRoot": True}}])
    assert 'runAsNonRoot != true (pod or container "prepare" must set' in problem(own, world(namespace=space)).message
    hidden = taskrun([{"name": "a", "securityContext": {"hidden": True}}])
    (one,) = results(hidden, world(namespace=space, settings=config(set_security_context="true")))
    assert one.problem is None
    assert [entry.code for entry in one.journal if isinstance(entry, Assumption)] == ["tekton/pod-security-unknown"]


def test_a_pod_that_is_counted_already_fits():
    full = quota("q", {"pods": "1"}, {"pods": "1"})
    assert problem(taskrun(), world(full)).requeue_seconds == 60
    (one,) = task_run(taskrun(), world(full), counted=True)
    assert one.problem is None


def test_a_template_for_all_runs():
    around = world(settings=config(default_pod_template="runtimeClassName: kata\npriorityClassName: low\n"))
    assert built(taskrun(), around).pod.spec.runtime_class_name == "kata"
    own = built(taskrun(podTemplate={"runtimeClassName": "runc"}), around).pod.spec
    assert (own.runtime_class_name, own.priority_class_name) == ("runc", "low")


def test_a_bad_quantity_in_an_object_that_no_webhook_has_seen():
    assert problem(taskrun([step("a", {"cpu": "$(params.cpu)"})])).message.startswith(
        "mutation failed: cannot decode incoming new object: quantities must match"
    )
