"""kubectl-kres from Python: what the commands answer, as values.

>>> import kubectl_kres.api as kres
>>> answer = kres.explain("deploy/checkout", namespace="checkout", cluster=kres.demo())
>>> answer.outcome, answer.values["app.limits.memory"].rule
('refused', 'manifest/written')

What is listed in ``__all__`` stays as docs/releasing.md promises. Nothing is printed, nothing is written to a cluster;
faults are raised as ``KresError``. Importing this loads none of the engine: the first answer does.
"""

from __future__ import annotations

from kubectl_kres.api.answers import check, claims, denied, diff, explain, explain_all, fit, qos, quota, simulate
from kubectl_kres.api.clusters import Cluster
from kubectl_kres.api.opening import demo, open_cluster, open_snapshot
from kubectl_kres.api.results import Answer, Answers, Explanation, Value
from kubectl_kres.errors import KresError

__all__ = [
    "Answer",
    "Answers",
    "Cluster",
    "Explanation",
    "KresError",
    "Value",
    "check",
    "claims",
    "demo",
    "denied",
    "diff",
    "explain",
    "explain_all",
    "fit",
    "open_cluster",
    "open_snapshot",
    "qos",
    "quota",
    "simulate",
]
