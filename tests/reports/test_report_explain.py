"""Explanations: verdicts, quotas, orders, edits, what a workload in a file is told."""

from __future__ import annotations

import pytest
from reports.stored import advised, event, limits, made, owned_by, store_of, subject, template

from kubectl_kres.admission.base.server import Server
from kubectl_kres.render.pod.explain import lines
from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.reports.explain.explain import explain

APP = {"name": "app", "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}}
WEB = made("Deployment", "web", spec=template(APP))
AGAIN = "next pod would be admitted; the controller tries again by itself"
EXCEEDED = (
    'Error creating: pods "web-x" is forbidden: exceeded quota: q, requested: pods=1, used: pods={used}, '
    "limited: pods=2"
)


def quota(name: str, hard: dict, used: dict, **metadata) -> dict:
    return made("ResourceQuota", name, spec={"hard": hard}, status={"hard": hard, "used": used}, **metadata)


@pytest.mark.parametrize(
    ("hard", "used", "fits", "exceeded"),
    [
        ({"requests.cpu": "4", "pods": "10"}, {"requests.cpu": "0", "pods": "1"}, 4, ()),
        ({"requests.cpu": "4", "pods": "2"}, {"requests.cpu": "0", "pods": "1"}, 1, ()),
        ({"requests.cpu": "4"}, {"requests.cpu": "3500m"}, 0, ("requests.cpu",)),
        ({"requests.cpu": "4"}, {"requests.cpu": "9"}, 0, ("requests.cpu",)),
        ({"requests.memory": "4"}, {"requests.memory": "9"}, None, None),
        ({"services": "4"}, {"services": "9"}, None, None),
    ],
)
def test_how_many_fit(hard, used, fits, exceeded):
    costs = explain(store_of(WEB, quota("q", hard, used)), subject("Deployment/web"), EvaluationOptions()).quotas
    if fits is None:
        assert costs == ()
    else:
        [cost] = costs
        assert (cost.fits, cost.exceeded, cost.counted) == (fits, exceeded, False)


def test_a_live_pod_is_counted_already():
    """The quota is full with it, and it is neither refused nor asked for room."""
    pod = made("Pod", "p", spec={"containers": [APP]}, status={"phase": "Running"})
    found = explain(store_of(pod, quota("q", {"pods": "1"}, {"pods": "1"})), subject("Pod/p"), EvaluationOptions())
    assert found.verdict.allowed
    [cost] = found.quotas
    assert (cost.counted, cost.fits, cost.exceeded) == (True, 0, ("pods",))


def test_the_quota_that_refuses_comes_first():
    quotas = [quota(name, {"pods": hard}, {"pods": "1"}) for name, hard in (("a", "9"), ("b", "1"), ("c", "9"))]
    found = explain(store_of(WEB, *quotas), subject("Deployment/web"), EvaluationOptions())
    assert [cost.quota for cost in found.quotas] == ["b", "a", "c"]


def test_figures_are_those_of_one_order_and_say_so():
    ranges = [limits("a", default={"memory": "1Gi"}), limits("b", default={"memory": "2Gi"})]
    found = explain(store_of(WEB, *ranges), subject("Deployment/web"), EvaluationOptions())
    assert (found.certain, found.order) == (False, ("a", "b"))
    assert [total.value for total in found.totals if total.side == "limits"] == ["1", "1Gi"]
    [value] = [value for value in found.containers[0].values if value.side == "limits" and value.resource == "memory"]
    assert [(other.value, other.order) for other in value.alternatives] == [("2Gi", ("b", "a"))]


def test_a_class_that_depends_on_the_order():
    ranges = [
        limits("a", default={"memory": "1Gi"}),
        limits("b", default={"memory": "2Gi"}, defaultRequest={"memory": "1Gi"}),
    ]
    found = explain(store_of(WEB, *ranges), subject("Deployment/web"), EvaluationOptions())
    assert {found.qos.name, *found.qos_alternatives} == {"Guaranteed", "Burstable"}


def test_the_outcome_that_a_live_pod_has_leads():
    ranges = [limits("a", default={"memory": "1Gi"}), limits("b", default={"memory": "2Gi"})]
    resources = {"requests": {"cpu": "1", "memory": "2Gi"}, "limits": {"cpu": "1", "memory": "2Gi"}}
    pod = made(
        "Pod", "p", spec={"containers": [{"name": "app", "resources": resources}]}, **owned_by("ReplicaSet", "r")
    )
    store = store_of(pod, made("ReplicaSet", "r", spec=template(APP)), *ranges)
    found = explain(store, subject("Pod/p"), EvaluationOptions())
    values = {(value.side, value.resource): value for value in found.containers[0].values}
    assert values["limits", "memory"].value == values["limits", "memory"].live == "2Gi"
    assert not any(value.note for value in values.values())
    assert found.order == ("b", "a")


def test_a_workload_in_a_file_is_refused_as_itself():
    """No server stores a Deployment with a quantity that does not parse: no pod is ever asked for."""
    raw = made("Deployment", "web", spec=template({"name": "app", "resources": {"limits": {"cpu": "one"}}}))
    raw["apiVersion"] = "apps/v1"
    found = explain(store_of(), subject("Deployment/web", raw, "w.yaml"), EvaluationOptions())
    assert found.verdict.code == 400
    assert found.verdict.message.startswith('Deployment in version "v1" cannot be handled as a Deployment: ')
    assert advised(found) == ('write limits.cpu of container app as a quantity such as 500m or 128Mi, not "one"',)
    assert [(one.name, [value.written for value in one.values]) for one in found.containers] == [("app", ["one"])]


def test_unknown_fields_of_a_workload_in_a_file():
    raw = made("Deployment", "web", spec={**template({**APP, "image": "i", "resource": {}}), "replica": 3})
    raw["apiVersion"] = "apps/v1"
    found = explain(store_of(), subject("Deployment/web", raw), EvaluationOptions())
    assert [finding.text for finding in found.verdict.findings] == [
        'unknown field "spec.replica"',
        'unknown field "spec.template.spec.containers[0].resource"',
    ]
    assert found.containers[0].values


def test_who_changed_what_refuses_is_known():
    edits = [
        {"manager": "terraform", "operation": "Apply", "time": "t", "fieldsV1": {"f:spec": {"f:hard": {"f:pods": {}}}}}
    ]
    store = store_of(WEB, quota("q", {"pods": "1"}, {"pods": "1"}, managedFields=edits))
    assert explain(store, subject("Deployment/web"), EvaluationOptions()).edits.keys() == {
        "ResourceQuota/q spec.hard[pods]"
    }


@pytest.mark.parametrize(
    ("objects", "remedy"),
    [
        ([], "wait for its controller; kubectl describe shows its last try"),
        (
            [
                quota("q", {"pods": "2"}, {"pods": "1"}),
                event("Deployment/web", "FailedCreate", EXCEEDED.format(used=2)),
            ],
            "wait: use of pods of ResourceQuota/q went from 2 to 1 since the last refusal, so the " + AGAIN,
        ),
        (
            [event("Deployment/web", "FailedCreate", 'persistentvolumeclaims "v" is forbidden: not in this house')],
            "correct the PersistentVolumeClaim of its pod: not in this house",
        ),
        (
            [event("Deployment/web", "FailedCreate", "Error creating: admission webhook denied it")],
            "look into what refuses its pods, neither a quota nor a LimitRange: admission webhook denied it",
        ),
        (
            [event("Deployment/web", "FailedScheduling", "0/3 nodes")],
            "wait for its controller; kubectl describe shows its last try",
        ),
    ],
)
def test_an_admitted_workload_whose_pods_do_not_come(objects, remedy):
    assert advised(explain(store_of(WEB, *objects), subject("Deployment/web"), EvaluationOptions())) == (remedy,)


def test_what_was_refused_is_not_said_to_pass_where_its_quota_could_not_be_read():
    store = store_of(WEB, event("Deployment/web", "FailedCreate", EXCEEDED.format(used=2)), unread=("ResourceQuota",))
    [remedy] = advised(explain(store, subject("Deployment/web"), EvaluationOptions()))
    assert remedy.startswith("The last attempt was refused (below). ")


WITHIN = "set limits.cpu and requests.cpu of container app to 500m"
MORE = "set limits.cpu and requests.cpu of container app to 2"


@pytest.mark.parametrize(
    ("bound", "hard", "used", "remedies"),
    [
        ({"max": {"cpu": "500m"}}, {"requests.cpu": "4"}, {"requests.cpu": "3500m"}, (WITHIN,)),
        (
            {"max": {"cpu": "500m"}},
            {"requests.cpu": "4"},
            {"requests.cpu": "3750m"},
            (
                f"raise requests.cpu of quota q to 4250m and {WITHIN}",
                "set limits.cpu of container app to 500m and requests.cpu of container app to 250m",
            ),
        ),
        ({"min": {"cpu": "2"}}, {"requests.cpu": "4"}, {"requests.cpu": "2"}, (MORE,)),
        (
            {"min": {"cpu": "2"}},
            {"requests.cpu": "4"},
            {"requests.cpu": "3"},
            (f"raise requests.cpu of quota q to 5 and {MORE}",),
        ),
        (
            {"max": {"cpu": "500m"}},
            {"limits.memory": "1"},
            {"limits.memory": "0"},
            (
                (
                    f"raise limits.memory of quota q to 128Mi and {WITHIN} and limits.memory of container app to e.g. "
                    "128Mi (kres does not know what it needs)"
                ),
            ),
        ),
    ],
)
def test_a_remedy_for_a_bound_says_what_a_quota_refuses_then(bound, hard, used, remedies):
    store = store_of(WEB, limits("lr", **bound), quota("q", hard, used))
    assert advised(explain(store, subject("Deployment/web"), EvaluationOptions())) == remedies


def test_a_live_pod_out_of_bounds_asks_no_quota_for_room():
    pod = made("Pod", "p", spec={"containers": [APP]}, status={"phase": "Running"})
    store = store_of(pod, limits("lr", max={"cpu": "500m"}), quota("q", {"pods": "1"}, {"pods": "1"}))
    found = explain(store, subject("Pod/p"), EvaluationOptions())
    assert (found.verdict.outcome, found.fixes) == ("full", ())
    assert [one.text for one in found.one_more] == ["maximum cpu usage per Container is 500m, but limit is 1"]


def test_a_pod_level_that_a_server_drops():
    raw = made("Deployment", "web", spec=template(APP, resources={"limits": {"cpu": "2"}}))
    level, app = explain(store_of(raw), subject("Deployment/web"), EvaluationOptions(Server((1, 33)))).containers
    assert [(value.written, value.value, value.rule) for value in level.values] == [("2", None, "pod-level/dropped")]
    assert (level.role, app.role) == ("pod", "container")


def test_values_come_in_a_fixed_order():
    names = ["example.com/gpu", "memory", "ephemeral-storage", "cpu"]
    resources = {side: dict.fromkeys(names, "1") for side in ("limits", "requests")}
    raw = made("Deployment", "web", spec=template({"name": "app", "resources": resources}))
    [app] = explain(store_of(raw), subject("Deployment/web"), EvaluationOptions()).containers
    assert [(value.resource, value.side) for value in app.values] == [
        (name, side)
        for name in ("cpu", "memory", "ephemeral-storage", "example.com/gpu")
        for side in ("requests", "limits")
    ]


@pytest.mark.parametrize(
    ("existing", "hard", "way"),
    [
        (0, "4", "raise pods of quota q to 7 (5 is enough for the next pod)"),
        (2, "4", "raise pods of quota q to 5"),
        (0, "2", "raise pods of quota q to 7 (5 is enough for the next pod)"),
    ],
)
def test_what_all_missing_pods_take_is_said_beside_the_next_one(existing: int, hard: str, way: str):
    web = made("Deployment", "web", spec={"replicas": 3, **template(APP)}, status={"replicas": existing})
    full = quota("q", {"pods": hard}, {"pods": "4"})
    assert advised(explain(store_of(web, full), subject("Deployment/web"), EvaluationOptions()))[0] == way


FAILED = {"type": "Failed", "status": "True", "reason": "DeadlineExceeded"}


@pytest.mark.parametrize(
    ("kind", "spec", "conditions", "why"),
    [
        ("Job", {}, [FAILED], "the job has failed (DeadlineExceeded) and makes no more pods"),
        ("Job", {}, [{"type": "Complete", "status": "True"}], "the job is complete and makes no more pods"),
        ("Job", {"suspend": True}, [], "the job is suspended and makes no pods until it goes on"),
        ("Deployment", {"replicas": 0}, [], "it wants no pods at present"),
    ],
)
def test_nobody_tries_again_where_no_pods_are_wanted(kind: str, spec: dict, conditions: list, why: str):
    held = made(kind, "web", spec={**spec, **template(APP)}, status={"conditions": conditions})
    tried = event(f"{kind}/web", "FailedCreate", 'Error creating: pods "web-x" is forbidden: exceeded quota: q')
    asked = subject(f"{kind}/web")
    (said,) = advised(explain(store_of(held, tried), asked, EvaluationOptions()))
    assert why in said
    full = quota("q", {"pods": "1"}, {"pods": "1"})
    found = explain(store_of(held, tried, full), asked, EvaluationOptions())
    assert (found.verdict.outcome, found.fixes) == ("full", ())
    assert [(one.resource, one.short_by) for one in found.one_more] == [("pods", "1")]
    assert f"{why}; a further pod would be refused" in next(lines(found, width=300))


@pytest.mark.parametrize(("failing", "existing"), [(False, 1), (True, 1), (False, 0)])
def test_a_refusal_of_a_time_that_is_over_is_not_waited_for(failing: bool, existing: int):
    """Events stay for an hour after the pods have come; what goes on is said by the condition, or by missing pods."""
    conditions = [{"type": "ReplicaFailure", "status": "True"}] if failing else []
    held = made("Deployment", "web", spec=template(APP), status={"conditions": conditions, "replicas": existing})
    tried = event("Deployment/web", "FailedCreate", EXCEEDED.format(used=2))
    room = quota("q", {"pods": "2"}, {"pods": "1"})
    [remedy] = advised(explain(store_of(held, tried, room), subject("Deployment/web"), EvaluationOptions()))
    assert ("tries again" in remedy) is (failing or not existing)


SHORT = "raise pods of quota q to 5"


@pytest.mark.parametrize(
    ("used", "filed", "existing", "way"),
    [
        ("2", False, 0, SHORT),
        ("2", True, 0, SHORT),
        ("1", True, 0, "nothing to change"),
        ("2", False, 2, "wait for its controller; kubectl describe shows its last try"),
        ("2", False, 3, "kubectl get pods -n ns shows which pods are not ready"),
        ("2", True, 1, SHORT),
    ],
    ids=["missing", "in a file", "all fit", "the last one fits", "all there", "in a file of what exists"],
)
def test_that_not_all_missing_pods_fit_is_told(used: str, filed: bool, existing: int, way: str):
    held = made("Deployment", "web", spec={"replicas": 3, **template(APP)}, status={"replicas": existing})
    store = store_of(quota("q", {"pods": "4"}, {"pods": used}), *([held] if not filed or existing else []))
    labels = {"app": "web"}
    made_of = {"metadata": {"labels": labels}, **template({**APP, "image": "i"})["template"]}
    spec = {"replicas": 3, "selector": {"matchLabels": labels}, "template": made_of}
    raw = {**held, "apiVersion": "apps/v1", "spec": spec} if filed else None
    assert advised(explain(store, subject("Deployment/web", raw), EvaluationOptions()))[0] == way
