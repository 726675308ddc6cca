"""What refused a template that is gone is no remedy of the new one; since when counts from the first refusal."""

from __future__ import annotations

from reports.stored import event, made, owned_by, store_of, subject, template

from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.pod.events import refusal_start_text

_SAID = 'Error creating: pods "web-old-{}" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot'


def _replica_set(name: str, revision: int, **status):
    metadata = owned_by("Deployment", "web")
    annotations = {"deployment.kubernetes.io/revision": str(revision)}
    spec = {"replicas": 1, **template()}
    return made("ReplicaSet", name, spec=spec, status=status, annotations=annotations, **metadata)


def _denied(pod: str, first: str, last: str):
    more = {"firstTimestamp": first, "lastTimestamp": last}
    return event("ReplicaSet/web-old", "FailedCreate", _SAID.format(pod), **more)


_TRIES = (
    _denied("a", "2026-01-01T00:00:00Z", "2026-01-01T00:05:00Z"),
    _denied("b", "2026-01-01T00:06:00Z", "2026-01-01T00:09:00Z"),
)


def test_what_refused_the_old_template_is_no_remedy_of_the_new_one():
    failing = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": _SAID.format("c")}
    status = {"replicas": 1, "updatedReplicas": 1, "observedGeneration": 2, "conditions": [failing]}
    web = made("Deployment", "web", spec={"replicas": 3, **template()}, status=status, generation=2)
    old, new = _replica_set("web-old", 1, conditions=[failing]), _replica_set("web-new", 2, replicas=1)
    found = explain(store_of(web, old, new, *_TRIES), subject("Deployment/web"), EvaluationOptions())
    assert found.fixes == ()
    assert "violates PodSecurity" not in f"{found.note!r} {found.facts}"
    assert found.run_state is not None and found.run_state.state == "waits"


def test_since_when_counts_from_the_first_refusal():
    web = made("Deployment", "web", spec={"replicas": 3, **template()}, status={"observedGeneration": 1})
    found = explain(store_of(web, _replica_set("web-old", 1), *_TRIES), subject("Deployment/web"), EvaluationOptions())
    assert refusal_start_text(found.facts) == "2026-01-01T00:00:00Z"
    assert found.run_state is not None and found.run_state.since == "2026-01-01T00:00:00Z"
