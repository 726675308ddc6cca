"""Keys of quotas that pods get past by stating nothing, and LimitRanges that end it."""

from __future__ import annotations

import pytest

from kubectl_kres.model.objects import LimitRange, LimitRangeItem, LimitRangeSpec, Metadata
from kubectl_kres.reports.quota.quota_report import optional_names

_LIMITS, _REQUESTS, _SHORT = "limits.ephemeral-storage", "requests.ephemeral-storage", "ephemeral-storage"
_VALUE = {"ephemeral-storage": "1Gi"}


@pytest.mark.parametrize(
    ("item", "left"),
    [
        (None, {_LIMITS, _REQUESTS, _SHORT}),
        (LimitRangeItem("Container", default=_VALUE), set()),
        (LimitRangeItem("Container", max=_VALUE), set()),
        (LimitRangeItem("Container", default_request=_VALUE), {_LIMITS}),
        (LimitRangeItem("Pod", min=_VALUE), {_LIMITS}),
        (LimitRangeItem("Container", default={"cpu": "1"}), {_LIMITS, _REQUESTS, _SHORT}),
        (LimitRangeItem("PersistentVolumeClaim", max=_VALUE), {_LIMITS, _REQUESTS, _SHORT}),
    ],
)
def test_names_that_nothing_has_to_state(item: LimitRangeItem | None, left: set[str]) -> None:
    ranges = [LimitRange(Metadata(name="r"), LimitRangeSpec((item,)))] if item is not None else []
    assert set(optional_names((_LIMITS, _REQUESTS, _SHORT, "limits.cpu", "pods"), ranges)) == left
