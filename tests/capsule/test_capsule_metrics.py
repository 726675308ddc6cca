"""The form of metric lines; what they hold is compared with the recordings."""

from __future__ import annotations

import pytest
from capsule.samples import claim, namespace, pool, world

from kubectl_kres.capsule.replay.events import PatchEvent
from kubectl_kres.capsule.replay.metrics import lines


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        ("0", "0"),
        ("100k", "100000"),
        ("1M", "1e+06"),
        ("2Gi", "2.147483648e+09"),
        ("1234567", "1.234567e+06"),
        ("1500m", "1.5"),
        ("1n", "0.001"),
        ("-3M", "-3e+06"),
        ("1Ei", "-9.223372036854776e+15"),
    ],
)
def test_values_as_the_real_endpoint_prints_them(amount, shown):
    found = world(namespace("a"), claim("one", {"pods": amount}))
    assert f'capsule_claim_resource{{name="one",resource="pods",target_namespace="a"}} {shown}' in lines(found)


def test_labels_are_escaped():
    found = world(namespace("a"), claim("one", {'p"o\\d\ns': "1"}, to='gr"een'))
    assert lines(found) == (
        'capsule_claim_pool{name="one",pool="gr\\"een",target_namespace="a"} 1',
        'capsule_claim_resource{name="one",resource="p\\"o\\\\d\\ns",target_namespace="a"} 1',
    )


def test_a_pool_without_amounts_has_no_series():
    assert lines(world(namespace("a"), pool("green", {}))) == ()


@pytest.mark.parametrize(
    ("hard", "claimed", "shown"),
    [("5500m", "1u", "0.01818181818181818"), ("1", "182m", "18.2"), ("3", "1", "33.33333333333333")],
)
def test_a_percentage_is_divided_in_thousandths(hard, claimed, shown):
    found = lines(world(namespace("a"), pool("green", {"pods": hard}), claim("one", {"pods": claimed})))
    assert f'capsule_pool_usage_percentage{{pool="green",resource="pods"}} {shown}' in found


def test_a_share_of_nothing_is_no_number():
    event = PatchEvent("ResourcePool", "green", {"spec": {"quota": {"hard": {"pods": "0"}}}})
    found = lines(world(namespace("a"), pool("green", {"pods": "4"}), claim("one", {"pods": "0"}), event))
    labels = 'pool="green",resource="pods",target_namespace="a"'
    assert f"capsule_pool_namespace_usage_percentage{{{labels}}} NaN" in found
    assert 'capsule_pool_usage_percentage{pool="green",resource="pods"} 0' in found
