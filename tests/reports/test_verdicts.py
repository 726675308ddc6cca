"""The words of verdicts: what is missing, what rejects it, and what a gate makes of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from reports.stored import event, made, owned_by, store_of, subject, template

from kubectl_kres.render.pod.explain import lines
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import EvaluationOptions, Explanation, FailedRead
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.explain.summary import Outlines
from kubectl_kres.reports.pod.verdict import (
    ITSELF,
    NEGATIVE,
    OUTCOMES,
    NeededPods,
    is_negative,
    outcome_word,
    with_outcome,
)

PAGE = Path(__file__).parents[2] / "docs" / "verdicts.md"
APP = {"name": "app", "image": "app", "resources": {"requests": {"cpu": "100m"}}}
SECURITY = (
    'Error creating: pods "web-1-x" is forbidden: violates PodSecurity "restricted:latest": '
    "allowPrivilegeEscalation != false"
)


EXCEEDED = (
    'pods "x" is forbidden: exceeded quota: q, requested: requests.cpu=100m, used: requests.cpu=200m, '
    "limited: requests.cpu=200m"
)


#: What the sentences name is still there.
DECIDING = (
    {**made("ValidatingWebhookConfiguration", "house"), "webhooks": [{"name": "a.b.io"}]},
    made("ValidatingAdmissionPolicy", "p"),
    made("ValidatingAdmissionPolicyBinding", "b", spec={"policyName": "p"}),
)


def quota(hard: str, used: str) -> dict[str, Any]:
    return made(
        "ResourceQuota", "q", spec={"hard": {"requests.cpu": hard}},
        status={"hard": {"requests.cpu": hard}, "used": {"requests.cpu": used}},
    )  # fmt: skip


def web(replicas: int = 2, existing: int = 2, updated: int | None = None, **spec: Any) -> dict[str, Any]:
    counts = {"replicas": existing, "updatedReplicas": existing if updated is None else updated}
    status = {**counts, "observedGeneration": 1}
    return made("Deployment", "web", spec={"replicas": replicas, **template(APP), **spec}, status=status)


def failed(time: str, text: str = SECURITY, about: str = "ReplicaSet/web-1") -> dict[str, Any]:
    return {**event(about, "FailedCreate", text), "lastTimestamp": time, "count": 14}


def pod(time: str) -> dict[str, Any]:
    found = made("Pod", "web-1-a", spec={"containers": [APP]}, **owned_by("ReplicaSet", "web-1"))
    found["metadata"]["creationTimestamp"] = time
    return found


def replica_set(name: str = "web-1", revision: str = "1", count: int = 0) -> dict[str, Any]:
    return made(
        "ReplicaSet", name, spec={"replicas": 2, **template(APP)}, status={"replicas": count},
        annotations={"deployment.kubernetes.io/revision": revision}, **owned_by("Deployment", "web"),
    )  # fmt: skip


def told(*objects: dict[str, Any], name: str = "Deployment/web") -> Explanation:
    """What a list says of it is the same."""
    store = store_of(*objects)
    found = explain(store, subject(name), EvaluationOptions())
    assert Outlines(store, EvaluationOptions()).outline(subject(name)).verdict.outcome == found.verdict.outcome
    return found


@pytest.mark.parametrize(
    ("objects", "word", "missing"),
    [
        pytest.param([web(), quota("1", "200m")], "admitted", 0, id="room for more"),
        pytest.param([web(), quota("200m", "200m")], "full", 0, id="all run, the quota is full"),
        pytest.param([web(existing=1), quota("100m", "100m")], "refused", 1, id="one is missing"),
        pytest.param([web(updated=0), quota("200m", "200m")], "refused", 2, id="a stuck rollout, all old pods run"),
        pytest.param([web(updated=1), quota("200m", "200m")], "refused", 1, id="halfway through a stuck rollout"),
        pytest.param([web(4, 0), quota("200m", "0")], "partly", 4, id="two of four fit in back-off"),
        pytest.param([web(2, 0), quota("200m", "0")], "admitted", 2, id="both fit in back-off"),
        pytest.param([web(updated=0, paused=True), quota("200m", "200m")], "full", 0, id="paused: old pods may stay"),
        pytest.param([web(0, 0), quota("0", "0")], "full", 0, id="none is wanted"),
    ],
)
def test_missing_is_wanted_minus_pods_of_the_newest_template(objects: Any, word: str, missing: int):
    found = told(*objects).verdict
    assert (found.outcome, found.missing, found.fits) == (word, missing, 2 if word == "partly" else None)
    assert is_negative(found) is (word in {"refused", "partly"})


@pytest.mark.parametrize(
    ("status", "spec", "word"),
    [
        ({"currentRevision": "a", "updateRevision": "b", "updatedReplicas": 1, "replicas": 2}, {}, "refused"),
        ({"currentRevision": "a", "updateRevision": "b", "updatedReplicas": 1}, {}, "full"),
        ({"currentRevision": "b", "updateRevision": "b", "updatedReplicas": 3}, {}, "full"),
        ({"currentRevision": "a", "updateRevision": "b"}, {"updateStrategy": {"type": "OnDelete"}}, "full"),
        (
            {"currentRevision": "a", "updateRevision": "b", "updatedReplicas": 1},
            {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}},
            "full",
        ),
    ],
)
def test_a_stateful_set_keeps_what_partition_and_ondelete_leave(status: Any, spec: Any, word: str):
    spec, status = {"replicas": 3, **template(APP), **spec}, {"replicas": 3, **status}
    found = told(made("StatefulSet", "db", spec=spec, status=status), quota("300m", "300m"), name="StatefulSet/db")
    assert found.verdict.outcome == word


def filed(replicas: int, *objects: dict[str, Any], more: Any = None, **app: Any) -> tuple[str, int]:
    """Outcome and missing pods of the same Deployment in a file."""
    container = {**APP, **app}
    spec = {"replicas": replicas, **template(container), "selector": {"matchLabels": {"app": "web"}}}
    spec["template"] = {**spec["template"], "metadata": {"labels": {"app": "web"}}}
    raw = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {**spec, **(more or {})}}
    found = explain(store_of(*objects), subject("Deployment/web", raw, "web.yaml"), EvaluationOptions()).verdict
    return found.outcome, found.missing


def test_a_file_of_a_workload_that_exists_wants_no_pod_more_than_it_says():
    assert filed(2, web(), quota("200m", "200m")) == ("full", 0)
    assert filed(3, web(), quota("200m", "200m")) == ("refused", 1)
    assert filed(4, web(), quota("300m", "200m")) == ("partly", 2)
    assert filed(2, web(), quota("200m", "200m"), image="registry.test/app:2")[0] == "refused"
    assert filed(2, quota("200m", "200m")) == ("refused", 2)
    assert filed(2, web(), quota("200m", "200m"), more={"selector": {}}) == ("refused", 1)


def test_a_cronjob_is_asked_about_all_pods_of_its_next_job():
    job = {"parallelism": 3, "completions": 3, **template(APP)}
    nightly = made("CronJob", "nightly", spec={"schedule": "0 0 * * *", "jobTemplate": {"spec": job}})
    found = told(nightly, quota("200m", "0"), name="CronJob/nightly").verdict
    assert (found.outcome, found.missing, found.fits) == ("partly", 3, 2)
    assert told(nightly, quota("300m", "0"), name="CronJob/nightly").verdict.outcome == "admitted"


BLOCKED = 'blocked: ns/Deployment/web: 0 of 2 pods exist; Pod Security "restricted:latest" rejects them (14 times'


def test_pods_that_something_else_rejects_are_blocked():
    found = told(web(existing=0), replica_set(), failed("2026-11-22T07:31:35Z"))
    assert (found.verdict.outcome, found.verdict.allowed) == ("blocked", True)
    assert found.verdict.blocked is not None
    assert (found.verdict.blocked.times, found.verdict.blocked.last) == (14, "2026-11-22T07:31:35Z")
    first, server, *_ = lines(found, whole=True, width=200)
    assert first == f"{BLOCKED}, last 2026-11-22T07:31:35Z; since 2026-11-22T07:31:35Z)"
    assert server == f"server  {SECURITY.removeprefix('Error creating: ')}"


@pytest.mark.parametrize(
    ("objects", "word"),
    [
        pytest.param([web(existing=1), pod("2026-01-01T00:00:09Z"), failed("2026-01-01T00:00:08Z")], "admitted",
                     id="a pod has come since"),
        pytest.param([web(existing=1), pod("2026-01-01T00:00:08Z"), failed("2026-01-01T00:00:09Z")], "blocked",
                     id="the refusal is newer than the last pod"),
        pytest.param([web(existing=0), quota("200m", "0"), failed("2026-01-01T00:00:09Z", EXCEEDED)],
                     "admitted", id="a quota that has room now"),
        pytest.param([web(existing=2), failed("2026-01-01T00:00:09Z")], "admitted", id="nothing is missing"),
        pytest.param([web(existing=0), replica_set(), replica_set("web-2", "2"), failed("2026-01-01T00:00:09Z")],
                     "admitted", id="of a template that is gone"),
        pytest.param([web(existing=0), quota("0", "0"), failed("2026-01-01T00:00:09Z")], "refused",
                     id="a quota refuses first"),
    ],
)  # fmt: skip
def test_what_was_rejected_last_decides(objects: Any, word: str):
    count = objects[0]["status"]["replicas"]
    assert (
        told(
            *objects, *([] if any(item["kind"] == "ReplicaSet" for item in objects) else [replica_set(count=count)])
        ).verdict.outcome
        == word
    )


@pytest.mark.parametrize(
    ("text", "by"),
    [
        (SECURITY, 'Pod Security "restricted:latest"'),
        ('Error creating: admission webhook "a.b.io" denied the request: no', "webhook a.b.io"),
        ('failed calling webhook "a.b.io": timeout', "webhook a.b.io (it cannot be called)"),
        ("pods \"x\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
         "ValidatingAdmissionPolicy p"),
        ('error looking up service account ns/x: serviceaccount "x" not found', "ServiceAccount x, which does not"),
        ("something new", "the API server"),
    ],
)  # fmt: skip
def test_who_rejects_is_named(text: str, by: str):
    found = told(web(existing=0), replica_set(), failed("2026-01-01T00:00:09Z", text), *DECIDING)
    assert found.verdict.blocked is not None
    assert sentence_text(found.verdict.blocked.by).startswith(by)


@pytest.mark.parametrize("word", OUTCOMES)
def test_each_word_can_be_as_far_as_seen(word: str):
    admitted = told(web(existing=0)).verdict
    required = explain(
        store_of(web(existing=0), quota("0", "0")), subject("Deployment/web"), EvaluationOptions()
    ).verdict
    fillable = structs.replace(required.findings[0], rule="quota/must-specify")
    refused = structs.replace(required, findings=(fillable,))
    cases = {
        "admitted": (admitted, ITSELF),
        "full": (refused, NeededPods(0)),
        "refused": (refused, ITSELF),
        "blocked": (admitted, NeededPods(1, blocked=told(web(existing=0), failed("")).verdict.blocked)),
        "partly": (admitted, NeededPods(4, 2)),
        "depends-on-order": (structs.replace(refused, allowed=None), ITSELF),
        "no-answer": (structs.replace(refused, reason="NoAnswer"), ITSELF),
    }
    verdict, needed = cases[word]
    seen = with_outcome(verdict, (), needed)
    blind = with_outcome(verdict, (FailedRead("LimitRange", "denied"),), needed)
    assert (seen.outcome, blind.outcome, outcome_word(blind)) == (word, f"{word}-as-far-as-seen", word)
    assert is_negative(blind) is (word in NEGATIVE)


def test_the_page_has_the_words_that_there_are():
    rows = re.findall(r"^\| `([a-z-]+)` \| (.*?) \| ([01]) \| (ends|waits) \|$", PAGE.read_text(), re.MULTILINE)
    assert tuple(word for word, *_ in rows) == OUTCOMES
    assert {word for word, _, code, until in rows if code == "1" and until == "waits"} == NEGATIVE
    assert {word for word, _, code, until in rows if code == "0" and until == "ends"} == {*OUTCOMES} - NEGATIVE
