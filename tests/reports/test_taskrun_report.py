"""What is said of TaskRuns and Tasks: values, condition, waiting, remedies, what is missing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from reports.runs import BUSY, LIMITS, WAITS, config, info, run, step, task
from reports.stored import advised, made, owned_by, store_of, subject

from kubectl_kres.errors import ClusterError, Forbidden, NotFound, UsageError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.pod import explain as render
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import EvaluationOptions, Explanation, ManifestPlace
from kubectl_kres.reports.common.remedy import Admits, CreateObject, SetConfig, SetValue
from kubectl_kres.reports.common.system_parts import part_of
from kubectl_kres.reports.explain.difference import Differences, diff
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.pod.live_differences import LiveReason
from kubectl_kres.reports.pod.needs import list_read_requests
from kubectl_kres.reports.qos.qos_report import QosAnswers, quality
from kubectl_kres.reports.quota.denied import find_refusal
from kubectl_kres.reports.quota.fit import fit
from kubectl_kres.store.store import Coverage, ReadRequest
from kubectl_kres.tekton.reports.part import TektonPart

ASK = EvaluationOptions(now="2026-11-20T03:10:00Z")
BUILD = task("build", step("a", {"cpu": "200m"}), step("b"))
#: What a quota of requests wants of the container that Tekton adds.
FILLED_LIMITS = config('{"prepare": {"limits": {"cpu": "10m"}}}')
FILLED = config('{"prepare": {"requests": {"cpu": "10m"}}}')


def most(cpu: str) -> Any:
    """A LimitRange with a maximum."""
    return made("LimitRange", "max", spec={"limits": [{"type": "Container", "max": {"cpu": cpu}}]})


def told(name: str, *objects: Any, unread: tuple[str, ...] = ()) -> Explanation:
    return explain(store_of(*objects, unread=unread), subject(name), ASK)


def values(found: Explanation) -> dict[str, tuple[str | None, str | None, str]]:
    """Written, stored and rule of the cpu requests, by container."""
    return {
        one.name: (value.written, value.value, value.rule)
        for one in found.containers
        for value in one.values
        if (value.side, value.resource) == ("requests", "cpu")
    }


def test_each_value_names_what_set_it():
    found = told(
        "TaskRun/r", LIMITS, BUILD, run("r", stepSpecs=[{"name": "b", "computeResources": {"requests": {"cpu": "3"}}}])
    )
    assert values(found) == {
        "step-a": ("200m", "200m", "tekton/step"),
        "step-b": (None, "3", "tekton/step-spec"),
        "prepare": (None, "1", "limitrange/default-request"),
    }


def test_task_level_says_what_the_division_did():
    found = told("TaskRun/r", BUILD, run("r", computeResources={"requests": {"cpu": "1", "memory": "1"}}))
    part = part_of(found.pod_parts, TektonPart)
    assert part is not None
    assert (part.steps, part.task_level, part.lost, part.added) == (2, True, {"memory": "1"}, ("prepare",))
    assert values(found)["step-a"] == ("200m", "500m", "tekton/task-level-request")


def test_a_task_alone_is_run_with_defaults():
    assert values(told("Task/build", BUILD))["step-a"] == ("200m", "200m", "tekton/step")


@pytest.mark.parametrize(
    ("objects", "status", "reason", "seconds", "remedy"),
    [
        (
            (BUSY, FILLED),
            "Unknown",
            "ExceededResourceQuota",
            60,
            "lower requests.cpu of step a of Task/build from 1200m to 500m, then start a new run",
        ),
        ((most("100m"),), "False", "PodCreationFailed", 0, "lower requests.cpu of step a of Task/"),
    ],
)
def test_a_refusal_is_told_in_tektons_words(objects: Any, status: str, reason: str, seconds: int, remedy: str):
    found = told("TaskRun/r", *objects, task("build", step("a", {"cpu": "1200m"})), run("r"))
    assert found.verdict.allowed is False
    part = part_of(found.pod_parts, TektonPart)
    assert part is not None
    problem = part.problem
    assert problem is not None
    assert (problem.stage, problem.object) == ("create", "TaskRun")
    assert (problem.status, problem.reason, problem.requeue_seconds) == (status, reason, seconds)
    assert problem.message == found.verdict.message
    assert advised(found)[0].startswith(remedy)


def test_a_value_of_the_run_is_changed_in_the_run():
    top = most("1")
    found = told("TaskRun/r", top, BUILD, run("r", computeResources={"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}))
    assert advised(found) == ("set limits.cpu of spec.computeResources of TaskRun/r to 1, then start a new run",)
    [edit] = found.fixes[0].edits
    assert isinstance(edit, SetValue)
    assert (edit.object.kind, edit.field, edit.from_, edit.to) == (
        "TaskRun",
        "spec.computeResources.limits[cpu]",
        "2",
        "1",
    )


def counted(name: str, **hard: str) -> Any:
    """A quota that nothing is used of."""
    names = {key.replace("_", "."): amount for key, amount in hard.items()}
    status = {"hard": names, "used": dict.fromkeys(names, "0")}
    return made("ResourceQuota", name, spec={"hard": names}, status=status)


def test_what_tekton_adds_is_given_values_by_a_limitrange():
    built = task("build", step("a", limits={"cpu": "1"}))
    found = told("TaskRun/r", counted("q", limits_cpu="9"), built, run("r"))
    assert advised(found) == (
        (
            "give prepare cpu 100m in default-container-resource-requirements of ConfigMap config-defaults, for "
            "the runs of all namespaces"
        ),
        "create LimitRange container-defaults with default.cpu 100m per Container",
    )
    [entry] = found.fixes[0].edits
    assert isinstance(entry, SetConfig)
    assert (
        told(
            "TaskRun/r", counted("q", limits_cpu="9"), config(json.dumps(entry.entries)), built, run("r")
        ).verdict.allowed
        is True
    )
    [edit] = found.fixes[1].edits
    assert isinstance(edit, CreateObject)
    assert edit.manifest["spec"]["limits"] == [{"type": "Container", "default": {"cpu": "100m"}}]
    assert told("TaskRun/r", counted("q", limits_cpu="9"), edit.manifest, built, run("r")).verdict.allowed is True


def test_a_limitrange_that_is_there_takes_the_default():
    there = made("LimitRange", "max", spec={"limits": [{"type": "Container", "min": {"memory": "1Mi"}}]})
    memory = {"cpu": "1", "memory": "1Gi"}
    built = task("build", step("a", memory, memory))
    found = told("TaskRun/r", counted("q", limits_cpu="9"), there, built, run("r"))
    assert advised(found)[1:] == ("set default.cpu per Container of LimitRange max to 100m",)


def test_twenty_steps_of_one_core_against_a_quota_of_ten():
    steps = [step(f"s{number}", limits={"cpu": "1"}) for number in range(20)]
    built, room = task("build", *steps), counted("q", limits_cpu="10")
    found = told("TaskRun/r", room, FILLED_LIMITS, built, run("r"))
    whole = "spec.computeResources of TaskRun/r"
    assert advised(found) == (
        f"set limits.cpu of {whole} to 500m and requests.cpu of {whole} to 10, then start a new run",
        "set limits.cpu of the 20 steps s0 to s19 of Task/build to 500m, then start a new run",
        "raise limits.cpu of quota q to 20",
    )
    assert [one.commands != () for one in found.fixes] == [False, False, True]
    assert all(one.proven and one.admits == Admits(1, 1) for one in found.fixes)
    values = {"limits": {"cpu": "500m"}, "requests": {"cpu": "10"}}
    assert told("TaskRun/r", room, FILLED_LIMITS, built, run("r", computeResources=values)).verdict.allowed is True


def test_the_runs_own_values_of_a_step_are_changed_there():
    specs = [{"name": "a", "computeResources": {"limits": {"cpu": "3"}}}]
    found = told("TaskRun/r", most("1"), BUILD, run("r", stepSpecs=specs))
    assert advised(found) == ("lower limits.cpu of step a of TaskRun/r from 3 to 1, then start a new run",)
    assert [one.field for one in found.fixes[0].edits] == ["spec.stepSpecs[0].computeResources.limits[cpu]"]


def test_a_waiting_run_says_until_when():
    parent = made(
        "PipelineRun", "p", spec={"timeouts": {"pipeline": "30m"}}, status={"startTime": "2026-11-20T03:00:00Z"}
    )
    found = told("TaskRun/r", BUSY, parent, task("build", step("a", {"cpu": "1"})), run("r", status=WAITS, owner="p"))
    part = part_of(found.pod_parts, TektonPart)
    assert part is not None
    waiting = part.waiting
    assert waiting is not None
    assert (waiting.since, waiting.next_try) == ("2026-11-20T03:01:07Z", "2026-11-20T03:10:07Z")
    assert (waiting.pipeline_run, waiting.seconds_left) == ("p", 20 * 60)
    assert part.never_fits == ()


def test_a_run_that_never_fits_is_not_told_to_free_room():
    found = told("TaskRun/r", BUSY, FILLED, task("build", step("a", {"cpu": "5"})), run("r", status=WAITS))
    part = part_of(found.pod_parts, TektonPart)
    assert part is not None
    assert [(one.requested, one.hard) for one in part.never_fits] == [("5", "2")]
    assert advised(found) == (
        "raise requests.cpu of quota team to 6500m",
        "lower requests.cpu of step a of Task/build from 5 to 500m, then start a new run",
    )
    assert any(line.startswith("never   it asks for 5 of requests.cpu") for line in render.lines(found, whole=True))


def test_a_run_that_has_failed_is_not_revived_by_a_change():
    failed = {"conditions": [{"type": "Succeeded", "status": "False", "reason": "PodCreationFailed", "message": "m"}]}
    found = told("TaskRun/r", BUILD, run("r", status=failed))
    assert found.verdict.allowed is True
    assert advised(found) == ("start a new run: this one has failed (PodCreationFailed) and nothing revives it",)
    assert any(
        line.startswith("ended   Succeeded=False, PodCreationFailed") for line in render.lines(found, whole=True)
    )


@pytest.mark.parametrize(
    ("objects", "status", "reason", "first", "condition"),
    [
        (
            (BUSY, FILLED),
            "False",
            "TaskRunTimeout",
            "refused: ns/TaskRun/r: ended; a new run",
            "a new run gets",
        ),
        (
            (BUSY, FILLED),
            "True",
            "Succeeded",
            "full: ns/TaskRun/r: ended; a new run would be",
            "a new run gets",
        ),
        (
            (most("500m"),),
            "False",
            "PodCreationFailed",
            "refused",
            "Succeeded=False, PodCreationFailed: failed for good",
        ),
    ],
)
def test_what_a_run_that_has_ended_is_told_is_about_the_next(
    objects: Any, status: str, reason: str, first: str, condition: str
):
    ended = {"conditions": [{"type": "Succeeded", "status": status, "reason": reason}]}
    found = told("TaskRun/r", *objects, task("build", step("a", {"cpu": "1"})), run("r", status=ended))
    text = [*render.lines(found, whole=True, width=400)]
    assert text[0].startswith(first)
    assert [one.endswith(", then start a new run") for one in advised(found)[:1]] == [True] * (
        not first.startswith("full")
    )
    assert any(line.startswith(f"status  {condition}") for line in text)
    assert not any(line.startswith("waits") for line in text)


def test_a_share_above_the_steps_own_limit():
    found = told("TaskRun/r", LIMITS, task("build", step("a", {"cpu": "0"}, {"cpu": "100m"})), run("r"))
    assert advised(found) == (
        "set requests.cpu of step a of Task/build to 100m, then start a new run",
        "set limits.cpu of step a of Task/build to 1, then start a new run",
        (
            "set default.cpu per Container of LimitRange limits to 100m and set defaultRequest.cpu per Container of "
            "LimitRange limits to 100m"
        ),
    )


def test_values_for_the_whole_task_are_mended_there_and_not_in_a_step_that_they_replace():
    default = made("LimitRange", "lr", spec={"limits": [{"type": "Container", "default": {"cpu": "1"}}]})
    steps = task("build", step("a"), step("b"))
    found = told("TaskRun/r", default, steps, run("r", computeResources={"requests": {"cpu": "4"}}))
    assert advised(found) == (
        "set requests.cpu of spec.computeResources of TaskRun/r to 2, then start a new run",
        "set limits.cpu of spec.computeResources of TaskRun/r to 2, then start a new run",
    )


def test_what_cannot_be_divided_goes_to_one_step():
    gpu = {"limits": {"nvidia.com/gpu": "1"}}
    found = told("TaskRun/r", task("build", step("a"), step("b")), run("r", computeResources=gpu))
    (remedy,) = advised(found)
    assert remedy.startswith("take nvidia.com/gpu out of the values for the whole Task and give it to one step")


def test_a_remedy_names_the_field_that_somebody_wrote():
    found = told("TaskRun/r", task("build", step("a", {"cpu": "-1"})), run("r"))
    assert advised(found) == ("use 0 or more at spec.steps[0].computeResources.requests[cpu] of Task/build",)


@pytest.mark.parametrize(
    ("field", "resources", "remedy"),
    [
        ("computeResources", {"limits": {"cpu": "1 GB"}}, 'as 1Gi or 1G, not "1 GB"'),
        ("computeResources", {"limits": {"cpu": "$(params.cpu)"}}, "parameters cannot be used there"),
        ("resources", {}, "write computeResources, not resources, at spec.taskSpec.steps[0]"),
        ("ressources", {}, "take spec.taskSpec.steps[0].ressources out"),
        ("params", [{"name": "p"}], "give spec.taskSpec.steps[0].params[0] a value"),
    ],
)
def test_what_does_not_decode_is_named_with_its_place(field: str, resources: Any, remedy: str):
    raw = {
        "apiVersion": "tekton.dev/v1",
        "kind": "TaskRun",
        "metadata": {"name": "r"},
        "spec": {"taskSpec": {"steps": [{"name": "a", "image": "i", field: resources}]}},
    }
    found = explain(store_of(), subject("TaskRun/r", raw, "f.yaml"), ASK)
    assert remedy in advised(found)[0]


def test_quota_denied_finds_runs_that_wait():
    store = store_of(BUSY, task("build", step("a", {"cpu": "1"})), run("w", status=WAITS), run("other"))
    found = find_refusal(store, subject("TaskRun/w"), ASK)
    assert found is not None
    assert found.replicas is None
    assert find_refusal(store, subject("TaskRun/other"), ASK) is None


CUSTOM = {"taskRef": {"name": "t", "apiVersion": "x.io/v1", "kind": "Wait"}}
REMOTE = {"taskRef": {"resolver": "hub"}}
KEPT = {"taskSpec": {"steps": [step("kept", {"cpu": "1"})]}}


@pytest.mark.parametrize(
    ("objects", "denied_kinds", "error", "text"),
    [
        ((run("r", "gone"),), ("Task",), Forbidden, "tasks is forbidden"),
        ((made("TaskRun", "r", spec=REMOTE),), (), ClusterError, "resolver hub"),
        ((made("TaskRun", "r", spec=CUSTOM),), (), ClusterError, "custom"),
        ((), (), NotFound, 'taskruns.tekton.dev "r" not found'),
    ],
)
def test_a_task_that_is_not_there_is_named(objects: Any, denied_kinds: Any, error: type[ClusterError], text: str):
    store = store_of(*objects, unread=denied_kinds)
    for kind in denied_kinds:
        store.cover(ReadRequest(kind, "ns", "gone"), Coverage("denied", "tasks is forbidden"))
    with pytest.raises(error, match=text.replace('"', ".")):
        explain(store, subject("TaskRun/r"), ASK)


def test_a_run_of_a_task_that_does_not_exist_has_failed():
    found = told("TaskRun/r", run("r", "gone"))
    assert found.verdict.allowed is False
    assert found.verdict.message == 'error when listing tasks for taskRun r: tasks.tekton.dev "gone" not found'
    assert advised(found) == ("create Task gone, or refer to one that is there, and start a new run",)


def test_a_name_that_was_not_looked_for_may_exist():
    store = store_of(run("r", "gone"), unread=("Task",))
    store.cover(ReadRequest("Task", "ns", "other"), Coverage("read"))
    with pytest.raises(ClusterError, match="Task gone could not be read"):
        explain(store, subject("TaskRun/r"), ASK)
    store.cover(ReadRequest("Task", "ns", "gone"), Coverage("read"))
    assert explain(store, subject("TaskRun/r"), ASK).verdict.allowed is False


def test_what_the_status_keeps_is_explained():
    found = told("TaskRun/r", made("TaskRun", "r", spec=REMOTE, status=KEPT))
    assert values(found)["step-kept"] == ("1", "1", "tekton/step")
    assert found.start == "the Task in status.taskSpec of TaskRun/r"


POD = made(
    "Pod",
    "r-pod",
    spec={
        "containers": [{"name": "step-a", "resources": {"requests": {"cpu": "700m"}, "limits": {"cpu": "2"}}}],
        "initContainers": [{"name": "prepare", "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}}],
    },
    status={"phase": "Running", "qosClass": "Burstable"},
    **owned_by("TaskRun", "r"),
)


@pytest.mark.parametrize("name", ["TaskRun/r", "Pod/r-pod"])
def test_a_live_pod_is_compared_with_what_tekton_would_make(name: str):
    objects = (LIMITS, BUSY, POD, task("build", step("a")), run("r", status={"podName": "r-pod"}))
    found = told(name, *objects)
    value = next(one for one in found.containers[0].values if one.side == "requests")
    assert (value.value, value.live) == ("1", "700m")
    assert value.note == LiveReason("unknown-run")
    assert found.verdict.allowed is True, "its pod is in the quota already"
    assert sentence_text(found.start).endswith("Task/build")
    assert diff(store_of(*objects), subject(name), ASK).changed


def test_lists_of_pods_say_the_same():
    store = store_of(LIMITS, POD, task("build", step("a")), run("r", status={"podName": "r-pod"}))
    whole = quality(store, subject("Pod/r-pod"), ASK)
    brief = QosAnswers(store, ASK).quality(subject("Pod/r-pod"))
    assert whole is not None
    assert brief is not None
    assert (brief.qos, brief.refused) == (whole.qos, whole.refused)
    listed = Differences(store, ASK).difference_of(store.get("Pod", "r-pod", "ns"))
    assert listed == diff(store, subject("Pod/r-pod"), ASK)


def test_a_pod_whose_run_is_gone_stands_for_itself():
    found = told("Pod/r-pod", LIMITS, POD)
    assert part_of(found.pod_parts, TektonPart) is None
    assert found.start == ManifestPlace("live")


def test_how_many_more_of_a_task_fit():
    found = fit(store_of(BUSY, FILLED, task("build", step("a", {"cpu": "200m"}))), subject("Task/build"), ASK)
    assert found.fits == 2


def test_the_way_to_guaranteed_is_written_where_people_write():
    objects = (task("build", step("a", {"cpu": "1"}), step("b", limits={"memory": "1Gi"})), run("r"))
    found = quality(store_of(*objects), subject("TaskRun/r"), ASK)
    assert found is not None
    way = next(one for one in found.reach if one.name == "Guaranteed")
    assert {edit.path.partition(".computeResources")[0] for edit in way.edits} >= {
        "Task/build spec.steps[0]",
        "Task/build spec.steps[1]",
    }
    assert any(edit.path.startswith("ConfigMap/config-defaults") and "[prepare]" in edit.path for edit in way.edits)
    assert not any(edit.path.startswith("spec.") for edit in way.edits), "nobody writes the pod itself"
    assert way.refused == ""


@pytest.mark.parametrize(
    ("owner", "where"),
    [("", "TaskRun/r spec.stepSpecs[0]"), ("p", "PipelineRun/p spec.taskRunSpecs[].stepSpecs[0]")],
)
def test_a_value_of_step_specs_is_changed_there(owner: str, where: str):
    entry = {"name": "a", "computeResources": {"requests": {"cpu": "100m"}, "limits": {"cpu": "1"}}}
    equal = {"cpu": "1", "memory": "1Gi"}
    objects = (task("build", step("a", equal, equal)), run("r", owner=owner, stepSpecs=[entry]))
    found = quality(store_of(*objects), subject("TaskRun/r"), ASK)
    assert found is not None
    ways = {one.name: one.edits for one in found.reach}
    mine = [edit for edit in ways["Guaranteed"] if not edit.path.startswith("ConfigMap/")]
    assert [(edit.path, edit.before, edit.after) for edit in mine] == [
        (f"{where}.computeResources.requests[cpu]", "100m", "1")
    ]
    gone = {edit.path for edit in ways["BestEffort"]}
    assert {f"{where}.computeResources.limits[cpu]", "Task/build spec.steps[0].computeResources.limits[cpu]"} <= gone


def test_values_for_the_whole_task_have_to_go_for_guaranteed():
    objects = (
        task("build", step("a"), step("b")),
        run("r", computeResources={"limits": {"cpu": "1", "memory": "1Gi"}}),
    )
    store = store_of(*objects)
    found = quality(store, subject("TaskRun/r"), ASK)
    assert found is not None
    way = next(one for one in found.reach if one.name == "Guaranteed")
    assert (way.edits[0].path, way.edits[0].after) == ("TaskRun/r spec.computeResources", None)
    brief = QosAnswers(store, ASK).quality(subject("TaskRun/r"))
    assert brief is not None
    assert brief.qos.name == found.qos.name == "Burstable"


@pytest.mark.parametrize(
    ("objects", "unread", "said"),
    [
        ((), ("ConfigMap",), "Tekton's configuration was not read: assumed as shipped"),
        ((info("v1.15.0"), config()), (), ""),
        ((), (), "no configuration of Tekton's in tekton-pipelines and openshift-pipelines"),
        ((info("v0.39.0"), config()), (), "Tekton 0.39.0 is older than 0.40"),
        ((info("v1.15.0"), config("{")), (), "cannot be read"),
    ],
)
def test_what_is_supposed_of_the_configuration_is_said_once(objects: Any, unread: Any, said: str):
    found = told("TaskRun/r", BUILD, run("r"), *objects, unread=unread)
    texts = [sentence_text(one.text) for one in found.assumptions]
    assert len(texts) == bool(said)
    assert all(said in text for text in texts)
    assert not [one for one in found.unread if one.kind in {"ConfigMap", "Namespace"}]


def test_configuration_stands_beside_the_webhook():
    definition = {
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "taskruns.tekton.dev"},
        "spec": {"conversion": {"webhook": {"clientConfig": {"service": {"namespace": "ours"}}}}},
    }
    text = '{"default": {"requests": {"cpu": "7m"}}}'
    objects = (definition, info("v1.0.0", "ours"), config(text, "ours"), config("", "theirs"), BUILD, run("r"))
    found = told("TaskRun/r", *objects)
    assert values(found)["prepare"] == (None, "7m", "tekton/config-default")
    asked = [need for need in list_read_requests(store_of(*objects), subject("TaskRun/r")) if need.kind == "ConfigMap"]
    assert {need.namespace for need in asked} == {"tekton-pipelines", "ours"}


def test_orders_of_tekton_and_of_the_server_are_told_apart():
    ranges = [
        made("LimitRange", "a", spec={"limits": [{"type": "Container", "defaultRequest": {"cpu": "600m"}}]}),
        made("LimitRange", "b", spec={"limits": [{"type": "Container", "defaultRequest": {"memory": "1Mi"}}]}),
    ]
    found = told("TaskRun/r", *ranges, task("build", step("x"), step("y")), run("r"))
    value = found.containers[0].values[0]
    ways = {value.value: found.listed} | {one.value: one.listed for one in value.alternatives}
    assert ways == {"600m": ("a", "b"), "300m": ("b", "a")}
    assert any("in Tekton's list" in line for line in render.lines(found, whole=True))


def test_pipelines_have_no_single_pod():
    with pytest.raises(UsageError, match="makes several pods"):
        explain(store_of(made("Pipeline", "p", spec={})), subject("Pipeline/p"), ASK)


def test_a_run_of_a_file_is_refused_as_the_webhook_does():
    raw = {"apiVersion": "tekton.dev/v1", "kind": "TaskRun", "metadata": {"name": "r"}, "spec": {}}
    asked = subject("TaskRun/r", raw, "f.yaml")
    found = explain(store_of(), asked, ASK)
    assert found.verdict.code == 400
    assert found.verdict.message.startswith('admission webhook "validation.webhook.pipeline.tekton.dev" denied')
    assert advised(found) == ("give either a reference, as taskRef.name, or an embedded taskSpec",)
    assert [*render.lines(found)]


def test_hostile_names_stay_on_their_line():
    evil = "a\x1b[31m\nb"
    task_ = task("build", step(evil, {"cpu": "1"}), sidecars=[{"name": evil, "image": "i"}])
    found = told(
        "TaskRun/r", BUSY, task_, run("r", status={"conditions": [{**WAITS["conditions"][0], "message": evil}]})
    )
    assert not [line for line in render.lines(found, steps=True) if "\x1b" in line or "\n" in line]


def test_another_group_has_a_task_too():
    kind = BY_KIND["Task"]
    other = subject("Task/build")
    assert kind.group == "tekton.dev"
    assert other.ref == ObjectRef("Task", "build", "ns")


def test_a_part_of_the_configuration_that_is_not_there_is_named():
    found = told("TaskRun/r", config("{}"), BUILD, run("r"))
    (one,) = (sentence_text(one.text) for one in found.assumptions if one.code == "tekton/config-unknown")
    assert one.startswith("no ConfigMap pipelines-info or feature-flags in tekton-pipelines")


def test_a_condition_that_nothing_has_yet_is_one_that_it_would_get():
    ended = {"conditions": [{"type": "Succeeded", "status": "False", "reason": "PodCreationFailed"}]}
    for name, status, label, word in (
        ("Task/build", None, "would become ", "fails"),
        ("TaskRun/r", ended, "", "failed"),
    ):
        found = told(name, most("100m"), BUILD, run("r", status=status))
        assert f"status  {label}Succeeded=False, PodCreationFailed: {word} for good;" in "\n".join(
            render.lines(found, whole=True, width=400)
        )
