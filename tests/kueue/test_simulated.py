"""What a change of a queue, and a new Job, come to: who is admitted then, and what of its pods."""

from __future__ import annotations

from pathlib import Path

from cli.running import Kres
from kueue.recorded import snapshot

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "kueue.yaml"


def test_a_new_job_that_has_no_room_makes_no_pods(kres: Kres):
    told = kres("simulate", "--offline", "-f", str(EXAMPLE)).out
    assert "Workload/job-thumbnails  absent -> waits (more than there is)" in told
    assert "Job/thumbnails  new: no pods" in told


def test_a_new_job_that_has_room_makes_them(kres: Kres):
    Path("wide.yaml").write_text(EXAMPLE.read_text().replace('nominalQuota: "6"', 'nominalQuota: "9"'))
    told = kres("simulate", "--offline", "-f", "wide.yaml").out
    assert "Workload/job-thumbnails  absent -> admitted in flavor plain" in told
    assert "Job/thumbnails  new: 4 of 4 pods" in told


def test_a_larger_quota_admits_who_waits_and_resumes_the_jobs(kres: Kres):
    file = snapshot("s101x026/0")
    Path("queue.yaml").write_text(
        """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: s101x026-cq}
spec:
  namespaceSelector: {}
  queueingStrategy: BestEffortFIFO
  resourceGroups:
  - coveredResources: [cpu, memory, pods]
    flavors:
    - name: s101x026-plain
      resources: [{name: cpu, nominalQuota: "20"}, {name: memory, nominalQuota: 8Gi}, {name: pods, nominalQuota: "9"}]
"""
    )
    told = kres("simulate", "-f", "queue.yaml", "--snapshot", file).out
    assert "Workload/job-alpha-a7d64  waits (more than there is) -> admitted in flavor s101x026-plain" in told
    assert "Job/alpha  no pods -> 2 of 2 pods" in told
    assert "who is preempted, and who ends meanwhile, is not simulated" in told


def test_the_fix_that_the_page_prints_holds_in_a_simulation(kres: Kres):
    """The amounts of the printed patch are those with which the one that was asked about is admitted, and no less."""
    file = snapshot("s101x016/0")
    page = kres("explain", "job/delta", "-n", "s101x016-team", "--snapshot", file).out
    assert "s101x016-second from 3 to 4" in " ".join(page.split())
    for amount, expected in (("4", "admitted in flavor s101x016-second"), ("3", "waits")):
        Path("queue.yaml").write_text(
            f"""
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: s101x016-cq}}
spec:
  namespaceSelector: {{}}
  queueingStrategy: StrictFIFO
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - name: s101x016-plain
      resources: [{{name: cpu, nominalQuota: "2"}}, {{name: memory, nominalQuota: 4Gi}}]
    - name: s101x016-second
      resources: [{{name: cpu, nominalQuota: "{amount}"}}, {{name: memory, nominalQuota: 8Gi}}]
"""
        )
        told = kres("simulate", "-f", "queue.yaml", "--snapshot", file).out
        assert (f"job-delta-c00c7  waits (more than there is) -> {expected}" in told) == (amount == "4"), told
