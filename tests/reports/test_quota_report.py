"""What is reported of a quota: figures that add up, scopes in words, who uses what, drift, and bounded time."""

from __future__ import annotations

import msgspec
import pytest
from golden.situation import filled
from hypothesis import given
from hypothesis import strategies as st

from kubectl_kres.errors import UsageError
from kubectl_kres.model.objects import ObjectRef, ResourceQuota, ResourceQuotaSpec, decode_object
from kubectl_kres.quantity import parse
from kubectl_kres.render.quota.quota_blocks import lines
from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.reports.common.resource_lists import scope_words
from kubectl_kres.reports.quota.quota_report import QuotaReport, quota_reports
from kubectl_kres.reports.quota.uncounted_names import UncountedName
from kubectl_kres.reports.quota.usage_tree import owner_needs
from kubectl_kres.store.store import Coverage, ReadRequest

NOW = "2026-11-20T03:10:00Z"


def quota(hard, used=None, **spec):
    status = {} if used is None else {"hard": hard, "used": used}
    return {
        "kind": "ResourceQuota",
        "metadata": {"name": "team", "namespace": "shop"},
        "spec": {"hard": hard, **spec},
        "status": status,
    }


def pod(name, memory="1Gi", owner=(), phase="Running", **spec):
    owners = [{"kind": owner[0], "name": owner[1], "controller": True}] if owner else []
    labels = {"pod-template-hash": "5d4f"} if owner and owner[0] == "ReplicaSet" else {}
    resources = {"requests": {"memory": memory}}
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "ownerReferences": owners, "labels": labels},
        "spec": {"containers": [{"name": "app", "resources": resources}], **spec},
        "status": {"phase": phase},
    }


def report(objects, *, denied=(), **asked) -> QuotaReport:
    store = filled(objects)
    for kind in denied:
        store.cover(ReadRequest(kind), Coverage("denied", f"{kind} is forbidden"))
    (found,) = quota_reports(store, [*store.all("ResourceQuota")], EvaluationOptions(now=NOW), **asked)
    return found


amounts = st.builds(
    lambda number, unit: f"{number}{unit}", st.integers(0, 5000), st.sampled_from(["", "m", "Mi", "Gi"])
)


@given(
    st.dictionaries(st.sampled_from(["pods", "limits.cpu", "requests.memory", "count/x"]), st.tuples(amounts, amounts))
)
def test_used_and_left_are_hard(values):
    found = report([quota({k: v[0] for k, v in values.items()}, {k: v[1] for k, v in values.items()})])
    assert len(found.uses) == len(values)
    for use in found.uses:
        hard, used = map(parse, values[use.name])
        assert parse(use.used or "") == used
        assert parse(use.used or "") + parse(use.free or "") == hard == parse(use.hard)
        assert use.is_exceeded == (used > hard)
        if hard:
            assert (use.percent or 0) * hard.nano <= used.nano * 100 < ((use.percent or 0) + 1) * hard.nano


OBJECTS = [
    pod("a", owner=("ReplicaSet", "web-5d4f"), priorityClassName="high"),
    pod("b", owner=("ReplicaSet", "web-5d4f")),
    pod("c", "512Mi", owner=("StatefulSet", "db")),
    pod("d", "512Mi"),
    pod("e", owner=("ReplicaSet", "by-hand")),
    pod("done", owner=("Job", "nightly"), phase="Succeeded"),
]


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        (
            "workload",
            {"Deployment/web": "2Gi", "StatefulSet/db": "512Mi", "Pod/d": "512Mi", "ReplicaSet/by-hand": "1Gi"},
        ),
        ("pod", {"Pod/a": "1Gi", "Pod/b": "1Gi", "Pod/c": "512Mi", "Pod/d": "512Mi", "Pod/e": "1Gi"}),
        ("priority", {"PriorityClass/high": "1Gi", "no priority class": "3Gi"}),
    ],
)
def test_who_uses_it(by, expected):
    found = report([quota({"requests.memory": "8Gi"}, {"requests.memory": "4Gi"}), *OBJECTS], by=by, recounted=True)
    assert {share.name: share.usage["requests.memory"] for share in found.shares} == expected
    assert sum(parse(text).nano for text in expected.values()) == parse(found.uses[0].counted or "").nano
    biggest = [share.percents["requests.memory"] for share in found.shares]
    assert biggest == sorted(biggest, reverse=True)


def made(kind, name, *owner):
    owners = [{"kind": owner[0], "name": owner[1], "controller": True}] if owner else []
    return {"kind": kind, "metadata": {"name": name, "namespace": "shop", "ownerReferences": owners}}


def test_owners_are_followed_to_what_made_them():
    jobs = [pod(name, owner=("Job", f"nightly-{name}")) for name in "de"]
    pods = [
        pod("a", owner=("ReplicaSet", "web-1")),
        pod("b", owner=("ReplicaSet", "old-5d4f")),
        pod("c", owner=("ReplicaSet", "alone-5d4f")),
        pod("f", owner=("Job", "once")),
        *jobs,
    ]
    owners = [
        made("ReplicaSet", "web-1", "Rollout", "web"),
        made("ReplicaSet", "alone-5d4f"),
        *(made("Job", f"nightly-{name}", "CronJob", "nightly") for name in "de"),
        made("Job", "once"),
    ]
    limits = quota({"requests.memory": "8Gi"}, {"requests.memory": "6Gi"})
    found = report([limits, *pods, *owners], by="workload")
    assert {share.name: share.pods for share in found.shares} == {
        "Rollout/web": 1,
        "Deployment/old": 1,
        "ReplicaSet/alone-5d4f": 1,
        "CronJob/nightly": 2,
        "Job/once": 1,
    }
    needed = [(need.kind, need.required) for need in owner_needs(filled(pods), "shop")]
    assert needed == [("ReplicaSet", False), ("Job", False)]
    assert [need.kind for need in owner_needs(filled(jobs), "shop")] == ["Job"]
    assert owner_needs(filled([pod("x", owner=("StatefulSet", "db"))]), "shop") == ()


@pytest.mark.parametrize(
    ("used", "cause", "pods"), [("4Gi", None, ()), ("5Gi", "finished", ("done",)), ("3Gi", "resync", ())]
)
def test_drift_has_a_cause(used, cause, pods):
    found = report([quota({"requests.memory": "8Gi"}, {"requests.memory": used}), *OBJECTS], recounted=True)
    drift = found.uses[0].drift
    assert (drift and drift.cause, drift.pods if drift else ()) == (cause, pods)
    assert found.uses[0].counted == "4Gi"


def test_a_quota_of_a_file_drifts_from_nothing():
    store = filled([quota({"requests.memory": "8Gi"}), *OBJECTS])
    store.files[ObjectRef("ResourceQuota", "team", "shop")] = "quota.yaml"
    [found] = quota_reports(store, [*store.all("ResourceQuota")], EvaluationOptions(now=NOW), recounted=True)
    assert [(use.used, use.counted, use.drift) for use in found.uses] == [("0", "4Gi", None)]


def test_what_could_not_be_read_is_said_where_the_number_would_be():
    names = {"requests.memory": "8Gi", "services": "2", "count/secrets": "9", "nonsense": "1"}
    used = {"requests.memory": "1Gi", "services": "0", "count/secrets": "1"}
    found = report([quota(names, used)], denied=("Pod",), recounted=True)
    uses = {use.name: use for use in found.uses}
    assert (uses["requests.memory"].counted, uses["requests.memory"].unread) == (None, "pods")
    assert (uses["count/secrets"].counted, uses["count/secrets"].unread) == (None, "secrets")
    assert (uses["services"].counted, uses["services"].unread) == ("0", "")
    drift = uses["nonsense"].drift
    assert drift is not None and drift.cause == "nobody"
    assert (found.complete, [one.kind for one in found.unread]) == (False, ["Pod"])
    assert report([quota(names, used)]).complete


def test_hard_that_is_not_taken_over_yet():
    raw = quota({"pods": "4", "services": "1"}, {"pods": "3"})
    raw["status"]["hard"] = {"pods": "5", "configmaps": "2"}
    uses = {use.name: (use.hard, use.used, use.spec_hard) for use in report([raw]).uses}
    assert uses == {"pods": ("5", "3", "4"), "services": ("1", None, None), "configmaps": ("2", None, "")}
    assert not report([quota({"pods": "4"})]).enforced


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({}, ()),
        ({"scopes": ["Terminating"]}, ("only pods with activeDeadlineSeconds",)),
        (
            {
                "scopes": ["NotBestEffort"],
                "scopeSelector": {
                    "matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["a", "b", "c"]}]
                },
            },
            ("only pods with a request or a limit of cpu or memory", "only pods of priority class a, b or c"),
        ),
        (
            {"scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "DoesNotExist"}]}},
            ("only pods without a priority class",),
        ),
        ({"scopes": ["Nonsense"]}, ("nothing: scope Nonsense is none that the server knows",)),
    ],
)
def test_scopes_in_words(spec, words):
    assert scope_words(decode_object(spec, ResourceQuotaSpec)) == words


def test_values_that_no_server_stores():
    with pytest.raises(UsageError, match=r"ResourceQuota/team: spec\.hard\[pods\]: quantities must match"):
        report([quota({"pods": "many"})])
    found = report([quota({"pods": "-1", "cpu": "1e900"}, scopes=["Nonsense"])])
    assert [fault.partition(":")[0] for fault in found.faults] == ["spec.hard[pods]", "spec.scopes"]
    assert [use.name for use in found.uses] == ["cpu", "pods"]


def test_ten_thousand_names():
    names = {f"count/things{number}.example.com": "1" for number in range(10_000)}
    found = report([quota({**names, "requests.memory": "8Gi"}, {"requests.memory": "4Gi"}), *OBJECTS], recounted=True)
    assert len(found.uses) == 10_001
    assert {use.unread[:6] for use in found.uses} == {"", "things"}


def test_a_quota_is_what_json_says():
    found = report([quota({"pods": "4"}, {"pods": "3"})])
    shown = msgspec.to_builtins(found)["uses"]
    assert [*shown] == [{"name": "pods", "hard": "4", "used": "3", "free": "1", "percent": 75}]
    assert isinstance(decode_object(quota({"pods": "4"}), ResourceQuota), ResourceQuota)


def test_a_name_that_nothing_counts_for_says_what_was_meant():
    """The API server stores such a quota, and it limits nothing: it must not look empty and well."""
    store = filled([quota({"nvidia.com/gpu": "1"}, {})])
    [report] = quota_reports(store, [*store.all("ResourceQuota")], EvaluationOptions(now=NOW))
    [use] = report.uses
    assert use.limits_nothing == UncountedName("requests.nvidia.com/gpu")
    drawn = " ".join(" ".join(lines(report)).split())
    assert "nothing counts for this name, so it limits nothing: meant may be requests.nvidia.com/gpu" in drawn
