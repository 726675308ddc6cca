"""Pod Security's fix is one patch for all settings that the level fixes, and pods pass with it."""

from __future__ import annotations

import json
import shlex

import pytest
from reports.stored import box, made, store_of, subject
from reports.test_policing import ASK, deployment, space

from kubectl_kres.policies.rules.compliant_context import merged_spec
from kubectl_kres.policies.rules.pod_security import Level, violations
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.explain.explain import explain

PRIVILEGED = {"privileged": True, "runAsUser": 0, "capabilities": {"add": ["SYS_ADMIN", "NET_BIND_SERVICE"]}}
CASES = {
    "nothing written": [box(image="i")],
    "two containers": [box(image="i"), box(name="b", image="i", securityContext={"runAsNonRoot": False})],
    "privileged": [box(image="i", securityContext=PRIVILEGED)],
    "part of it": [box(image="i", securityContext={"allowPrivilegeEscalation": False, "runAsNonRoot": True})],
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("level", ["restricted", "baseline"])
def test_the_patch_makes_the_pods_pass(name: str, level: str):
    owner = deployment(*CASES[name])
    found = explain(store_of(owner, space(enforce=level)), subject("Deployment/w"), ASK)
    spec = owner["spec"]["template"]["spec"]
    if found.verdict.allowed:
        assert violations(Level(level), {"spec": spec}, 37) == ()
        return
    [fix] = found.fixes
    [command] = fix.commands
    words = shlex.split(command)
    assert words[:6] == ["kubectl", "patch", "deployment", "w", "-n", "ns"] and words[6:8] == ["--type", "strategic"]
    patch = json.loads(words[words.index("-p") + 1])["spec"]["template"]["spec"]
    assert violations(Level(level), {"spec": merged_spec(spec, patch)}, 37) == ()
    assert (fix.proven, fix.remaining_refusal) == (True, "")
    assert ("runs as root" in sentence_text(fix.no_command_reason)) == (
        level == "restricted" and "runAsNonRoot" in command
    )


def test_what_contexts_do_not_mend_is_named_and_gets_no_command():
    owner = deployment(box(image="i"), hostNetwork=True)
    found = explain(store_of(owner, space(enforce="restricted")), subject("Deployment/w"), ASK)
    [fix] = found.fixes
    assert "host namespaces (hostNetwork=true)" in sentence_text(fix.text) and fix.commands == () and not fix.proven


def test_an_owner_gets_no_command():
    owner = deployment(box(image="i"))
    owner["metadata"]["annotations"] = {"argocd.argoproj.io/tracking-id": "x"}
    found = explain(store_of(owner, space(enforce="restricted")), subject("Deployment/w"), ASK)
    assert found.fixes[0].commands == () and "Argo CD owns Deployment/w:" in sentence_text(
        found.fixes[0].no_command_reason
    )


def test_of_a_job_it_is_said_that_its_template_is_fixed():
    template = deployment(box(image="i"))["spec"]["template"]
    job = made("Job", "j", spec={"template": {**template, "spec": {**template["spec"], "restartPolicy": "Never"}}})
    found = explain(store_of(job, space(enforce="restricted")), subject("Job/j"), ASK)
    assert found.fixes[0].commands == () and "cannot be changed" in sentence_text(found.fixes[0].no_command_reason)
