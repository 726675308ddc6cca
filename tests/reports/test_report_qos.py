"""What ``qos`` says of one object: class, culprits, the way to other classes, scores, cgroups, what it supposes."""

from __future__ import annotations

from typing import Any

import pytest
from reports.stored import box, made, store_of, subject

from kubectl_kres.admission.base.server import Server
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.reports.common.last_editor import FieldEdit
from kubectl_kres.reports.qos.qos_report import OomScore, OomScoreReason, PodQos, QosAnswers, quality

BOTH = {"cpu": "1", "memory": "1Gi"}
FILL = {"type": "Container", "default": {"cpu": "500m", "memory": "256Mi"}, "defaultRequest": {"cpu": "100m"}}


def asked(*containers: Any, policies: tuple[Any, ...] = (), server: Server | None = None, **spec: Any) -> PodQos:
    """The answer for the next pod of a Deployment."""
    template = {"template": {"spec": {"containers": list(containers), **spec}}}
    store = store_of(made("Deployment", "web", spec=template), *policies)
    found = quality(store, subject("Deployment/web"), EvaluationOptions(server or Server((1, 36))))
    assert found is not None
    return found


def limits(*items: Any, name: str = "l") -> dict[str, Any]:
    return made("LimitRange", name, spec={"limits": list(items)})


def edits(found: PodQos, name: str) -> list[tuple[str, str | None, str | None]]:
    (reach,) = (one for one in found.reach if one.name == name)
    return [(edit.path.removeprefix("spec."), edit.before, edit.after) for edit in reach.edits]


APP = "containers[0].resources"


@pytest.mark.parametrize(
    ("found", "name", "culprits", "reach"),
    [
        pytest.param(asked(box(limits=BOTH)), "Guaranteed", [], {
            "Burstable": [(f"{APP}.requests[cpu]", None, "500m")],
            "BestEffort": [(f"{APP}.limits[cpu]", "1", None), (f"{APP}.limits[memory]", "1Gi", None)],
        }, id="guaranteed"),
        pytest.param(asked(box()), "BestEffort", [("app", "cpu", None, None), ("app", "memory", None, None)], {
            # A request follows its limit, so that a limit is all that is to be written.
            "Guaranteed": [(f"{APP}.limits[cpu]", None, "100m"), (f"{APP}.limits[memory]", None, "128Mi")],
            "Burstable": [(f"{APP}.requests[cpu]", None, "100m")],
        }, id="best effort"),
        pytest.param(asked(box(requests={"cpu": "250m"}, limits=BOTH)), "Burstable", [("app", "cpu", "250m", "1")], {
            "Guaranteed": [(f"{APP}.requests[cpu]", "250m", "1")],
        }, id="one request too low"),
        pytest.param(asked(box(requests={"cpu": "0"}, limits=BOTH)), "Burstable", [("app", "cpu", None, "1")], {
            "Guaranteed": [(f"{APP}.requests[cpu]", "0", "1")],
        }, id="a zero counts as none"),
        pytest.param(
            asked(box(limits=BOTH), *(box(name) for name in "bcd")), "Burstable",
            [(name, resource, None, None) for name in "bcd" for resource in ("cpu", "memory")], {
                "Guaranteed": [("resources.limits[cpu]", None, "1"), ("resources.limits[memory]", None, "1Gi")],
            }, id="the pod level needs fewer edits than three containers"),
        pytest.param(
            asked(box(limits=BOTH), *(box(name) for name in "bcd"), server=Server((1, 31))), "Burstable",
            [(name, resource, None, None) for name in "bcd" for resource in ("cpu", "memory")], {
                "Guaranteed": [(f"containers[{index}].resources.limits[{resource}]", None, value)
                               for index in (1, 2, 3) for resource, value in (("cpu", "100m"), ("memory", "128Mi"))],
            }, id="there was no pod level in 1.31"),
        pytest.param(asked(box(limits=BOTH), resources={}), "BestEffort",
                     [("", "cpu", None, None), ("", "memory", None, None)],
                     {"Guaranteed": [("resources", "{...}", None)],
                      "Burstable": [("resources.requests[cpu]", None, "1")]},
                     id="an empty stanza hides the containers"),
        pytest.param(asked(box(), policies=(limits(FILL),)), "Burstable",
                     [("app", "cpu", "100m", "500m")],
                     # What a LimitRange fills in cannot be left out, but hidden.
                     {"Guaranteed": [(f"{APP}.requests[cpu]", None, "500m")],
                      "BestEffort": [("resources", None, "{}")]},
                     id="filled in by a LimitRange"),
        pytest.param(asked(box(), policies=(limits(FILL),), server=Server((1, 31))), "Burstable",
                     [("app", "cpu", "100m", "500m")], {"BestEffort": []}, id="nothing hides it in 1.31"),
        pytest.param(asked(box(), policies=(limits({"type": "Container", "min": {"cpu": "2", "memory": "1Gi"}}),)),
                     "Burstable", [("app", "cpu", "2", None), ("app", "memory", "1Gi", None)],
                     {"Guaranteed": [(f"{APP}.limits[cpu]", None, "2"), (f"{APP}.limits[memory]", None, "1Gi")]},
                     id="a limit takes the request that a LimitRange fills in"),
        pytest.param(asked(box(), policies=(limits({"type": "Pod", "max": {"cpu": "50m"}}),)),
                     "BestEffort", [("app", "cpu", None, None), ("app", "memory", None, None)],
                     {"Guaranteed": [(f"{APP}.limits[cpu]", None, "50m"), (f"{APP}.limits[memory]", None, "128Mi")]},
                     id="examples keep to the bounds"),
        pytest.param(asked(box(requests={"cpu": "1"}), resources={"requests": {"cpu": "1"}}), "Burstable",
                     [("", "cpu", "1", None), ("", "memory", None, None)],
                     {"Guaranteed": [("resources.limits[cpu]", None, "1"),
                                     ("resources.limits[memory]", None, "128Mi")]},
                     id="the pod level made complete"),
    ],
)  # fmt: skip
def test_class_culprits_and_reach(found: PodQos, name: str, culprits: list[Any], reach: dict[str, Any]):
    assert found.qos.name == name
    assert [(one.container, one.resource, one.request, one.limit) for one in found.culprits] == culprits
    assert {key: edits(found, key) for key in reach} == reach


def test_a_way_that_the_server_would_refuse_says_so():
    capped = limits({"type": "Container", "maxLimitRequestRatio": {"cpu": "1"}})
    found = asked(box(limits=BOTH), policies=(capped,))
    (burstable,) = (one for one in found.reach if one.name == "Burstable")
    assert (burstable.refused, burstable.edits[0].path) == ("", "spec.containers[0].resources.requests[memory]")
    tight = limits({"type": "Container", "maxLimitRequestRatio": {"cpu": "1", "memory": "1"}})
    (burstable,) = (one for one in asked(box(limits=BOTH), policies=(tight,)).reach if one.name == "Burstable")
    assert burstable.refused.startswith('pods "web" is forbidden: ')


@pytest.mark.parametrize(("version", "gate"), [((1, 33), "PodLevelResources"), ((1, 34), "")])
def test_a_gate_is_named_where_the_version_has_it_off_by_default(version: tuple[int, int], gate: str):
    server = Server(version, {"PodLevelResources": True})
    found = asked(box(limits=BOTH), *(box(name) for name in "bcd"), server=server)
    assert {one.name: one.gate for one in found.reach} == {"Guaranteed": gate, "BestEffort": ""}


NODE = {"kind": "Node", "metadata": {"name": "n1"}, "status": {"capacity": {"memory": "8Gi", "hugepages-2Mi": "0"}}}


def live(status: str = "Burstable", **spec: Any) -> dict[str, Any]:
    return made("Pod", "p", spec={"nodeName": "n1", **spec}, status={"qosClass": status}, uid="a-b")


def test_scores_are_those_of_the_node_and_of_the_class_that_is_kept():
    pod = live(containers=[box(requests={"memory": "1Gi"})])
    found = quality(store_of(pod, NODE), subject("Pod/p"), EvaluationOptions())
    assert found is not None
    assert (found.scores, found.memory, found.node) == (
        (OomScore("container app", 875, OomScoreReason("Burstable", "1Gi")),),
        8 << 30,
        "n1",
    )
    unknown = quality(store_of(pod, unread=("Node",)), subject("Pod/p"), EvaluationOptions())
    assert unknown is not None
    assert unknown.scores == (OomScore("container app", None, OomScoreReason("Burstable", "1Gi")),)
    assert (unknown.unread, unknown.complete) == ((), True)


def test_scores_name_the_part_of_the_pod_level():
    pod = live(containers=[box(requests={"memory": "512Mi"}), box("b")], resources={"requests": {"memory": "1536Mi"}})
    found = quality(store_of(pod, NODE), subject("Pod/p"), EvaluationOptions())
    assert found is not None
    texts = [(one.value, sentence_text(one.depends_on)) for one in found.scores]
    assert texts == [(875, "memory request 512Mi and 512Mi of the pod level's"),
                     (938, "no memory request and 512Mi of the pod level's")]  # fmt: skip


def test_a_live_pod_of_another_class_differs():
    pod = live("Guaranteed", containers=[box(requests={"memory": "1Gi"})])
    store = store_of(pod, NODE)
    found = quality(store, subject("Pod/p"), EvaluationOptions())
    assert found is not None
    assert (found.qos.name, found.live_class, found.differs) == ("Burstable", "Guaranteed", True)
    assert found.scores[0].value == -997
    same = quality(store_of(live(containers=[box(requests={"memory": "1Gi"})])), subject("Pod/p"), EvaluationOptions())
    assert same is not None
    assert not same.differs


def test_cgroups_are_those_of_the_live_pod():
    pod = live(containers=[box(requests={"memory": "1Gi"})])
    found = quality(store_of(pod, NODE), subject("Pod/p"), EvaluationOptions(), version=1, driver="cgroupfs")
    assert found is not None
    assert found.cgroups is not None
    root = found.cgroups.root
    assert root.children[0].children[0].path == "/kubepods/burstable/poda-b"
    assert [value.file for value in root.children[0].values] == ["hugetlb.2MB.limit_in_bytes"]
    assert any(note.kind == "no-soft-limit" for note in found.cgroups.notes)


def test_orders_of_limit_ranges_are_alternatives():
    even = {"type": "Container", "default": BOTH, "defaultRequest": BOTH}
    found = asked(box(), policies=(limits(even, name="a"), limits(FILL, name="b")))
    assert {found.qos.name, *found.alternatives} == {"Guaranteed", "Burstable"}
    assert edits(found, "Guaranteed" if found.qos.name == "Burstable" else "Burstable") != []


def test_what_does_not_parse_has_no_class():
    store = store_of(made("Deployment", "web", spec={"template": {"spec": {"containers": [box(limits={"cpu": "x"})]}}}))
    assert quality(store, subject("Deployment/web"), EvaluationOptions()) is None
    assert QosAnswers(store, EvaluationOptions()).quality(subject("Deployment/web")) is None


def test_the_brief_answer_is_the_beginning_of_the_whole_one():
    objects = (
        live(containers=[box(requests={"memory": "1Gi"})]),
        made("Deployment", "web", spec={"template": {"spec": {"containers": [box(limits={"cpu": "3"})]}}}),
        limits({"type": "Container", "max": {"cpu": "2"}}),
    )
    store = store_of(*objects)
    brief = QosAnswers(store, EvaluationOptions())
    for text in ("Pod/p", "Deployment/web"):
        found, short = quality(store, subject(text), EvaluationOptions()), brief.quality(subject(text))
        assert found is not None
        assert short is not None
        for field in ("qos", "culprits", "live", "live_class", "alternatives", "refused", "differs"):
            assert getattr(found, field) == getattr(short, field), field
    assert short is not None
    assert "maximum cpu usage per Container is 2" in short.refused


def test_edits_of_a_file_are_of_the_file():
    raw = {"apiVersion": "v1", **made("Pod", "new", spec={"containers": [box(requests={"cpu": 1})]})}
    found = quality(store_of(), subject("Pod/new", raw, "new.yaml"), EvaluationOptions())
    assert found is not None
    (best,) = (one for one in found.reach if one.name == "BestEffort")
    assert best.edits == (FieldEdit("spec.containers[0].resources.requests[cpu]", "1"),)


def test_a_live_pod_has_what_a_limit_range_set_that_nobody_may_read():
    """Its values are those that run, and of the next pod's nothing is said."""
    said = "LimitRanger plugin set: memory limit for container app"
    pod = live(containers=[box(requests=BOTH, limits={**BOTH, "memory": "2Gi"})])
    pod["metadata"]["annotations"] = {"kubernetes.io/limit-ranger": said}
    store = store_of(pod, unread=("LimitRange",))
    found, brief = (
        quality(store, subject("Pod/p"), EvaluationOptions()),
        QosAnswers(store, EvaluationOptions()).quality(subject("Pod/p")),
    )
    assert found is not None and brief is not None
    for one in (found, brief):
        assert [(culprit.request, culprit.limit) for culprit in one.culprits] == [("1Gi", "2Gi")]
        assert not one.complete
    assert found.reach == ()
