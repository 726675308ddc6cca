"""Lines of kubectl describe, held against what kubectl v1.36.3 printed (TZ=UTC) for the objects in described.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubectl_kres.model.objects import LimitRange, Namespace, ResourceQuota
from kubectl_kres.render.describe import (
    annotation_rows,
    limit_range_lines,
    namespace_lines,
    pod_lines,
    quota_lines,
)
from kubectl_kres.render.text.line import columns
from kubectl_kres.reports.quota.describe import limit_range_block, namespace_block, quota_block

RECORDED = json.loads(Path(__file__).with_name("described.json").read_text())

#: Values of variables are not shown; of one with several lines that is one line.
HIDDEN = {"      A:  1": "      A:  <not shown>", "      B:  l1": "      B:  <not shown>"}


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in RECORDED])
def test_recorded_lines(case: dict[str, Any]):
    held = {kind: [raw for raw in case["objects"] if raw["kind"] == kind] for kind in ("Pod", "Namespace")}
    quotas, ranges = (
        [msgspec.convert(raw, struct) for raw in case["objects"] if raw["kind"] == struct.__name__]
        for struct in (ResourceQuota, LimitRange)
    )
    if held["Pod"]:
        lines = pod_lines(held["Pod"][0])
    elif held["Namespace"]:
        lines = namespace_lines(namespace_block(msgspec.convert(held["Namespace"][0], Namespace), quotas, ranges))
    else:
        lines = quota_lines(quota_block(quota) for quota in quotas)
    shown = [HIDDEN.get(line, line) for line in case["lines"] if line != "          l2"]
    assert lines == shown


def test_columns_are_as_wide_as_each_run_of_lines_needs():
    rows = [("a", "b", "c"), ("long", "x"), ("none",), ("d", "e"), ("", "f")]
    assert columns(rows) == ["a     b  c", "long  x", "none", "d  e", "   f"]
    assert columns([]) == []


def test_several_blocks_stand_apart():
    block = limit_range_block(LimitRange())
    assert limit_range_lines([block, block])[4:6] == ["", ""]
    assert limit_range_lines([block])[0] == "Name:       "


def test_use_of_another_notation_is_shown_in_whole_units():
    raw = {"status": {"hard": {"memory": "1Gi", "cpu": "2"}, "used": {"memory": "1500m"}}}
    quota = msgspec.convert(raw, ResourceQuota)
    assert quota_block(quota).rows == (("cpu", "0", "2"), ("memory", "2", "1Gi"))
    assert quota_block(quota, converted=False).rows == (("cpu", "0", "2"), ("memory", "1500m", "1Gi"))


def test_what_kubectl_keeps_in_an_annotation_is_not_shown():
    held = {"kubectl.kubernetes.io/last-applied-configuration": "{}"}
    assert [*annotation_rows(held)] == [("Annotations:", "<none>")]
