"""KRES101: a workload lacks pods, and the next one is refused."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.refused.run_never import never_fits
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Judged, Scene
from kubectl_kres.reports.common.explanation import Verdict
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.reports.pod.verdict import is_negative
from kubectl_kres.tekton.rules.base.versions import version_of, version_remarks


def find(scene: Scene) -> Iterator[Broken]:
    """The objects of files that would not come, and the workloads that lack pods."""
    for judged in scene.judged:
        if not _may_lack(scene, judged) or never_fits(judged):
            continue
        verdict = scene.verdict(judged)
        if verdict.missing and is_negative(verdict):
            part = judged.analysis.tekton
            beside = _beside(part.version if part is not None else "")
            yield _broken(judged.ref, verdict, verdict.missing, scene.remedy(judged), beside)
    # A run of the cluster makes TaskRuns, which are judged themselves, unless it lacks what comes before them.
    for run in scene.pipelines:
        if is_negative(run.verdict) and (scene.of_files or run.lacks_objects):
            first = next(iter(run.remedies), None)
            yield _broken(run.subject, run.verdict, run.verdict.missing or 1, first, _beside(run.version))


def _beside(version: str) -> str:
    """What is to be said of Tekton's version beside a finding about a run."""
    return "".join(f"; {remark.text}" for remark in version_remarks(version_of(version)))


def _broken(ref: ObjectRef, verdict: Verdict, missing: int, remedy: Remedy | None, beside: str = "") -> Broken:
    values = {"outcome": verdict.outcome, "missing": str(missing), "why": f"{cause(verdict)}{beside}"}
    text, commands = (remedy.text, remedy.commands) if remedy is not None else ("", ())
    return Broken(ref, values, remedy=text, commands=commands)


def _may_lack(scene: Scene, judged: Judged) -> bool:
    replicas = judged.replicas
    if replicas is None:
        return not judged.admitted or judged.ref.kind == "CronJob"
    if not scene.of_files:
        return bool(replicas.missing or replicas.failing)
    # Where all pods run, a file is a rollout of them: what has no room then is told by KRES104.
    return not (replicas.existing and not replicas.missing and judged.lacks_room_alone)


def cause(verdict: Verdict) -> str:
    """The server's words, as short as they are known."""
    if verdict.blocked is not None:
        return verdict.blocked.message
    if verdict.fits is not None:
        return f"{verdict.fits} of them fit"
    return next((finding.text for finding in verdict.findings if finding.text), "the server refuses it")


RULE = Rule(
    code="KRES101",
    title="pods are missing and refused",
    severity="error",
    reason="The workload runs with fewer pods than it asks for, or with none, until somebody changes something.",
    remedy="Its explanation names each way to get them admitted, with its commands.",
    message="{outcome}: {missing} of its pods missing: {why}",
    find=find,
    failing="""
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: {hard: {requests.cpu: '1'}}
status: {hard: {requests.cpu: '1'}, used: {requests.cpu: '1'}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, generation: 1}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: app, image: app, resources: {requests: {cpu: 500m, memory: 64Mi}, limits: {memory: 64Mi}}}
status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2}
""",
    passing="""
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: {hard: {requests.cpu: '2'}}
status: {hard: {requests.cpu: '2'}, used: {requests.cpu: '1'}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, generation: 1}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: app, image: app, resources: {requests: {cpu: 500m, memory: 64Mi}, limits: {memory: 64Mi}}}
status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2}
""",
)
