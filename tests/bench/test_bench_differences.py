"""The fast way through a list of pods against each pod by itself: the same reports, the same text."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from bench.test_bench_outlines import made

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.pod.diff import Patterns, lines
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.explain.difference import Differences, diff
from kubectl_kres.snapshot import read as demo
from kubectl_kres.snapshot import read as snapshots

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize("which", ["made", "demo"])
def test_pods_that_are_alike_are_told_alike(which: str, folder: Path) -> None:
    store = made(folder) if which == "made" else snapshots.read(str(demo.demo_path()))
    ask = EvaluationOptions(now="2026-11-21T12:00:00Z")
    many, drawn, shared = Differences(store, ask), Patterns(color=False, width=80), 0
    for pod in store.all("Pod"):
        ref = ObjectRef("Pod", pod.metadata.name, pod.metadata.namespace)
        alone = diff(store, Subject(ref, BY_KIND["Pod"]), ask)
        found = many.difference_of(pod)
        assert many.differs(pod) == alone.changed == (found is not None), ref
        if found is None:
            continue
        shared += many.pattern is not None and many.pattern is not found
        assert msgspec.json.encode(found) == msgspec.json.encode(alone)
        assert drawn.lines(found, many.pattern) == list(lines(alone))
    assert shared or which == "demo", "nothing was shared, so nothing was shown"
