"""Every command beside every wrong answer: a complete answer with exit 0 is allowed for what stands here, only."""

from __future__ import annotations

import json
import re
from itertools import product
from typing import Any

import pytest
from cli.apiserver import Api, Said, deployment, pod
from cli.running import Kres, Result

from kubectl_kres.cluster.transport import deadline as backoff

STATUS = {"kind": "Status", "apiVersion": "v1", "status": "Failure"}
HTML = b"<html><body>404</body></html>"


def status(code: int, reason: str, **headers: str) -> Said:
    return Said(code, {**STATUS, "message": f"it says {code}", "reason": reason, "code": code}, headers=headers)


#: What is said instead of a list.
FAULTS = {
    "404 html": Said(404, HTML, "text/html"),
    "404 text": Said(404, b"404 page not found\n", "text/plain; charset=utf-8"),
    "404 other text": Said(404, b"no backend\n", "text/plain"),
    "404 status": status(404, "NotFound"),
    "404 empty object": Said(404, {}),
    "403 status": status(403, "Forbidden"),
    "403 html": Said(403, HTML, "text/html"),
    "409 status": status(409, "Conflict"),
    "410 status": status(410, "Expired"),
    "418 text": Said(418, b"teapot", "text/plain"),
    "429 status": status(429, "TooManyRequests", **{"Retry-After": "0"}),
    "500 status": status(500, "InternalError"),
    "502 html": Said(502, HTML, "text/html"),
    "503 status": status(503, "ServiceUnavailable"),
    "504 status": status(504, "Timeout"),
    "302 html": Said(302, HTML, "text/html", {"Location": "/api/v1/pods"}),
    "204 nothing": Said(204, b""),
    "200 nothing": Said(200, b""),
    "200 html": Said(200, HTML, "text/html"),
    "200 text": Said(200, b"ok", "text/plain"),
    "200 {}": Said(200, {}),
    "200 []": Said(200, []),
    "200 null": Said(200, None),
    "200 status ok": Said(200, {"status": "ok"}),
    "200 error": Said(200, {"error": "upstream unavailable"}),
    "200 status": Said(200, {**STATUS, "message": "it failed"}),
    "200 items without kind": Said(200, {"items": []}),
    "200 kind null": Said(200, {"kind": None, "items": []}),
    "200 list of nothing": Said(200, {"kind": "List", "apiVersion": "v1", "items": []}),
    "200 list of secrets": Said(200, {"kind": "SecretList", "apiVersion": "v1", "items": []}),
    "200 cut": Said(200, b'{"kind": "PodList", "items": [{"metadata": {"name": "a"'),
    "200 invalid text": Said(200, b'{"kind": "\xff"}'),
    "200 deep": Said(200, b'{"kind": ' + b"[" * 100_000),
}
#: The same behind a page that was whole.
LATER = {
    f"page 2: {name}": said._replace(after=1)
    for name, said in FAULTS.items()
    if name
    in {"404 html", "404 text", "404 status", "403 status", "500 status", "200 {}", "200 list of secrets", "200 cut"}
}
ALL = {**FAULTS, **LATER}

_POLICIES = ("limitranges", "resourcequotas")
_POOLED = ("resourcepools", "resourcepoolclaims")
#: Commands, with the kinds that their answers depend on.
COMMANDS: dict[str, tuple[str, ...]] = {
    "explain deploy/web -o json": ("limitranges", "resourcequotas", "deployments"),
    "explain deployments -o json": ("limitranges", "deployments"),
    "explain pods -A -o json": ("limitranges", "pods"),
    "diff deploy/web -o json": _POLICIES,
    "qos -A -o json": ("limitranges", "pods"),
    "qos --summary -A -o json": ("pods",),
    "quota -o json": ("resourcequotas",),
    "quota -A -o json": ("resourcequotas",),
    "quota --recount -o json": ("pods",),
    "quota --fit deploy/web -o json": _POLICIES,
    "quota --denied -o json": (*_POLICIES, "replicasets"),
    "claims -A -o json": _POOLED,
    "claims small -o json": ("resourcepools",),
    "pools -o json": _POOLED,
    "explain claim/small -o json": ("resourcepools",),
    "overview -o json": (*_POLICIES, "deployments", "pods"),
    "timeline -o json": (*_POLICIES, "replicasets", "pods", "resourcepoolclaims"),
    "check --fail-on never -o json": (*_POLICIES, "deployments"),
    "check --fail-on never --ignore KRES9 -o json": ("deployments",),
}
#: Extensions are absent where the API server's own Status says it, or discovery confirms the text.
EXTENSIONS = set(_POOLED)
ABSENT = {"404 status", "404 text"}
#: A tenant may not read pools, nor the claims of others: that answer is whole, and says what it could not see.
DENIED = {"403 status", "403 html", "page 2: 403 status"}
#: What is read as one object, without pages.
ALONE = {("explain deploy/web -o json", "deployments")}
MATRIX = [
    (command, plural, fault)
    for command, plurals in COMMANDS.items()
    for plural, fault in product(plurals, ALL)
    if not (fault in LATER and (command, plural) in ALONE)
]


def pooled(kind: str, name: str, namespace: str = "", **fields: Any) -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": "capsule.clastix.io/v1beta2", "kind": kind, "metadata": metadata, **fields}


@pytest.fixture
def whole(api: Api) -> Api:
    """A namespace with two objects of each kind, so that lists have two pages of one object."""
    quota = {"hard": {"pods": "10"}}
    api.objects += [
        {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "more", "namespace": "shop"}, "spec": {}},
        *({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name, "namespace": "shop"},
           "spec": quota, "status": {**quota, "used": {"pods": "2"}}} for name in ("a", "b")),
        *(pod(name, "1Mi") for name in ("p", "q")),
        *(deployment(name, "1Mi") for name in ("web", "db")),
        *({**deployment(name, "1Mi"), "kind": "ReplicaSet"} for name in ("r", "s")),
        *(pooled("ResourcePool", name, spec={"quota": {"hard": {"cpu": "4"}}}, status={"namespaces": ["shop"]})
          for name in ("green", "red")),
        *(pooled("ResourcePoolClaim", name, "shop", spec={"pool": "green", "claim": {"cpu": "1"}})
          for name in ("large", "small")),
    ]  # fmt: skip
    return api


def told(result: Result) -> str:
    return f"{result.code}\n{result.out}\n{result.err}"


def complete(out: str) -> bool:
    return bool(json.loads(out)["metadata"]["complete"]) if out else False


@pytest.mark.parametrize("command", COMMANDS)
def test_without_a_fault_the_answer_is_complete(kres: Kres, whole: Api, command: str) -> None:
    result = kres(f"{command} --chunk-size 1")
    assert result.code == 0, told(result)
    assert complete(result.out)
    for plural in COMMANDS[command]:
        assert any(plural in path for path in whole.asked), plural


@pytest.mark.one_in(11)
@pytest.mark.parametrize(("command", "plural", "fault"), MATRIX)
def test_a_wrong_answer_is_never_an_empty_one(kres: Kres, whole: Api, command: str, plural: str, fault: str) -> None:
    whole.faults[plural] = ALL[fault]
    result = kres(f"{command} --chunk-size 1")
    assert "Traceback" not in result.err
    if plural in EXTENSIONS and fault in ABSENT | DENIED and result.code == 0:
        return
    assert result.code in {3, 4}, told(result)
    assert not complete(result.out), told(result)
    assert result.err.strip() or "KRES901" in result.out, told(result)
    if plural in EXTENSIONS and fault in ABSENT:
        assert result.code == 3, told(result)


@pytest.mark.one_in(7)
@pytest.mark.parametrize(("plural", "fault"), product(["limitranges", "pods", "resourcepools"], ALL))
def test_a_snapshot_says_what_it_lacks(kres: Kres, whole: Api, plural: str, fault: str) -> None:
    resources = [{"resource": one, "responseKind": {"kind": kind}, "scope": "Namespaced"}
                 for one, kind in zip(_POOLED, ("ResourcePool", "ResourcePoolClaim"), strict=True)]  # fmt: skip
    whole.groups = [
        {"metadata": {"name": "capsule.clastix.io"}, "versions": [{"version": "v1beta2", "resources": resources}]}
    ]
    whole.faults[plural] = ALL[fault]
    result = kres("snapshot --out s.kres --chunk-size 1")
    denied = plural in EXTENSIONS and fault in DENIED
    assert result.code == (0 if denied else 4), told(result)
    assert f"{plural}" in result.err
    assert "could not be read" in result.err


@pytest.mark.one_in(9)
@pytest.mark.parametrize(
    ("command", "fault"),
    [*(("explain deploy/web", fault) for fault in FAULTS), ("quota", "404 html"), ("qos -A", "200 {}")],
)
def test_a_watch_that_is_answered_wrongly_is_told(
    kres: Kres, whole: Api, command: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first answer stands, and that it may be out of date is said."""
    monkeypatch.setattr(backoff, "FIRST", 0.02)
    monkeypatch.setattr(backoff, "LONGEST", 0.1)
    whole.watched = FAULTS[fault]
    result = kres(f"{command} -w --timeout 2s")
    assert result.code == 0, told(result)
    assert result.out.strip()
    assert "Traceback" not in result.err
    told_of = r"may be out of date since \d\d:\d\d:\d\d; trying again: |cannot be watched and are read again"
    assert re.search(told_of, result.err), told(result)


@pytest.mark.parametrize("seconds", [15, 100_000, int("9" * 400)])
def test_a_watch_that_is_to_wait_long_is_told_at_once(kres: Kres, whole: Api, seconds: int) -> None:
    whole.watched = status(429, "TooManyRequests", **{"Retry-After": str(seconds)})
    result = kres("explain deploy/web -w --timeout 1s")
    assert re.search(r"may be out of date since \d\d:\d\d:\d\d; the server asks to wait \d+ seconds", result.err)
    assert f"the next try is in {min(seconds, 60)}: it says 429" in result.err
    assert "inf" not in result.err


@pytest.mark.parametrize("plural", ["resourcepools", "resourcepoolclaims"])
def test_check_names_what_of_the_cluster_failed(kres: Kres, whole: Api, plural: str) -> None:
    """It looks no further than what answers, and no command is proposed for objects that nobody saw."""
    whole.faults = {plural: FAULTS["200 html"]}
    found = json.loads(kres("check --fail-on never -o json").out)["items"]
    (unread,) = [each for each in found if each["code"] == "KRES901"]
    assert "not JSON" in unread["message"] and not unread.get("commands")
    assert "not checked (the server answered" in kres("check --fail-on never --ignore KRES9").err
    whole.faults = {plural: FAULTS["403 status"]}
    found = json.loads(kres("check --fail-on never -o json").out)["items"]
    assert not [each for each in found if each["code"] == "KRES901"]


def test_fit_names_the_policies_that_it_could_not_read(kres: Kres, whole: Api) -> None:
    whole.faults = {"validatingadmissionpolicybindings": FAULTS["200 html"]}
    found = kres("quota --fit deploy/web -o json")
    (item,) = json.loads(found.out)["items"]
    assert item["verdict"]["outcome"] == "admitted-as-far-as-seen"
    assert [each["kind"] for each in item["unread"]] == ["ValidatingAdmissionPolicyBinding"]
    assert "unread          ValidatingAdmissionPolicyBinding" in kres("quota --fit deploy/web").out
