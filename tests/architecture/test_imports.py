"""What a command or a module loads, seen in a fresh interpreter: deferred imports escape the static contracts."""

from __future__ import annotations

import subprocess
import sys

import pytest
from architecture.modules import ROOT

#: Runs the entry point with the arguments given; stderr's last line is then the exit code and all loaded modules.
COMMAND = """
import sys
from kubectl_kres.cli.main import entry
sys.argv = ["kubectl-kres", *sys.argv[1:]]
try:
    code = entry()
except SystemExit as end:
    code = end.code
print(f"\\nloaded: {code or 0} {' '.join(sys.modules)}", file=sys.stderr)
"""
MODULE = """
import importlib, sys
importlib.import_module(sys.argv[1])
print(f"\\nloaded: 0 {' '.join(sys.modules)}", file=sys.stderr)
"""

FACES = {"kubernetes", "textual", "rich", "click", "pydantic", "yaml"}
START = {"kubernetes", "textual", "pydantic", "rich", "yaml", "msgspec"}
WRITERS = {"kubernetes", "textual", "pydantic", "urllib3"}
#: What follows a change through the controllers is for simulations and for files with a quota.
CHANGES = {
    "kubectl_kres.reports.changes.combined_answer",
    "kubectl_kres.simulate.simulation",
    "kubectl_kres.capsule.replay.events",
}
#: The engine of expressions is for clusters that have policies; the demo has none.
EXPRESSIONS = {"kubectl_kres.policies.cel.evaluation.evaluate", "kubectl_kres.policies.rules.policy"}

#: What reads files, decides about policies and pools, draws lists and documents, and words odd refusals, is for those
#: who have or ask for them.
SELDOM = {
    "kubectl_kres.capsule.rules",
    "kubectl_kres.capsule.commands",
    "kubectl_kres.cli.output.documents",
    "kubectl_kres.cli.explainer",
    "kubectl_kres.manifests.read",
    "kubectl_kres.manifests.typed_manifest",
    "kubectl_kres.policies.rules.request",
    "kubectl_kres.provenance.rules",
    "kubectl_kres.render.text.data",
    "kubectl_kres.render.text.jsonpath",
    "kubectl_kres.render.verdict.object_list",
    "kubectl_kres.reports.explain.summary",
    "kubectl_kres.reports.pod.preflight",
    "kubectl_kres.reports.remedies.pod_remedy",
    "kubectl_kres.reports.remedies.resource_values",
    "kubectl_kres.tekton.reports.config",
    "kubectl_kres.tekton.rules",
    "kubectl_kres.vpa.reports.registered_webhook",
    "kubectl_kres.vpa.rules",
}
#: What answers about files side by side is for those who give some.
FILES = {
    "kubectl_kres.cli.simulation",
    "kubectl_kres.capsule.replay.events",
    "kubectl_kres.manifests.read",
    "kubectl_kres.reports.changes.combined_answer",
    "kubectl_kres.simulate.live",
}
#: What follows a rollout is for workloads that lack pods.
ROLLOUTS = {"kubectl_kres.reports.rollout.rolling_update", "kubectl_kres.simulate"}

#: So many modules of ours, packages included, an explanation loads at most: each takes 0.2 to 0.5 ms of every start.
MOST = 164


@pytest.mark.parametrize(
    ("program", "arguments", "must", "never", "most"),
    [
        pytest.param(
            MODULE,
            "kubectl_kres.reports.explain.explain",
            "kubectl_kres.reports.explain.explain",
            FACES,
            83,
            id="report",
        ),
        pytest.param(
            MODULE,
            "kubectl_kres.admission.request.create",
            "kubectl_kres.admission.request.create",
            FACES,
            68,
            id="engine",
        ),
        pytest.param(COMMAND, "--help", "kubectl_kres.cli.main", START, 25, id="help"),
        pytest.param(COMMAND, "version --client", "kubectl_kres.cli.commands.version", START, 22, id="version"),
        pytest.param(
            COMMAND,
            "explain --demo deploy/cart -n shop",
            "kubectl_kres.reports.explain.explain",
            WRITERS | CHANGES | EXPRESSIONS | SELDOM | ROLLOUTS,
            139,
            id="explain-workload",
        ),
        pytest.param(
            COMMAND,
            "explain --demo deploy/checkout -n checkout",
            "kubectl_kres.reports.explain.explain",
            WRITERS | CHANGES | EXPRESSIONS | SELDOM,
            MOST,
            id="explain-refused",
        ),
        pytest.param(
            COMMAND, "quota -A --demo", "kubectl_kres.reports.quota.quota_report", WRITERS | FILES, 176, id="quota"
        ),
        pytest.param(
            COMMAND, "check --demo -n kube-system", "kubectl_kres.reports.check.check", WRITERS | FILES, 300, id="check"
        ),
        pytest.param(COMMAND, "overview --demo", "kubectl_kres.reports.overview", WRITERS, 380, id="overview"),
    ],
)
def test_what_is_loaded(program: str, arguments: str, must: str, never: set[str], most: int):
    result = subprocess.run(
        [sys.executable, "-c", program, *arguments.split()],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    last = result.stderr.rpartition("\nloaded: ")[2]
    assert result.returncode == 0, result.stderr
    code, *loaded = last.split()
    assert must in loaded, result.stderr
    assert never & set(loaded) == set()
    assert code == "0", result.stderr
    ours = [name for name in loaded if name.partition(".")[0] == "kubectl_kres"]
    assert len(ours) <= most, f"{len(ours)}: {' '.join(ours)}"


#: A Deployment where a webhook and a level of Pod Security decide, and no policy.
WITHOUT_POLICY = """
import sys
sys.path.insert(0, "tests")
from reports.stored import box, made, store_of, subject, template
from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.reports.explain.explain import explain

rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]
hooks = [{"name": "a.example.com", "rules": rules}]
hook = {"kind": "MutatingWebhookConfiguration", "metadata": {"name": "i"}, "webhooks": hooks}
labels = {"pod-security.kubernetes.io/enforce": "baseline"}
space = {"kind": "Namespace", "metadata": {"name": "ns", "labels": labels}}
workload = made("Deployment", "w", spec={"replicas": 1, **template(box(image="x"))})
report = explain(store_of(workload, hook, space), subject("Deployment/w"), EvaluationOptions())
assert report.verdict.outcome == "admitted" and report.assumptions[0].code == "webhook/not-computed"
print(*sys.modules)
"""


def test_only_policies_load_the_engine_of_expressions():
    command = [sys.executable, "-c", WITHOUT_POLICY]
    loaded = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True).stdout.split()
    assert "kubectl_kres.policies.rules.chain" in loaded
    assert {"kubectl_kres.policies.cel.evaluation.evaluate", "kubectl_kres.policies.rules.mutating"} & {
        *loaded
    } == set()
