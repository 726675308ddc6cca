"""Generated policies in CEL and Pod Security: what the engine says is what the real API server answers to a dry run.

``make test`` asks about some of them on the newest server. ``KRES_POLICIES=600``, or ``make policies``, makes so many,
and asks each version that the server can emulate, too.
"""

from __future__ import annotations

import os
import random
import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from controlplane import ControlPlane
from e2e import policy_generate
from e2e.asking import Asking
from e2e.policy_runs import PolicyRun
from e2e.security_pods import kept_and_broken
from e2e.seed import COUNTS, SEED

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.new_pod import policies_of
from kubectl_kres.model.objects import LimitRange, ResourceQuota, decode_object

pytestmark = pytest.mark.e2e

FULL = int(os.environ.get("KRES_POLICIES") or 0)
GROUPS, PODS, EACH = FULL or 90, 24, 4 if FULL else 3
SECURED = 400 if FULL else 160
TOLD = int(os.environ.get("KRES_TOLD") or 5)
OLDER = ("1.34", "1.35", "1.36") if FULL else ()
LIMITS = {
    "kind": "LimitRange", "metadata": {"name": "defaults"},
    "spec": {"limits": [{
        "type": "Container", "default": {"cpu": "500m", "memory": "256Mi"}, "defaultRequest": {"cpu": "100m"},
        "max": {"memory": "2Gi"},
    }]},
}  # fmt: skip
QUOTA = {
    "kind": "ResourceQuota", "metadata": {"name": "team"},
    "spec": {"hard": {"requests.cpu": "1", "limits.memory": "1Gi", "pods": "5"}},
}  # fmt: skip
#: Enforced, warned of and audited level; with versions, of which rules differ.
LEVELS = (
    {"enforce": "baseline"}, {"enforce": "restricted"}, {"enforce": "privileged", "warn": "restricted"},
    {"enforce": "baseline", "enforce-version": "v1.23"}, {"enforce": "restricted", "enforce-version": "v1.33"},
    {"enforce": "baseline", "enforce-version": "v1.30", "warn": "restricted", "warn-version": "v1.24"},
    {"enforce": "restricted", "enforce-version": "v1.18"}, {"warn": "baseline", "audit": "restricted"},
)  # fmt: skip
#: What the server calls a control: each has to be broken, and kept to.
CONTROLS = (
    *("host namespaces", "privileged", "non-default capabilities", "hostPath volumes", "hostPort", "procMount"),
    *("forbidden AppArmor profile", "seLinuxOptions", "seccompProfile", "forbidden sysctls", "hostProcess"),
    *("probe or lifecycle host", "restricted volume types", "allowPrivilegeEscalation != false"),
    *("runAsNonRoot != true", "runAsUser=0", "unrestricted capabilities"),
)


@pytest.fixture(scope="module", params=["", *OLDER])
def deciding(assets: Any, request: pytest.FixtureRequest) -> Iterator[tuple[Asking, Server]]:
    """A server of its own, as policies decide about all namespaces; and what the engine is told of it."""
    version: str = request.param
    arguments = [f"--emulated-version={version}"] if version else []
    gates = (1, int(version.partition(".")[2])) if version else Server().version
    with ControlPlane(assets, controllers=(), apiserver_args=arguments) as plane, Asking(plane) as asking:
        own = Server().version if version else None
        yield asking, Server(version=gates, disabled_plugins=frozenset({"ServiceAccount"}), binary=own)


def space(asking: Asking, **labels: str) -> str:
    name = f"decided-{secrets.token_hex(3)}"
    marked = {f"pod-security.kubernetes.io/{key}": value for key, value in labels.items()}
    reply = asking.create({"kind": "Namespace", "metadata": {"name": name, "labels": marked}})
    assert reply.status == 201, reply.body
    return name


def judged(request: pytest.FixtureRequest, what: str, runs: list[PolicyRun]) -> None:
    """Fails with the differences; counts go to the summary."""
    wrong = [one for run in runs for one in run.wrong]
    counts = sum((run.counts for run in runs), start=type(runs[0].counts)())
    line = f"seed {SEED}: {what}: {', '.join(f'{key}: {counts[key]}' for key in sorted(counts))}; {len(wrong)} wrong"
    request.config.stash[COUNTS] = [*request.config.stash.get(COUNTS, []), line]
    if wrong:
        text = "\n".join([f"seed {SEED} (KRES_SEED): {len(wrong)} answers were not predicted", *wrong[:TOLD]])
        pytest.fail(text, pytrace=False)


def test_policies(deciding: tuple[Asking, Server], request: pytest.FixtureRequest) -> None:
    asking, server = deciding
    groups = list(policy_generate.groups(SEED, GROUPS))
    pods = policy_generate.asked(SEED, PODS)
    plain = PolicyRun(asking, server, space(asking))
    name = space(asking)
    assert asking.create(LIMITS, name).status == 201
    quota = asking.create(QUOTA, name)
    hard = {"hard": QUOTA["spec"]["hard"], "used": dict.fromkeys(QUOTA["spec"]["hard"], "0")}
    assert asking.put({**quota.body, "status": hard}, "status").status == 200
    limited = PolicyRun(asking, server, name)
    limited.policies = policies_of(
        [decode_object(LIMITS, LimitRange)], [decode_object({**QUOTA, "status": hard}, ResourceQuota)], (), ()
    )
    plain.install(groups)
    limited.held = plain.held
    plain.judge(pods, each=EACH)
    limited.judge(pods, each=max(1, EACH // 2))
    served = [name for name, objects in groups if any(plain.serves_kind(one["kind"]) for one in objects)]
    assert len(plain.held) >= len(served) * 0.7
    judged(request, f"policies on {'.'.join(map(str, server.version))}", [plain, limited])


def test_pod_security(deciding: tuple[Asking, Server], request: pytest.FixtureRequest) -> None:
    asking, server = deciding
    pods = list(kept_and_broken(random.Random(f"{SEED}/security"), SECURED))
    runs = []
    for place, level in enumerate(LEVELS):
        name = space(asking, **level)
        run = PolicyRun(asking, server, name)
        run.ask([("", pod) for pod in (pods if place < 2 or FULL else pods[place::7])])
        runs.append(run)
    texts = [text for run in runs for text in run.messages]
    said = {control for control in CONTROLS if any(control in text for text in texts)}
    assert [control for control in CONTROLS if control not in said] == []
    assert sum(run.counts["pod 201"] for run in runs[:2]) >= SECURED // 4
    judged(request, f"Pod Security on {'.'.join(map(str, server.version))}", runs)
