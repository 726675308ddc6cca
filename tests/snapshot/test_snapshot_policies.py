"""A snapshot answers about policies as the cluster does that it was taken of."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs
from reports.stored import box, made, store_of, subject
from reports.test_policing import ASK, cluster_wide, deployment, mutating, space, validating

from kubectl_kres.policies.reports.effects import policy_effects
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.snapshot.read import read
from kubectl_kres.snapshot.write import write

HOOK = {
    "name": "a.example.com",
    "clientConfig": {"caBundle": "c2VjcmV0"},
    "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
    "failurePolicy": "Fail",
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
}
CASES = {
    "validating": validating("has(object.spec.containers[0].resources.limits)", message="limits, please"),
    "mutating": mutating('[JSONPatch{op: "add", path: "/spec/containers/0/resources/limits", value: {"cpu": "750m"}}]'),
    "pod security": (space(enforce="restricted"),),
    "webhook": (cluster_wide("MutatingWebhookConfiguration", "injector", webhooks=[HOOK]),),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_saved_answers_as_what_was_read(name: str, tmp_path: Path):
    pod = {**made("Pod", "bare", spec={"containers": [box()]}), "status": {"phase": "Running"}}
    live = store_of(deployment(), pod, *CASES[name])
    live.origin = structs.replace(live.origin, kind="cluster", version="v1.36.3", time="2026-11-20T10:00:00Z")
    path = tmp_path / "saved.kres"
    write(live, str(path))
    assert b"c2VjcmV0" not in path.read_bytes()
    saved = read(str(path))
    before, after = (explain(one, subject("Deployment/w"), ASK) for one in (live, saved))
    assert (before.verdict, before.assumptions, before.quotas) == (after.verdict, after.assumptions, after.quotas)
    assert [one.values for one in before.containers] == [one.values for one in after.containers]
    assert [sentence_text(one.text) for one in before.fixes] == [sentence_text(one.text) for one in after.fixes]
    effects = [policy_effects(one, "ns", ASK).policies for one in (live, saved)]
    assert effects[0] == effects[1] and bool(effects[0]) == (name in {"validating", "mutating"})
