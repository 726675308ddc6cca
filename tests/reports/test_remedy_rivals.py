"""Workloads of one namespace that lack pods take of the room that a remedy of one of them makes."""

from __future__ import annotations

from typing import Any

from reports.stored import box, event, made, store_of, subject, template

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.reports.common.remedy import Admits
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.remedies.rivals import needs_with_rivals

Raw = dict[str, Any]
TEXT = (
    'pods "other-1-x" is forbidden: exceeded quota: q, requested: requests.cpu=200m, used: requests.cpu=0, limited: 0'
)


def web(name: str, count: int, cpu: str, kind: str = "Deployment", **metadata: Any) -> Raw:
    number = {"parallelism" if kind == "Job" else "replicas": count}
    return made(kind, name, spec={**number, **template(box(requests={"cpu": cpu}))}, **metadata)


def quota(name: str, hard: Raw, used: Raw | None = None) -> Raw:
    status = {"hard": hard, "used": {**dict.fromkeys(hard, "0"), **(used or {})}}
    return made("ResourceQuota", name, spec={"hard": hard}, status=status)


def refused(about: str) -> Raw:
    return event(about, "FailedCreate", TEXT, type="Warning", lastTimestamp="2026-01-01T00:00:00Z")


def first(*objects: Raw, unread: tuple[str, ...] = ()) -> Any:
    return explain(store_of(*objects, unread=unread), subject("Deployment/web"), EvaluationOptions()).fixes[0]


def test_a_quota_is_raised_by_what_another_workload_takes_first():
    found = first(web("web", 2, "100m"), web("other", 3, "200m"), quota("q", {"requests.cpu": "50m"}))
    assert (
        sentence_text(found.text)
        == "raise requests.cpu of quota q to 800m (includes room for the missing pods of Deployment/other)"
    )
    assert found.shared == (ObjectRef("Deployment", "other", "ns"),)
    assert found.admits == Admits(2, 2)
    assert not found.remaining_refusal


def test_what_needs_more_than_is_made_takes_nothing_of_it():
    found = first(web("web", 1, "100m"), web("other", 3, "200m"), quota("q", {"requests.cpu": "50m"}))
    assert (sentence_text(found.text), found.shared) == ("raise requests.cpu of quota q to 100m", ())


def test_whoever_of_several_is_first():
    rivals = (web("one", 1, "200m"), web("two", 1, "300m", kind="Job"))
    found = first(web("web", 1, "100m"), *rivals, quota("q", {"requests.cpu": "250m"}, {"requests.cpu": "200m"}))
    assert sentence_text(found.text) == "raise requests.cpu of quota q to 300m"
    found = first(web("web", 3, "100m"), *rivals, quota("q", {"requests.cpu": "250m"}, {"requests.cpu": "200m"}))
    room = "(includes room for the missing pods of Deployment/one and Job/two)"
    assert sentence_text(found.text) == f"raise requests.cpu of quota q to 1 {room}"


def test_a_workload_that_another_quota_refuses_takes_nothing():
    other = made(
        "Deployment", "other", spec={"replicas": 3, **template(box(requests={"cpu": "200m", "memory": "1Gi"}))}
    )
    policies = quota("q", {"requests.cpu": "50m"}), quota("r", {"requests.memory": "0"})
    found = explain(
        store_of(web("web", 2, "100m"), other, *policies), subject("Deployment/web"), EvaluationOptions()
    ).fixes[0]
    assert "other" not in sentence_text(found.text)


def test_a_workload_that_a_limit_range_refuses_takes_nothing():
    least = made("LimitRange", "lr", spec={"limits": [{"type": "Container", "max": {"cpu": "150m"}}]})
    other = web("other", 3, "200m")
    web_ = made(
        "Deployment", "web", spec={"replicas": 2, **template(box(requests={"cpu": "100m"}, limits={"cpu": "100m"}))}
    )
    found = first(web_, other, least, quota("q", {"requests.cpu": "50m"}))
    assert sentence_text(found.text) == "raise requests.cpu of quota q to 200m (100m is enough for the next pod)"


def test_what_a_webhook_rejects_takes_nothing():
    text = 'admission webhook "images.example.com" denied the request: no'
    denied = event("Deployment/other", "FailedCreate", text, type="Warning", lastTimestamp="2026-01-01T00:00:00Z")
    found = first(web("web", 2, "100m"), web("other", 3, "200m"), denied, quota("q", {"requests.cpu": "50m"}))
    assert found.shared == ()


def test_what_has_all_its_pods_takes_nothing():
    other = {**web("other", 3, "200m"), "status": {"replicas": 3, "updatedReplicas": 3}}
    found = first(web("web", 2, "100m"), other, quota("q", {"requests.cpu": "50m"}))
    assert found.shared == ()


def test_what_events_name_is_read_where_pods_are_missing():
    own, other = web("web", 2, "100m"), refused("ReplicaSet/other-1")
    store = store_of(own, other, quota("q", {"requests.cpu": "50m"}), unread=("ReplicaSet",))
    wanted = needs_with_rivals(store, subject("Deployment/web"))
    assert [one.name for one in wanted if one.kind == "ReplicaSet"] == ["", "other-1"]
    whole = {**own, "status": {"replicas": 2, "updatedReplicas": 2}}
    store = store_of(whole, other, quota("q", {"requests.cpu": "50m"}), unread=("ReplicaSet",))
    assert not [one for one in needs_with_rivals(store, subject("Deployment/web")) if one.name == "other-1"]


def test_so_is_the_deployment_of_a_set_that_they_name_with_its_other_sets():
    owner = {"ownerReferences": [{"kind": "Deployment", "name": "other", "controller": True}]}
    named = web("other-1", 1, "100m", kind="ReplicaSet", **owner)
    objects = web("web", 2, "100m"), named, refused("ReplicaSet/other-1")
    wanted = needs_with_rivals(store_of(*objects, unread=("Deployment",)), subject("Deployment/web"))
    assert [one.name for one in wanted if one.kind == "Deployment"] == ["web", "other"]
    maker = web("other", 1, "100m")
    maker["spec"]["selector"] = {"matchLabels": {"app": "other"}}
    wanted = needs_with_rivals(store_of(*objects, maker), subject("Deployment/web"))
    assert "app=other" in [one.label_selector for one in wanted if one.kind == "ReplicaSet"]


def test_a_deployment_is_known_by_the_name_of_its_set_which_comes_with_its_other_sets():
    objects = web("web", 2, "100m"), refused("ReplicaSet/other-1")

    def wanted(*more: Raw, unread: tuple[str, ...]) -> list[str]:
        needs = needs_with_rivals(store_of(*objects, *more, unread=unread), subject("Deployment/web"))
        return [f"{one.kind}/{one.name or one.label_selector}" for one in needs if "other" in f"{one}"]

    assert wanted(unread=("ReplicaSet", "Deployment")) == ["Deployment/other"]
    maker = web("other", 1, "100m")
    maker["spec"]["selector"] = {"matchLabels": {"app": "other"}}
    assert wanted(maker, unread=("ReplicaSet",)) == ["Deployment/other", "ReplicaSet/app=other"]
    owner = {"ownerReferences": [{"kind": "Deployment", "name": "other", "controller": True}]}
    own = web("other-1", 1, "100m", kind="ReplicaSet", **owner)
    assert wanted(maker, own, unread=()) == ["Deployment/other", "ReplicaSet/app=other"]
    # One that is not made by what its name looks like is read itself.
    assert wanted(maker, unread=()) == ["Deployment/other", "ReplicaSet/app=other", "ReplicaSet/other-1"]
    assert wanted(unread=("ReplicaSet",)) == ["Deployment/other", "ReplicaSet/other-1"]


def test_its_own_replica_set_is_no_rival():
    own = {
        **web(
            "web-1",
            2,
            "100m",
            kind="ReplicaSet",
            ownerReferences=[{"kind": "Deployment", "name": "web", "controller": True}],
        )
    }
    found = first(web("web", 2, "100m"), own, refused("ReplicaSet/web-1"), quota("q", {"requests.cpu": "50m"}))
    assert (found.shared, found.contested) == ((), ())
    store = store_of(web("web", 2, "100m"), refused("ReplicaSet/web-1"), unread=("ReplicaSet",))
    assert not [one for one in needs_with_rivals(store, subject("Deployment/web")) if one.name == "web-1"]


def test_what_could_not_be_read_may_take_the_room():
    objects = web("web", 2, "100m"), refused("ReplicaSet/other-1"), quota("q", {"requests.cpu": "50m"})
    found = first(*objects, unread=("ReplicaSet",))
    assert found.contested == (ObjectRef("ReplicaSet", "other-1", "ns"),)
    remaining = sentence_text(found.remaining_refusal)
    assert remaining == "ReplicaSet/other-1 was refused by a quota, too, and may take the room first"
    assert first(*objects).contested == (), "it is known to be gone"


def test_a_rival_whose_runtime_class_is_not_known_may_take_more():
    other = made(
        "Deployment", "other", spec={"replicas": 1, **template(box(requests={"cpu": "1"}), runtimeClassName="kata")}
    )
    found = first(web("web", 2, "100m"), other, quota("q", {"requests.cpu": "50m"}))
    assert found.contested == (ObjectRef("Deployment", "other", "ns"),)
