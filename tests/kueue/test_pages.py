"""What a reader gets about what waits in a queue: whole pages of recorded worlds."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.running import Kres
from golden.kept import compare
from kueue.recorded import snapshot

HERE = Path(__file__).parent / "pages"
#: By file: the recorded state, what is asked about, and its namespace.
ASKED = {
    "never-fits": ("s101x016/0", "job/delta", "s101x016-team"),
    "behind-the-head": ("s101x003/0", "job/delta", "s101x003-team"),
    "wrong-queue": ("s101x055/0", "job/beta", "s101x055-team"),
    "namespace-not-selected": ("s101x051/0", "job/alpha", "s101x051-team"),
    "flavor-missing": ("s101x039/0", "job/alpha", "s101x039-team"),
    "no-priority-class": ("s101x079/0", "job/alpha", "s101x079-team"),
    "charged-otherwise": ("s101x050/0", "job/beta", "s101x050-team"),
    "group-incomplete": ("s101x050/0", "pod/gamma-0", "s101x050-team"),
    "queue-stopped": ("s101x051/6", "job/alpha", "s101x051-team"),
    "check-not-active": ("s303x002/0", "workload/job-beta-f3dfb", "s303x002-team"),
    "run-without-quota": ("tekton/0", "pipelinerun/second", "ci"),
    "run-with-wrong-queue": ("tekton/0", "pipelinerun/third", "ci"),
    "run-ended-by-kueue": ("tekton/6", "pipelinerun/first", "ci"),
    "local-queue": ("s101x026/0", "localqueue/main", "s101x026-team"),
    "cluster-queue": ("s101x026/0", "clusterqueue/s101x026-cq", ""),
}


@pytest.mark.parametrize("name", ASKED)
def test_page(kres: Kres, name: str):
    state, what, space = ASKED[name]
    words = ("-n", space) if space else ()
    found = kres("explain", what, *words, "--snapshot", snapshot(state), "--exit-code")
    assert found.err == ""
    assert found.code == (0 if name in {"local-queue", "cluster-queue"} else 1)
    compare(HERE / f"{name}.txt", found.out)


def test_a_list_says_why_each_waits(kres: Kres):
    found = kres("explain", "jobs", "-n", "s101x026-team", "--snapshot", snapshot("s101x026/0"), "--exit-code")
    assert found.code == 1
    assert "can have: cpu 6" in found.out
    assert "place 3 of 4" in found.out


def test_the_overview_and_check_say_it_too(kres: Kres):
    file = snapshot("s101x026/0")
    assert "can have: cpu 6" in " ".join(kres("overview", "--snapshot", file).out.split())
    told = kres("check", "-A", "--snapshot", file).out
    assert "KRES503 s101x026-team/Job/alpha" in told


def test_steps_lead_each_charge_to_the_rule_that_set_it(kres: Kres):
    told = kres("explain", "job/alpha", "-n", "s101x026-team", "--snapshot", snapshot("s101x026/0"), "--all").out
    assert "kueue/default-request" in told
    assert "LimitRange/sizes" in told
