"""Pools and claims as reports: states, places, what contradicts what, bad input, and old versions of Capsule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from reports.stored import store_of

from kubectl_kres.capsule.reports.claim.claim_detail import claim_detail
from kubectl_kres.capsule.reports.claim.claims import ClaimReport, Claims
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex
from kubectl_kres.capsule.reports.explain_claim_or_pool import explain_claim, explain_pool
from kubectl_kres.capsule.reports.pool.pools import pool_report
from kubectl_kres.capsule.text import claim as render_claim
from kubectl_kres.capsule.text import claim_or_pool as render_pooled
from kubectl_kres.capsule.text import claims as render_claims
from kubectl_kres.capsule.text import pools as render_pools
from kubectl_kres.quantity import parse
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.verdict.object_list import PrintedTable

VECTORS = Path(__file__).parents[1] / "vectors" / "capsule"
CPU = "requests.cpu"
Raw = dict[str, Any]


def space(name: str, **labels: str) -> Raw:
    return {"kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def pool(name: str = "green", hard: Raw | None = None, *, spaces: tuple[str, ...] = ("ns",), **status: Any) -> Raw:
    spec = {"quota": {"hard": hard or {CPU: "4"}}, "selectors": [{"matchLabels": {"t": "x"}}]}
    held = {"namespaces": list(spaces), "observedGeneration": 1, "allocation": {"hard": spec["quota"]["hard"]},
            "conditions": [{"type": "Ready", "status": "True", "reason": "Succeeded", "message": "reconciled"}],
            **status}  # fmt: skip
    return {"kind": "ResourcePool", "metadata": {"name": name, "uid": f"u-{name}"}, "spec": spec, "status": held}


def condition(kind: str, status: str, reason: str, message: str) -> Raw:
    return {"type": kind, "status": status, "reason": reason, "message": message}


READY = condition("Ready", "True", "Succeeded", "reconciled")
SHORT = condition("Exhausted", "True", "PoolExhausted", f"requested: {CPU}=3, available: {CPU}=1")


def claim(name: str, *conditions: Raw, asks: Raw | None = None, of: str | None = "green", **metadata: Any) -> Raw:
    status: Raw = {"conditions": list(conditions)} if conditions else {}
    if of is not None:
        status["pool"] = {"name": of, "uid": f"u-{of}"}
    meta = {"name": name, "namespace": "ns", "uid": f"u-{name}", "creationTimestamp": "2026-11-20T03:00:00Z"}
    spec = {"pool": of or "green", "claim": {CPU: "3"} if asks is None else asks}
    return {"kind": "ResourcePoolClaim", "metadata": {**meta, **metadata}, "spec": spec, "status": status}


def report_of(name: str, *objects: Raw, unread: tuple[str, ...] = ()) -> ClaimReport:
    store = store_of(*objects, unread=unread)
    return claim_detail(Claims(PoolIndex(store)), store.get("ResourcePoolClaim", name, "ns"))


def recorded() -> list[Any]:
    found = []
    for file in sorted(VECTORS.glob("*.json")):
        # The random ones are many, and large.
        cases = json.loads(file.read_text())["cases"][:40]
        found += [pytest.param(case, id=f"{file.stem}-{case['name']}") for case in cases if "steps" in case]
    return found


def estate_of(case: Raw) -> list[Raw]:
    """The end of a recorded case as objects; amounts that were patched since are not in the recording of a claim."""
    given, expect = case["given"], case["expect"]
    if "pools" not in expect:
        return []
    objects = [{"kind": "Namespace", **one} for one in given["namespaces"]]
    for name, one in expect["pools"].items():
        if one is not None:
            meta = {"name": name, "uid": f"uid:ResourcePool/{name}", "generation": one["generation"]}
            objects.append({"kind": "ResourcePool", "metadata": meta, "spec": one["spec"], "status": one["status"]})
    sent = [*given.get("claims", ()), *(step["object"] for step in case["steps"] if step["do"] == "create")]
    claims = [one for one in sent if "claim" in one.get("spec", {})]
    specs = {f"{one['metadata']['namespace']}/{one['metadata']['name']}": one for one in claims}
    for key, one in expect["claims"].items():
        if one is not None and key in specs:
            found = specs[key]
            meta = {
                **found["metadata"],
                "uid": f"uid:ResourcePoolClaim/{key}",
                "ownerReferences": one.get("ownerReferences"),
            }
            spec = {"pool": one["spec.pool"], "claim": found["spec"]["claim"]}
            objects.append({"kind": "ResourcePoolClaim", "metadata": meta, "spec": spec, "status": one["status"]})
    return objects


@pytest.mark.one_in(4)
@pytest.mark.parametrize("case", recorded())
def test_every_recorded_state_has_its_word_and_every_answer_can_be_drawn(case: Raw):
    store = store_of(*estate_of(case))
    scene = PoolIndex(store)
    making = Claims(scene)
    reports = [claim_detail(making, one.claim) for one in scene.claims]
    for one, report in zip(scene.claims, reports, strict=True):
        said = {found.type: found for found in one.claim.status.conditions or ()}
        assert report.state == expected(said, assigned=one.claim.status.pool is not None)
        assert "\n".join(render_claim.lines(report))
        assert "\n".join(render_pooled.claim_lines(explain_claim(scene, one.claim), steps=True))
        assert msgspec.json.encode(report)
    assert render_claims.count_line([report.state for report in reports])
    for held in scene.pools.values():
        found = pool_report(scene, held)
        for use in found.uses:
            hard, claimed, left = (parse(text).nano for text in (use.hard, use.claimed, use.available))
            assert claimed + left == hard
        assert "\n".join(render_pools.lines(found, whole=True))
        assert "\n".join(render_pooled.explain_pool_lines(explain_pool(scene, held), steps=True))


def expected(said: dict[str, Any], *, assigned: bool) -> str | Any:
    """The word by the conditions alone, apart from what only a pool tells."""
    if said["Ready"].status == "False":
        return "unassigned" if said["Ready"].message == "no pool reference was defined" else "failed"
    if not assigned:
        return AnyOf("lost", "released")
    if said["Exhausted"].status == "True":
        return "queued" if said["Exhausted"].reason == "QueueExhausted" else "exhausted"
    return "in use" if "Bound" in said and said["Bound"].status == "True" else "allocated"


class AnyOf:
    def __init__(self, *words: str) -> None:
        self.words = words

    def __eq__(self, other: object) -> bool:
        return other in self.words

    __hash__ = None


@pytest.mark.parametrize(
    ("old", "state"),
    [
        (condition("Bound", "True", "Succeeded", "Claimed resources"), "allocated"),
        (condition("Bound", "False", "PoolExhausted", f"requested: {CPU}=3, available: {CPU}=1"), "exhausted"),
        (condition("Bound", "False", "QueueExhausted", f"requested: {CPU}=3, queued: {CPU}=9"), "queued"),
        (condition("Assigned", "False", "Failed", "no pool reference was defined"), "unassigned"),
        (condition("Assigned", "False", "Failed", 'ResourcePool.capsule.clastix.io "x" not found'), "failed"),
        (condition("Assigned", "True", "Succeeded", "Claim assigned"), "pending"),
    ],
)
def test_versions_before_013_have_one_condition(old: Raw, state: str):
    raw = claim("c")
    raw["status"]["condition"] = old
    report = report_of("c", pool(), raw)
    assert (report.state, report.legacy) == (state, True)
    assert "Capsule before 0.13" in "\n".join(render_claim.lines(report))


def test_a_tenant_gets_an_answer_from_the_claim_alone():
    report = report_of("c", claim("c", READY, SHORT), unread=("ResourcePool", "Namespace"))
    assert report.complete
    assert (report.state, report.missing_amounts) == ("exhausted", {CPU: "2"})
    assert [one.kind for one in report.unread] == ["ResourcePool"]
    assert [(way.kind, way.amounts, way.proven) for way in report.fixes] == [("less", {CPU: "1"}, False)]
    assert report.queue is None


def vast() -> Raw:
    found = pool()
    found["spec"]["quota"] = {"hard": {CPU: "5Ei"}}
    return found


@pytest.mark.parametrize(
    ("objects", "note"),
    [
        ((pool(), claim("a.b", READY, SHORT)), 'the name "a.b" has a dot'),
        ((pool(), claim("a.b", READY, SHORT, asks={CPU: "-2"})), "claims less than nothing"),
        ((pool(), claim("a.b", READY, SHORT, asks={CPU: "three"})), "spec.claim[requests.cpu] is no quantity"),
        ((pool(), claim("a.b", READY, SHORT, asks={CPU: "9"})), "waits forever unless one of the two changes"),
        ((pool(spaces=()), claim("a.b", READY, SHORT)), "stale: pool green no longer serves namespace ns"),
        ((pool(), {**claim("a.b", READY, SHORT), "spec": {"pool": "x", "claim": {CPU: "3"}}}), "its spec names pool x"),
        ((vast(), claim("a.b", READY, SHORT)), f"not certain: pool green has so much {CPU} that the API server cuts"),
        (
            (
                pool(),
                claim("a.b", condition("Ready", "True", "", ""), condition("Exhausted", "False", "", ""), uid="u2"),
            ),
            "has a dot",
        ),
    ],
)
def test_what_is_odd_about_a_claim_is_a_note(objects: tuple[Raw, ...], note: str):
    assert any(note in sentence_text(text) for text in report_of("a.b", *objects).notes)


def test_of_an_amount_that_capsule_cannot_count_with_nothing_else_is_proposed():
    large = pool()
    large["spec"]["quota"] = {"hard": {CPU: "1Pi", "pods": "3"}}
    report = report_of("c", large, claim("c", READY, SHORT))
    assert any(f"not certain: Capsule counts {CPU} of pool green wrong" in sentence_text(text) for text in report.notes)
    [way] = report.fixes
    assert (way.kind, way.amounts, way.proven, way.replayed) == ("raise", {CPU: "1125899906842624"}, False, False)
    assert '{"hard":{"requests.cpu":"1125899906842624"}}' in way.actions[0].command
    other = report_of("c", large, claim("c", READY, SHORT, asks={"pods": "2"}))
    assert not any("not certain" in sentence_text(text) for text in other.notes)
    assert all("suffix" not in way.text for way in other.fixes)


def test_what_a_pool_still_holds_is_not_nothing():
    entry = {"name": "c", "namespace": "ns", "uid": "u-c", "claims": {CPU: "1"}}
    failed = condition("Ready", "False", "Failed", 'ResourcePool.capsule.clastix.io "x" not found')
    held = report_of("c", pool(claims={"ns": [entry]}), claim("c", failed))
    assert [one.effect for one in held.allowed_actions if one.verb == "delete"] == [
        "what it holds is free at once, for whoever waits first"
    ]
    assert [
        one.effect for one in report_of("c", pool(), claim("c", failed)).allowed_actions if one.verb == "delete"
    ] == ["it holds nothing"]


def test_what_is_under_way_is_a_note():
    going = claim("c", READY, {**SHORT, "observedGeneration": 1}, generation=2,
                  annotations={"projectcapsule.dev/release": "TRUE"})  # fmt: skip
    ending = pool()
    ending["metadata"]["deletionTimestamp"] = "2026-11-20T04:00:00Z"
    notes = " ".join(map(sentence_text, report_of("c", ending, going).notes))
    assert "annotation for its release" in notes
    assert "about generation 1 of it" in notes
    assert "pool green is being deleted, and the claim is deleted with it" in notes


def test_a_status_that_contradicts_the_claims_is_a_note():
    entry = {"name": "c", "namespace": "ns", "uid": "u-c", "claims": {CPU: "1"}}
    held = condition("Exhausted", "False", "NoExhaustions", "")
    listed = pool(claims={"ns": [entry]})
    assert any(
        "lists it as allocated" in sentence_text(one) for one in report_of("c", listed, claim("c", READY, SHORT)).notes
    )
    assert any(
        "does not list it" in sentence_text(one) for one in report_of("c", pool(), claim("c", READY, held)).notes
    )
    assert any("not decided yet" in sentence_text(one) for one in report_of("c", listed, claim("c", READY, held)).notes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"selectors": []}, "it has no selectors"),
        ({"selectors": [{}]}, "spec.selectors[0] is empty and selects nothing"),
        ({"selectors": [{"matchExpressions": [{"key": "t", "operator": "In"}]}]}, "does not parse and is skipped"),
        ({"selectors": [{"matchLabels": {"t": "none"}}]}, "spec.selectors[0] matches no namespace"),
        ({"quota": {"hard": {CPU: "0"}}}, f"nobody can ever claim {CPU}"),
        ({"quota": {"hard": {CPU: "1e2000"}}}, "spec.quota.hard[requests.cpu] is no quantity"),
        ({"quota": {"hard": {CPU: "5"}}}, "its status still counts with hard"),
        ({"quota": {"hard": {CPU: "5Ei"}}}, f"its {CPU} is near the most that the API server keeps"),
        ({"quota": {"hard": {CPU: "100Ti"}}}, f"written without a suffix ({CPU} 109951162777600) it is counted right"),
        ({"quota": {"hard": {CPU: "5Ei"}}, "defaults": {"pods": "-5Ei"}}, f"its pods and {CPU} are near the most"),
        ({}, f"the pool does not limit {CPU} in ns"),
    ],
)
def test_what_is_odd_about_a_pool_is_a_warning(changes: Raw, said: str):
    raw = pool()
    raw["spec"] = {**raw["spec"], **changes}
    store = store_of(raw, space("ns", t="x"))
    warnings = pool_report(PoolIndex(store), store.get("ResourcePool", "green")).warnings
    assert any(said in sentence_text(text) for text in warnings), warnings


def test_an_overdraft_and_pods_beyond_the_pool_are_warned_of():
    entry = {"name": "c", "namespace": "ns", "uid": "u-c", "claims": {CPU: "6"}}
    quota = {"kind": "ResourceQuota", "metadata": {"name": "capsule-pool-green", "namespace": "ns"},
             "spec": {"hard": {CPU: "6"}}, "status": {"hard": {CPU: "6"}, "used": {CPU: "5"}}}  # fmt: skip
    store = store_of(pool(claims={"ns": [entry]}), quota, space("ns", t="x"))
    found = pool_report(PoolIndex(store), store.get("ResourcePool", "green"))
    assert (found.uses[0].available, found.uses[0].is_exceeded, found.uses[0].used) == ("-2", True, "5")
    assert any(f"claims hold {CPU} 2 more than it has" in sentence_text(one) for one in found.warnings)
    assert any(f"{CPU} 5 in use is more than it has" in sentence_text(one) for one in found.warnings)
    assert any("lists claims that do not exist: ns/c" in sentence_text(one) for one in found.warnings)


def test_hostile_text_cannot_move_the_cursor():
    evil = "\x1b[2J\u202e\nx"
    objects = (
        pool(conditions=[condition("Ready", "False", "Failed", evil)]),
        claim("c", READY, condition("Exhausted", "True", "PoolExhausted", f"requested: {evil}=1, available: {evil}=2"),
              asks={evil: evil, CPU: "3"}),
        space("ns", t=evil),
    )  # fmt: skip
    store = store_of(*objects)
    scene = PoolIndex(store)
    held = store.get("ResourcePoolClaim", "c", "ns")
    report = claim_detail(Claims(scene), held)
    green = store.get("ResourcePool", "green")
    lines = [
        *render_claim.lines(report),
        *render_claims.table([report]),
        *render_pools.lines(pool_report(scene, green), whole=True),
        *render_pooled.claim_lines(explain_claim(scene, held), steps=True),
        *render_pooled.explain_pool_lines(explain_pool(scene, green), steps=True),
        *PrintedTable().lines([render_pooled.row_of(explain_claim(scene, held))], lambda ref: ref.name),
    ]
    assert all(line.isprintable() for line in lines)


def test_a_pool_made_again_has_not_the_queue_of_the_old_one():
    raw = claim("c", READY, SHORT)
    raw["status"]["pool"]["uid"] = "u-of-another"
    store = store_of(pool(), raw)
    assert pool_report(PoolIndex(store), store.get("ResourcePool", "green")).queue == ()
    assert report_of("c", pool(), raw).queue is None


def test_c11_a_claim_of_a_pool_that_does_not_exist_says_so_before_its_controller_does():
    silent = claim("a", of=None)
    found = report_of("a", space("ns"), silent)
    assert (found.state, found.reason) == (
        "failed",
        "the pool that it names does not exist, which its controller has not said yet",
    )
    assert report_of("a", space("ns"), silent, pool()).state == "pending"
    assert report_of("a", space("ns"), silent, unread=("ResourcePool",)).state == "pending"
