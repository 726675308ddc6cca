"""What else admits, and what live pods were given, in QoS classes: the same for one object as in a list."""

from __future__ import annotations

from typing import Any

import pytest
from reports.stored import box, store_of, subject
from reports.test_policing import deployment, mutating, pod, replica_set, validating

from kubectl_kres.admission.base.server import Server
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.workload_kinds import WORKLOADS
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.pod.needs import needs_with_node
from kubectl_kres.reports.qos.qos_report import PodQos, QosAnswers, quality
from kubectl_kres.snapshot import read as demo
from kubectl_kres.snapshot import read as snapshots
from kubectl_kres.store.store import Store

ASK, PLAIN = EvaluationOptions(Server()), EvaluationOptions(Server(), seen=False)
IN_BOTH = ("qos", "culprits", "live", "live_class", "alternatives", "refused", "complete")
APP = box(image="registry.example/web:1")
PROXY = box("proxy", {"cpu": "2"}, image="registry.example/proxy:1")
LIMITS = 'JSONPatch{op: "add", path: "/spec/containers/0/resources/limits", value: {"cpu": "750m", "memory": "1Gi"}}'
FIRST = 'JSONPatch{op: "add", path: "/spec/containers/0", value: Object.spec.containers{name: "first", image: "i"}}'


def both(store: Store, asked: Subject, ask: EvaluationOptions = ASK) -> PodQos:
    """The answer for one object, which that of a list has to be the beginning of."""
    full, brief = quality(store, asked, ask), QosAnswers(store, ask).quality(asked)
    assert (full is None) is (brief is None), asked.ref
    if full is not None and brief is not None:
        assert [getattr(full, name) for name in IN_BOTH] == [getattr(brief, name) for name in IN_BOTH], asked.ref
        assert not {(gap.kind, gap.name) for gap in brief.unread} - {(gap.kind, gap.name) for gap in full.unread}
    assert full is not None
    return full


def next_pod(*objects: Any, ask: EvaluationOptions = ASK) -> PodQos:
    return both(store_of(deployment(APP), *objects), subject("Deployment/w"), ask)


def test_limits_of_a_mutating_policy_decide_the_class() -> None:
    assert next_pod().qos.name == "BestEffort"
    quality = next_pod(*mutating(f"[{LIMITS}]"))
    assert quality.qos.name == "Guaranteed"
    # Nothing that the manifest may say takes the limits away.
    ways = {way.name: [edit.path for edit in way.edits] for way in quality.reach}
    assert ways == {"Burstable": ["spec.containers[0].resources.requests[cpu]"], "BestEffort": []}


def test_an_injected_container_decides_the_class_and_is_not_in_the_manifest() -> None:
    live = (replica_set(), pod("a", APP, PROXY))
    quality = next_pod(*live)
    assert quality.qos.name == "Burstable" and "proxy" in {culprit.container for culprit in quality.culprits}
    paths = [edit.path for way in quality.reach for edit in way.edits]
    assert paths and all(path.startswith(("spec.resources", "spec.containers[0]")) for path in paths)
    assert next_pod(*live, ask=PLAIN).qos.name == "BestEffort"


def test_an_injected_container_goes_through_a_mutating_policy() -> None:
    quality = next_pod(replica_set(), pod("a", APP, PROXY), *mutating(f"[{LIMITS}]"))
    assert not quality.refused
    assert {culprit.container for culprit in quality.culprits} == {"proxy"}


def test_edits_are_named_by_their_place_in_the_manifest() -> None:
    """The policy puts a container before the one that is written."""
    quality = next_pod(*mutating(f"[{FIRST}]"))
    (burstable,) = (way for way in quality.reach if way.name == "Burstable")
    assert [edit.path for edit in burstable.edits] == ["spec.containers[0].resources.requests[cpu]"]
    assert [culprit.container for culprit in quality.culprits][:1] == ["first"]


def test_edits_meet_the_policies() -> None:
    """Of containers the policy refuses limits, so that the pod level is the way; before 1.34 there is none."""
    rule = "object.spec.containers.all(c, !has(c.resources.limits))"
    quality = next_pod(*validating(rule, message="no limits here"))
    assert not quality.refused
    (way,) = (way for way in quality.reach if way.name == "Guaranteed")
    assert not way.refused and {edit.path[:14] for edit in way.edits} == {"spec.resources"}
    older = next_pod(*validating(rule, message="no limits here"), ask=EvaluationOptions(Server((1, 31))))
    (way,) = (way for way in older.reach if way.name == "Guaranteed")
    assert way.edits and "no limits here" in way.refused
    assert "never" in next_pod(*validating("false", message="never")).refused


def test_what_is_not_computed_is_told() -> None:
    quality = next_pod(*validating('request.userInfo.username != "x"'))
    assert [gap.name for gap in quality.unread] == ["rule"]


def test_edits_of_a_file_meet_the_policies_too() -> None:
    raw = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [APP]}}
    store = store_of(*validating("!has(object.spec.containers[0].resources.limits)", message="no limits here"))
    quality = both(store, subject("Pod/p", raw, "p.yaml"), EvaluationOptions(Server((1, 31))))
    (way,) = (way for way in quality.reach if way.name == "Guaranteed")
    assert way.edits and "no limits here" in way.refused


def test_what_live_pods_were_given_is_read_unless_it_is_left_out() -> None:
    store, asked = store_of(deployment(APP)), subject("Deployment/w")
    kinds = {seen: {need.kind for need in needs_with_node(store, asked, seen=seen)} for seen in (True, False)}
    assert kinds[True] - kinds[False] == {"Pod", "ReplicaSet"}


@pytest.mark.parametrize("ask", [ASK, PLAIN], ids=["seen", "no seen"])
def test_all_objects_of_the_demo(ask: EvaluationOptions) -> None:
    store = snapshots.read(str(demo.demo_path()))
    subjects = [
        Subject(ObjectRef(kind, item.metadata.name, item.metadata.namespace), BY_KIND[kind])
        for kind in ("Pod", *WORKLOADS)
        for item in store.all(kind)
    ]
    assert len([both(store, asked, ask) for asked in subjects]) > 50
