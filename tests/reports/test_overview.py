"""The overview: areas that add up, what is worst first, each with what mends it."""

from __future__ import annotations

import pytest
from reports.stored import box, limits, made, store_of, template

from kubectl_kres.admission.base.server import Server
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.overview import area_bar, describe_area, describe_problem, lines
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.reports.overview import AreaPart, Overview, OverviewArea, Problem, overview, overview_needs
from kubectl_kres.reports.qos.qos_sums import NamespaceSums
from kubectl_kres.store.store import Coverage, ReadRequest, Store

NOW = "2026-11-20T03:10:00Z"
ASK = EvaluationOptions(Server(), now=NOW)


def quota(name: str, used: str, hard: str = "4Gi", **metadata: object) -> dict[str, object]:
    amounts = {"requests.memory": hard}
    return made("ResourceQuota", name, spec={"hard": amounts},
                status={"hard": amounts, "used": {"requests.memory": used}}, **metadata)  # fmt: skip


def asked(store: Store, namespace: str = "", sums: tuple[NamespaceSums, ...] = ()) -> Overview:
    return overview(store, namespace, ASK, sums)


def area(found: Overview, name: str) -> OverviewArea:
    return next(one for one in found.areas if one.name == name)


def refused_deployment() -> tuple[dict[str, object], ...]:
    web = made("Deployment", "web", spec={"replicas": 2, **template(box("app", {"memory": "1Gi"}))})
    return web, quota("team", "4Gi")


def test_an_area_counts_all_of_its_objects_once():
    found = asked(store_of(quota("a", "5Gi"), quota("b", "4Gi"), quota("c", "3900Mi"), quota("d", "1Gi")))
    quotas = area(found, "quotas")
    assert quotas.count == 4
    assert [(part.state, part.count) for part in quotas.parts] == [
        ("over", 1),
        ("full", 1),
        ("nearly full", 1),
        ("ok", 1),
    ]
    assert [one.subject.name for one in found.problems] == ["a", "b", "c"]


def test_what_is_over_says_what_ends_it_and_what_is_full_does_not():
    over, full = asked(store_of(quota("a", "5Gi"), quota("b", "4Gi"))).problems
    assert [sentence_text(one.text) for one in over.fixes] == [
        "free 1Gi of requests.memory",
        "raise requests.memory of quota a to 5Gi, as much as is used",
    ]
    assert '"requests.memory":"5Gi"' in over.fixes[1].commands[0]
    assert full.fixes == ()


def test_a_quota_that_is_over_in_two_names_says_both_in_one_sentence():
    hard, used = {"requests.cpu": "1", "pods": "2"}, {"requests.cpu": "3", "pods": "3"}
    [over] = asked(
        store_of(made("ResourceQuota", "a", spec={"hard": hard}, status={"hard": hard, "used": used}))
    ).problems
    assert sentence_text(over.fixes[1].text) == "raise quota a: pods to 3 and requests.cpu to 3, as much as is used"


def test_a_quota_that_somebody_keeps_has_no_command():
    kept = {"labels": {"app.kubernetes.io/managed-by": "Helm"}, "annotations": {"meta.helm.sh/release-name": "base"}}
    [over] = asked(store_of(quota("a", "5Gi", **kept))).problems
    assert over.fixes[1].commands == ()
    assert "Helm owns ResourceQuota/" in sentence_text(over.fixes[1].no_command_reason)


def test_refused_workloads_come_first_with_their_remedy():
    found = asked(store_of(*refused_deployment()))
    first, second = found.problems
    assert (first.subject.kind, first.state, first.missing, first.wanted) == ("Deployment", "refused", 2, 2)
    assert "raise requests.memory of quota team" in sentence_text(first.fixes[0].text)
    assert second.subject.kind == "ResourceQuota"
    assert describe_problem(first, NOW) == "refused: quota team is short by 1Gi of requests.memory; 2 of 2 pods missing"
    assert [(part.state, part.count) for part in area(found, "refused").parts] == [("refused", 1)]


def test_an_object_is_told_once():
    run = made("TaskRun", "r", spec={"taskSpec": {"steps": [{"name": "s"}]}},
               status={"conditions": [{"type": "Succeeded", "status": "Unknown", "reason": "ExceededResourceQuota",
                                       "lastTransitionTime": "2026-11-20T03:00:00Z"}]})  # fmt: skip
    found = asked(store_of(run))
    assert [str(one.subject) for one in found.problems] == ["TaskRun/r"]
    assert area(found, "taskruns").parts == (AreaPart("waiting", 1, "warn"),)


def test_runs_that_failed_with_a_pod_are_no_fault_of_resources():
    failed = [{"type": "Succeeded", "status": "False", "reason": "Failed"}]
    store = store_of(made("TaskRun", "r", spec={}, status={"podName": "r-pod", "conditions": failed}))
    assert asked(store).problems == ()
    assert area(asked(store), "taskruns").severity == ""


def test_limit_ranges_are_counted_by_object_and_their_bounds_by_what_they_do():
    store = store_of(limits("a", default={"cpu": "1"}), limits("b", default={"cpu": "2"}, max={"memory": "1Gi"}))
    found = area(asked(store), "limitranges")
    assert found.count == 2
    assert describe_area(found) == "2 values: 1 order-dependent, 1 sound"


def test_pods_are_those_of_the_sums():
    sums = (
        NamespaceSums("a", 3, {"Guaranteed": 1, "Burstable": 2, "BestEffort": 0}, finished=4),
        NamespaceSums("b", 1, {"Guaranteed": 0, "Burstable": 0, "BestEffort": 1}),
    )
    pods = area(asked(store_of(), sums=sums), "pods")
    assert pods.count == 8
    assert describe_area(pods) == "1 Guaranteed (G), 2 Burstable (B), 1 BestEffort (e), 4 finished (-)"


def test_what_could_not_be_read_is_neither_none_nor_sound():
    store = store_of(unread=("ResourceQuota",))
    store.cover(ReadRequest("ResourceQuota", "ns"), Coverage("denied", "quotas is forbidden"))
    found = overview(store, "ns", ASK, None)
    assert not found.complete
    assert (area(found, "quotas").count, describe_area(area(found, "quotas"))) == (None, "not visible")
    assert area(found, "pods").count is None
    assert "quotas is forbidden" in "\n".join(lines(found, NOW, ascii_only=True))


def test_what_is_not_installed_is_no_gap():
    store = store_of(unread=("ResourcePool", "ResourcePoolClaim", "TaskRun", "PipelineRun"))
    for kind in ("ResourcePool", "ResourcePoolClaim", "TaskRun", "PipelineRun"):
        for space in ("", "ns"):
            store.cover(ReadRequest(kind, space), Coverage("absent"))
    found = overview(store, "", ASK, ())
    assert found.complete
    assert describe_area(area(found, "pools")) == "Capsule is not installed, or too old for pools (0.10)"
    assert describe_area(area(found, "taskruns")) == "Tekton is not installed, or too old for tekton.dev/v1"


def test_another_namespace_is_not_counted():
    other = quota("b", "5Gi", namespace="other")
    assert area(asked(store_of(quota("a", "4Gi"), other), "ns"), "quotas").count == 1


@pytest.mark.parametrize("ascii_only", [False, True])
def test_a_bar_tells_its_parts_apart_without_colour(ascii_only: bool):
    parts = (AreaPart("over", 1, "bad"), AreaPart("near", 5, "warn"), AreaPart("ok", 6))
    drawn = [text for _, text in area_bar(OverviewArea("quotas", "ResourceQuota", 12, parts), ascii_only=ascii_only)]
    assert [len(text) for text in drawn] == [1, 5, 6]
    assert len({text[0] for text in drawn}) == 3
    assert all(text.isascii() for text in drawn) is ascii_only


def test_text_of_a_cluster_is_escaped():
    evil = Problem(
        "claims", ObjectRef("ResourcePoolClaim", "a\x1b[31m", "ns"), "bad", "failed", reason="no\x1b]0;x\x07pe"
    )
    shown = "\n".join(
        lines(Overview("", (OverviewArea("claims", "ResourcePoolClaim", 1),), (evil,)), NOW, ascii_only=True)
    )
    assert "\x1b" not in shown
    assert "\x07" not in shown


def test_lines_keep_to_the_width():
    found = asked(store_of(*refused_deployment(), quota("a", "5Gi")))
    for width in (60, 80, 120):
        drawn = list(lines(found, NOW, ascii_only=True, width=width))
        assert all(len(line) <= width for line in drawn if "kubectl" not in line)


def test_pods_and_policies_are_wanted_of_the_namespace_alone():
    assert {need.namespace for need in overview_needs("shop") if need.kind in {"ResourceQuota", "Deployment"}} == {
        "shop"
    }
    kinds = [need.kind for need in overview_needs("")]
    assert len(kinds) == len(set(kinds))
