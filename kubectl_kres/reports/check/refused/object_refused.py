"""KRES116: an object of a file that makes no pods is refused: a claim, a Service, what a quota counts."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.errors import KresError
from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene
from kubectl_kres.reports.pod.verdict import is_negative


def find(scene: Scene) -> Iterator[Broken]:
    """The objects of files that the server would refuse, as their explanations say; what exists was admitted."""
    if not scene.counted:
        return
    from kubectl_kres.reports.namespace.explain_policy import explain_policy  # noqa: PLC0415 - files alone need it

    for subject in scene.counted:
        try:
            answer = explain_policy(scene.store, subject, scene.ask)
        except KresError as error:
            scene.unanswered.append((subject, error))
            continue
        verdict = answer.verdict
        if verdict is not None and is_negative(verdict):
            why = next((finding.text for finding in verdict.findings if finding.text), verdict.message)
            first = next(iter(answer.remedies), None)
            text, commands = (first.text, first.commands) if first is not None else ("", ())
            yield Broken(subject.ref, {"outcome": verdict.outcome, "why": why}, remedy=text, commands=commands)


RULE = Rule(
    code="KRES116",
    title="an object of a file is refused",
    severity="error",
    reason="Applying the file ends with this refusal: the object is not stored, or stays as it was.",
    remedy="Its explanation (explain -f) names each way to get it admitted.",
    message="{outcome}: {why}",
    find=find,
    failing="""
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: {hard: {requests.storage: 8Gi}}
status: {hard: {requests.storage: 8Gi}, used: {requests.storage: 4Gi}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 5Gi}}}
""",
    passing="""
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: {hard: {requests.storage: 8Gi}}
status: {hard: {requests.storage: 8Gi}, used: {requests.storage: 4Gi}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 4Gi}}}
""",
)
