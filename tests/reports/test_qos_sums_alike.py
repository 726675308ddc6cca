"""Pods that are alike are added up as if each were added by itself, text and notation of the sums included."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_kres.admission.base.draft import Quantities
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.pod.aggregate import add_into
from kubectl_kres.model.pod import Pod
from kubectl_kres.reports.qos import qos_sums

AMOUNTS = st.sampled_from(["0", "1", "1.5Gi", "1500m", "100M", "1Gi", "1e3", "8Ei"])
LISTS = st.dictionaries(st.sampled_from(["cpu", "memory", "nvidia.com/gpu"]), AMOUNTS)


@st.composite
def pods(draw: st.DrawFn) -> Pod:
    requests, limits, actual = draw(LISTS), draw(LISTS), draw(st.none() | LISTS)
    status: dict[str, Any] = {"phase": draw(st.sampled_from(["Running", "Succeeded"]))}
    if actual is not None:
        status["containerStatuses"] = [{"name": "app", "resources": {"requests": actual}}]
    return msgspec.convert(
        {
            "metadata": {"name": draw(st.sampled_from("xyz")), "namespace": draw(st.sampled_from("ab"))},
            "spec": {"containers": [{"name": "app", "resources": {"requests": requests, "limits": limits}}]},
            "status": status,
        },
        Pod,
    )


def one_by_one(found: list[Pod], namespace: str) -> tuple[dict[str, str], dict[str, str]]:
    requests: Quantities = {}
    limits: Quantities = {}
    for pod in found:
        amounts = qos_sums.amounts(pod, Server())
        if pod.metadata.namespace == namespace and pod.status.phase == "Running":
            add_into(requests, amounts.requests)
            add_into(limits, amounts.limits)
    return ({name: str(value) for name, value in one.items()} for one in (requests, limits))  # type: ignore[return-value]


@pytest.mark.parametrize("most", [1, 10_000])
@given(found=st.lists(pods(), max_size=12))
def test_sums_are_those_of_each_pod_by_itself(most: int, found: list[Pod]):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(qos_sums, "_MOST", most)
        adding = qos_sums.SumCollector(Server())
        for pod in found:
            adding.add(pod)
        *spaces, whole = adding.sums()
    assert whole.pods == sum(pod.status.phase == "Running" for pod in found)
    for space in spaces:
        requests, limits = one_by_one(found, space.namespace)
        assert (space.requests, space.limits) == (requests, limits)


@pytest.mark.parametrize("most", [1, 10_000])
@given(found=st.lists(pods(), max_size=12))
def test_what_copies_count_for_is_what_each_counts_for(most: int, found: list[Pod]):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(qos_sums, "_MOST", most)
        alike = qos_sums.AlikeAmounts(Server())
        assert [alike.amounts_of(pod) for pod in found] == [qos_sums.amounts(pod, Server()) for pod in found]
        if found:
            assert alike.amounts_of(found[-1]) is alike.amounts_of(
                msgspec.json.decode(msgspec.json.encode(found[-1]), type=Pod)
            )
