"""Every refusal has a stable code, and ``help`` has a page for each code."""

from __future__ import annotations

import re

import pytest
from cli.running import Kres
from golden.situation import SITUATIONS, load

from kubectl_kres.admission.sentences import read_refusal
from kubectl_kres.cli.commands.help import code_lines
from kubectl_kres.provenance.rules import RULES
from kubectl_kres.reports.check.check import BY_CODE
from kubectl_kres.reports.common.explanation import Blocked, Verdict
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.pod.last_refusal import find_refuser
from kubectl_kres.reports.pod.verdict import NEGATIVE, codes_of

#: What makes pods in the demo, and what is refused itself.
KINDS = "deployments", "statefulsets", "daemonsets", "jobs", "cronjobs", "taskruns", "pipelineruns", "tasks"
#: What the API server says of a pod that something else rejects, and its code.
REJECTED = {
    'admission webhook "w.example.com" denied the request: no': "webhook/denied",
    'failed calling webhook "w.example.com": timeout': "webhook/unreachable",
    'pods "web" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot': "pod-security/violated",
    "ValidatingAdmissionPolicy 'small' with binding 'b' denied request: no": "policy/denied",
    'pods "web-" is forbidden: error looking up service account n/x: serviceaccount "x" not found': (
        "service-account/missing"
    ),
    "unable to create new content in namespace n because it is being terminated": "namespace/terminating",
    'create persistentvolumeclaims "data-web-0" is forbidden: no': "seen/claim-refused",
    "something else": "seen/refused",
}


def test_every_code_has_a_page():
    for code in (*RULES, *BY_CODE):
        title = (RULES.get(code) or BY_CODE[code]).title
        page = " ".join(" ".join(code_lines(code)).split())
        assert page.startswith(f"{code}: {title}")


def test_the_page_says_what_to_do(kres: Kres):
    status, out, err = kres("help webhook/unreachable kres101")
    assert (status, err) == (0, "")
    assert "\nfix     make the webhook answer again: its Service and pods\n" in out
    assert "\nfix     Its explanation names each way to get them admitted, with its commands.\n" in out


def test_all_codes_are_listed(kres: Kres):
    listed = [line.split()[0] for line in kres("help codes").out.splitlines()]
    assert listed == [*RULES, *BY_CODE]


def test_a_code_that_does_not_exist_is_told_the_nearest(kres: Kres):
    status, _, err = kres("help quota/exceded")
    assert status == 2
    assert "did you mean quota/exceeded?" in err


@pytest.mark.parametrize("kind", KINDS)
def test_every_refusal_of_the_demo_prints_its_code(kres: Kres, kind: str):
    names = [line.split()[:2] for line in kres(f"explain {kind} -A --demo").out.splitlines()[1:-1]]
    assert names
    for namespace, name in names:
        out = kres(f"explain {kind}/{name} -n {namespace} --demo").out
        word = out.partition(":")[0].partition(",")[0]
        codes = re.findall(r"^code    kubectl kres help (.*)$", out, re.MULTILINE)
        if word in NEGATIVE:
            assert codes, f"{kind}/{name}: {word}"
        assert {code for line in codes for code in line.split()} <= set(RULES)


@pytest.mark.parametrize("name", SITUATIONS)
def test_every_refusal_of_a_situation_has_a_code(name: str):
    store, subject, ask, _ = load(name)
    verdict = explain(store, subject, ask).verdict
    assert bool(codes_of(verdict)) == (verdict.allowed is not True)
    assert set(codes_of(verdict)) <= set(RULES)


@pytest.mark.parametrize(("text", "code"), REJECTED.items())
def test_what_something_else_rejects_has_a_code(text: str, code: str):
    by = find_refuser(read_refusal(text), None, "n")
    assert (by.rule, code in RULES) == (code, True)
    assert codes_of(Verdict(True, 200, blocked=Blocked(by, text, rule=by.rule))) == (code,)


def test_where_only_some_pods_fit_a_quota_is_exceeded():
    assert codes_of(Verdict(True, 200, outcome="partly", missing=2, fits=1)) == ("quota/exceeded",)
