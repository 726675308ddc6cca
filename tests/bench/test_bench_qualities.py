"""QoS answers of lists in JSON, for which pods that are alike are looked at once, against those of each pod alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.test_bench_outlines import made

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.qos.qos_report import ClassChangeCache, quality
from kubectl_kres.snapshot import read as demo
from kubectl_kres.snapshot import read as snapshots

pytestmark = pytest.mark.thorough


@pytest.mark.thorough
@pytest.mark.parametrize("which", ["made", "demo"])
def test_a_pod_that_is_like_another_has_the_answer_that_it_has_alone(which: str, folder: Path) -> None:
    store = made(folder) if which == "made" else snapshots.read(str(demo.demo_path()))
    ask = EvaluationOptions(now="2026-11-21T12:00:00Z")
    alike, refused = ClassChangeCache(), 0
    for pod in store.all("Pod"):
        subject = Subject(ObjectRef("Pod", pod.metadata.name, pod.metadata.namespace), BY_KIND["Pod"])
        report = quality(store, subject, ask, alike=alike)
        assert report == quality(store, subject, ask)
        refused += report is not None and any(way.refused for way in report.reach)
    assert refused
