"""StatefulSets whose claims are refused: no pod comes, and every face says so."""

from __future__ import annotations

from typing import Any

import pytest
from reports.stored import advised, event, limits, made, store_of, subject, template

from kubectl_kres.render.verdict.note import note_text
from kubectl_kres.reports.common.explanation import EvaluationOptions, Explanation
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.explain.summary import Outlines
from kubectl_kres.reports.pod.needs import list_read_requests
from kubectl_kres.reports.quota.fit import fit
from kubectl_kres.store.store import ReadRequest

APP = {"name": "app", "resources": {"requests": {"cpu": "1"}}}
CLAIMS = ReadRequest("PersistentVolumeClaim", "ns", required=False)


def sized(name: str, size: str, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"resources": {"requests": {"storage": size}}, **spec}}


def stateful(*templates: dict[str, Any], replicas: int = 2, existing: int = 0, **spec: Any) -> dict[str, Any]:
    body = {**template(APP), "replicas": replicas, "volumeClaimTemplates": [*templates], **spec}
    return made("StatefulSet", "db", spec=body, status={"replicas": existing})


def quota(**amounts: tuple[str, str]) -> dict[str, Any]:
    hard, used = ({name.replace("_", "."): pair[i] for name, pair in amounts.items()} for i in (0, 1))
    return made("ResourceQuota", "q", spec={"hard": hard}, status={"hard": hard, "used": used})


def claim(name: str) -> dict[str, Any]:
    return made("PersistentVolumeClaim", name, spec=sized("", "1Gi")["spec"])


def judged(*objects: dict[str, Any], unread: tuple[str, ...] = ()) -> Explanation:
    """Of StatefulSet/db; what a list and --fit say of it is the same."""
    store = store_of(*objects, unread=unread)
    found = explain(store, subject("StatefulSet/db"), EvaluationOptions())
    outline = Outlines(store, EvaluationOptions()).outline(subject("StatefulSet/db"))
    assert outline.verdict.outcome == found.verdict.outcome
    assert (outline.remedy == "") is (found.verdict.outcome in {"admitted", "full"})
    assert fit(store, subject("StatefulSet/db"), EvaluationOptions()).verdict == found.verdict
    return found


DATA = sized("data", "8Gi")
EIGHT = quota(requests_storage=("10Gi", "0"))
OVER = (
    'persistentvolumeclaims "data-db-{}" is forbidden: exceeded quota: q, requested: requests.storage=8Gi, '
    "used: requests.storage={}, limited: requests.storage=10Gi"
)


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        pytest.param([stateful(DATA), EIGHT], "", id="it fits"),
        pytest.param(
            [stateful(DATA), quota(requests_storage=("10Gi", "9Gi"))], OVER.format(0, "9Gi"), id="it does not"
        ),
        pytest.param(
            [stateful(DATA, existing=1), claim("data-db-0"), quota(requests_storage=("10Gi", "8Gi"))],
            OVER.format(1, "8Gi"),
            id="the second one",
        ),
        pytest.param(
            [stateful(DATA, replicas=1), claim("data-db-0"), quota(requests_storage=("10Gi", "8Gi"))],
            "",
            id="the pod is missing, its claim is there",
        ),
        pytest.param(
            [stateful(DATA, replicas=1, existing=1), claim("data-db-0"), quota(requests_storage=("10Gi", "8Gi"))],
            OVER.format(1, "8Gi"),
            id="all pods exist, and another one does not fit",
        ),
        pytest.param(
            [
                *(stateful(DATA, replicas=1, existing=1), claim("data-db-0"), claim("data-db-1")),
                quota(requests_storage=("10Gi", "10Gi")),
            ],
            "",
            id="another one finds the claim that was left",
        ),
        pytest.param(
            [stateful(DATA, ordinals={"start": 5}), quota(requests_storage=("10Gi", "9Gi"))],
            OVER.format(5, "9Gi"),
            id="ordinals that start later",
        ),
        pytest.param(
            [stateful(DATA), limits("lr", type="PersistentVolumeClaim", max={"storage": "4Gi"})],
            'persistentvolumeclaims "data-db-0" is forbidden: maximum storage usage per PersistentVolumeClaim is 4Gi, '
            "but request is 8Gi",
            id="a LimitRange",
        ),
        pytest.param(
            [stateful(DATA), quota(persistentvolumeclaims=("1", "1"))],
            'persistentvolumeclaims "data-db-0" is forbidden: exceeded quota: q, requested: persistentvolumeclaims=1, '
            "used: persistentvolumeclaims=1, limited: persistentvolumeclaims=1",
            id="their number",
        ),
        pytest.param([stateful(), quota(persistentvolumeclaims=("1", "1"))], "", id="none is made"),
    ],
)
def test_the_claims_of_the_next_pod_are_admitted_first(objects, message):
    found = judged(*objects)
    assert (found.verdict.message, found.verdict.allowed) == (message, not message)


def test_several_templates_are_charged_together_in_any_order():
    found = judged(stateful(sized("a", "6Gi"), sized("b", "5Gi")), EIGHT)
    said = {found.verdict.message, *found.verdict.others}
    assert {text.split('"')[1] for text in said} == {"a-db-0", "b-db-0"}
    assert all("used: requests.storage=" in text and "used: requests.storage=0" not in text for text in said)
    [cost] = found.quotas
    assert (cost.charge.requested, cost.charge.after, cost.exceeded) == (
        {"requests.storage": "11Gi"},
        {"requests.storage": "11Gi"},
        ("requests.storage",),
    )


def test_what_else_refuses_the_pod_has_its_remedy_too():
    found = judged(stateful(DATA), quota(requests_storage=("1Gi", "0"), pods=("1", "1")))
    [way] = advised(found)
    assert way.startswith("raise quota q: requests.storage to 16Gi ")
    assert " and pods to 3 " in way


@pytest.mark.parametrize(
    ("existing", "claims", "used", "fits"),
    [(0, 0, "0", 3), (1, 1, "3Gi", 2), (0, 2, "6Gi", 3), (2, 2, "6Gi", 1), (2, 2, "9Gi", 0)],
)
def test_how_many_more_fit_with_their_claims(existing, claims, used, fits):
    """Pods whose claims are there need no room for them."""
    held = [claim(f"data-db-{number}") for number in range(claims)]
    sets = stateful(sized("data", "3Gi"), replicas=4, existing=existing)
    store = store_of(sets, *held, quota(requests_storage=("10Gi", used)))
    assert fit(store, subject("StatefulSet/db"), EvaluationOptions()).fits == fits


@pytest.mark.parametrize("used", ["0", "9Gi"])
def test_claims_that_could_not_be_read_are_taken_as_new_and_that_is_said(used):
    found = judged(stateful(DATA), quota(requests_storage=("10Gi", used)), unread=("PersistentVolumeClaim",))
    assert found.verdict.allowed is (used == "0")
    assert any(one.code == "claim/taken-as-new" for one in found.assumptions) is (used != "0")


def test_a_refusal_that_would_pass_now_is_told_apart_from_one_of_a_webhook():
    told = 'Create Claim data-db-0 for Pod db-0 failed error: persistentvolumeclaims "data-db-0" is forbidden: {}'
    past = event(
        "StatefulSet/db",
        "FailedCreate",
        told.format(
            "exceeded quota: q, requested: requests.storage=8Gi, used: requests.storage=8Gi, "
            "limited: requests.storage=10Gi"
        ),
    )
    hook = event("StatefulSet/db", "FailedCreate", told.format("not in this house"))
    note = note_text(judged(stateful(DATA, replicas=1), EIGHT, past).note)
    assert note.startswith("wait: use of requests.storage of")
    barred = "correct the PersistentVolumeClaim of its pod: not in this house"
    assert advised(judged(stateful(DATA, replicas=1), EIGHT, hook)) == (barred,)


@pytest.mark.parametrize(
    ("policies", "read"),
    [
        ([], False),
        ([quota(pods=("1", "0"))], False),
        ([EIGHT], True),
        ([quota(**{"count/persistentvolumeclaims": ("1", "0")})], True),
        ([limits("lr", max={"cpu": "1"})], False),
        ([limits("lr", type="PersistentVolumeClaim", max={"storage": "4Gi"})], True),
    ],
)
def test_claims_are_read_where_something_bounds_them(policies, read):
    store = store_of(stateful(DATA), *policies)
    assert (CLAIMS in list_read_requests(store, subject("StatefulSet/db"))) is read
    assert CLAIMS not in list_read_requests(store_of(stateful(), *policies), subject("StatefulSet/db"))


def test_a_file_is_told_of_a_size_that_does_not_parse():
    raw = {"apiVersion": "apps/v1", **stateful(sized("data", "8Gib"))}
    found = explain(store_of(), subject("StatefulSet/db", raw), EvaluationOptions())
    assert (found.verdict.code, found.verdict.findings[0].path) == (
        400,
        "spec.volumeClaimTemplates[0].spec.resources.requests[storage]",
    )


GOLD = "gold.storageclass.storage.k8s.io/requests.storage"


def storage_class(name: str, made_at: str = "2026-01-01T00:00:00Z", *, key: str = "", default: str = "true") -> dict:
    note = {key or "storageclass.kubernetes.io/is-default-class": default}
    return made("StorageClass", name, annotations=note, creationTimestamp=made_at)


@pytest.mark.parametrize(
    ("classes", "spec", "allowed"),
    [
        pytest.param([], {}, True, id="there is none"),
        pytest.param([storage_class("gold")], {}, False, id="the default one counts"),
        pytest.param([storage_class("gold", default="false")], {}, True, id="none is the default"),
        pytest.param(
            [storage_class("gold", key="storageclass.beta.kubernetes.io/is-default-class")], {}, False, id="of old"
        ),
        pytest.param([storage_class("gold"), storage_class("tin")], {}, False, id="of two as old the first by name"),
        pytest.param([storage_class("gold"), storage_class("a", "2026-02-01T00:00:00Z")], {}, True, id="the newest"),
        pytest.param([storage_class("gold")], {"storageClassName": ""}, True, id="the claim wants none"),
        pytest.param([storage_class("tin")], {"storageClassName": "gold"}, False, id="the claim names one"),
    ],
)
def test_a_claim_without_a_class_counts_for_the_default_one(classes, spec, allowed):
    found = judged(stateful(sized("data", "8Gi", **spec)), quota(**{GOLD: ("1Gi", "0")}), *classes)
    assert found.verdict.allowed is allowed


@pytest.mark.parametrize(
    ("spec", "hard", "read"),
    [({}, GOLD, True), ({"storageClassName": "gold"}, GOLD, False), ({}, "requests_storage", False)],
)
def test_storage_classes_are_read_where_the_default_one_decides(spec, hard, read):
    store = store_of(stateful(sized("data", "8Gi", **spec)), quota(**{hard: ("1Gi", "0")}))
    assert (ReadRequest("StorageClass") in list_read_requests(store, subject("StatefulSet/db"))) is read


def test_storage_classes_that_could_not_be_read_are_in_the_word():
    store = store_of(stateful(DATA), quota(**{GOLD: ("1Gi", "0")}), unread=("StorageClass",))
    assert explain(store, subject("StatefulSet/db"), EvaluationOptions()).verdict.outcome == "admitted-as-far-as-seen"
