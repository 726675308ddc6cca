"""Policies out of a store: what is broken is left out and said, what was not read refuses nothing."""

from __future__ import annotations

import pytest
from reports.stored import made, store_of, subject, template

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.effective_policies import policies
from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.store.store import Coverage, ReadRequest

HARD = {"pods": "0"}


SETTLED = {"hard": HARD, "used": {"pods": "0"}}


def quota(name: str, hard: dict = HARD, status: dict | None = None) -> dict:
    return made("ResourceQuota", name, spec={"hard": hard}, status=status)


def from_files(*objects: dict):
    store = store_of(*objects)
    for raw in objects:
        store.files[ObjectRef(raw["kind"], raw["metadata"]["name"], "ns")] = "x.yaml"
    return store


RANGE = made("LimitRange", "lr", spec={"limits": [{"type": "Container", "max": {"cpu": "lots"}}]})
KATA = made("RuntimeClass", "kata") | {"overhead": {"podFixed": {"cpu": "some"}}}


@pytest.mark.parametrize(
    ("store", "enforced", "codes"),
    [
        pytest.param(store_of(), 0, [], id="none"),
        pytest.param(store_of(quota("q", status=SETTLED)), 1, [], id="settled"),
        pytest.param(store_of(quota("q")), 0, ["quota/no-status"], id="not seen by the controller"),
        pytest.param(from_files(quota("q")), 1, ["quota/from-file"], id="of a file"),
        pytest.param(store_of(quota("q", {})), 0, [], id="limits nothing"),
        pytest.param(
            from_files(quota("q", {"pods": "many"})),
            0,
            ["policy/unparsable"],
            id="broken, of a file",
        ),
        pytest.param(store_of(RANGE), 0, ["policy/unparsable"], id="a broken LimitRange"),
        pytest.param(store_of(KATA), 0, ["policy/unparsable"], id="a broken RuntimeClass"),
    ],
)
def test_what_is_taken(store, enforced, codes):
    known = policies(store, "ns")
    assert len([quota for quota in known.policies.quotas if quota.hard]) == enforced
    assert [one.code for one in known.assumptions] == codes


def test_a_broken_status_is_left_out():
    known = policies(store_of(quota("q", status={"hard": {"pods": "many"}})), "ns")
    assert known.policies.quotas == ()
    assert "ResourceQuota/q is left out: status.hard[pods]: quantities must match" in sentence_text(
        known.assumptions[0].text
    )


@pytest.mark.parametrize("spec", [{"runtimeClassName": "kata"}, {"priorityClassName": "high"}])
@pytest.mark.parametrize(
    ("coverage", "allowed", "codes"),
    [
        (Coverage("read"), False, []),
        (Coverage("absent"), False, []),
        (Coverage("denied", "no"), True, ["class/unread"]),
        (Coverage("failed", "no"), True, ["class/unread"]),
        (None, True, []),
    ],
)
def test_classes_that_are_not_known_refuse_nothing(spec, coverage, allowed, codes):
    store = store_of(made("Deployment", "d", spec=template(**spec)), unread=("RuntimeClass", "PriorityClass"))
    kind = "RuntimeClass" if "runtimeClassName" in spec else "PriorityClass"
    if coverage is not None:
        store.cover(
            ReadRequest(kind, name="kata") if kind == "RuntimeClass" else ReadRequest(kind, required=False), coverage
        )
    found = explain(store, subject("Deployment/d"), EvaluationOptions())
    assert found.verdict.allowed is allowed
    assert [one.code for one in found.assumptions] == codes


def test_a_class_with_a_broken_overhead_still_exists():
    store = store_of(KATA, made("Deployment", "d", spec=template(runtimeClassName="kata")))
    found = explain(store, subject("Deployment/d"), EvaluationOptions())
    assert found.verdict.allowed
    assert sentence_text(found.assumptions[0].text).startswith(
        "RuntimeClass/kata counts without overhead: overhead.podFixed[cpu]: "
    )


def test_other_namespaces_have_no_say():
    elsewhere = quota("q", status=SETTLED)
    elsewhere["metadata"]["namespace"] = "other"
    assert policies(store_of(elsewhere), "ns").policies.quotas == ()
