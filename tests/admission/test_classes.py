"""Priority and runtime classes: what they give a pod, what they refuse, and what happens when they are not known."""

from __future__ import annotations

import pytest
from admission.samples import container, limit_range, one, pod, policies, priority, quota, runtime, values

KATA = runtime("kata", {"cpu": "250m"})
PLAIN = runtime("plain", None)


@pytest.mark.parametrize(
    ("named", "classes", "given", "message"),
    [
        pytest.param("", (), "", "", id="no classes"),
        pytest.param("", (priority("low"),), "", "", id="none is the default"),
        pytest.param("", (priority("low"), priority("normal", 5, default=True)), "normal", "", id="global default"),
        pytest.param(
            "", (priority("b", 9, default=True), priority("a", 3, default=True)), "a", "", id="lowest of two defaults"
        ),
        pytest.param("high", (priority("high"), priority("d", default=True)), "high", "", id="named"),
        pytest.param("system-node-critical", (), "system-node-critical", "", id="built in"),
        pytest.param(
            "gone",
            (),
            "gone",
            'pods "p" is forbidden: no PriorityClass with name gone was found',
            id="unknown",
        ),
        pytest.param("gone", None, "gone", "", id="classes that were not read refuse nothing"),
    ],
)
def test_priority(named, classes, given, message):
    outcome = one(pod(priorityClassName=named), policies(priorities=classes))
    assert (outcome.draft.priority_class, outcome.message) == (given, message)
    assert outcome.code == (403 if message else 201)


def test_the_default_class_decides_the_scope_of_a_quota():
    scoped = quota("q", {"pods": "0"}, scopeSelector={"matchExpressions": [
        {"scopeName": "PriorityClass", "operator": "In", "values": ["normal"]}]})  # fmt: skip
    held = policies(quotas=[scoped], priorities=[priority("normal", default=True)])
    assert one(pod(), held).message.startswith('pods "p" is forbidden: exceeded quota: q')
    assert one(pod(), policies(quotas=[scoped], priorities=[priority("normal")])).allowed


_DIFFERS = "pods \"p\" is forbidden: pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
_BARE = 'pods "p" is forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'


@pytest.mark.parametrize(
    ("named", "brought", "classes", "overhead", "message"),
    [
        pytest.param("kata", None, (KATA,), "250m", "", id="added"),
        pytest.param("kata", {"cpu": "0.25"}, (KATA,), "250m", "", id="the same, written otherwise"),
        pytest.param("kata", {"cpu": "1"}, (KATA,), "1", _DIFFERS, id="another"),
        pytest.param("plain", None, (PLAIN,), None, "", id="a class without overhead"),
        pytest.param("plain", {"cpu": "1"}, (PLAIN,), "1", _BARE, id="brought beside a class without"),
        pytest.param(None, {"cpu": "1"}, (KATA,), "1", _BARE, id="brought without a class"),
        pytest.param(
            "gone", None, (KATA,), None, 'pods "p" is forbidden: pod rejected: RuntimeClass "gone" not found', id="gone"
        ),
        pytest.param("gone", None, None, None, "", id="classes that were not read refuse nothing"),
        pytest.param("gone", {"cpu": "1"}, None, "1", "", id="nor do they doubt the overhead"),
    ],
)
def test_overhead(named, brought, classes, overhead, message):
    outcome = one(pod(runtimeClassName=named, overhead=brought), policies(runtimes=classes))
    assert (values(outcome).get("overhead[cpu]"), outcome.message) == (overhead, message)


def test_bounds_are_checked_before_unexplained_overhead():
    """Validation, then LimitRanger, then RuntimeClass."""
    held = policies([limit_range("max", {"max": {"cpu": "1"}})])
    outcome = one(pod(container(limits={"cpu": "2"}), overhead={"cpu": "1"}), held)
    assert [finding.rule for finding in outcome.refusal.findings] == ["limitrange/max"]


def test_overhead_counts_for_quota_and_not_for_pod_bounds():
    ranges = [limit_range("pods", {"type": "Pod", "max": {"cpu": "1"}})]
    given = pod(container(limits={"cpu": "1"}), runtimeClassName="kata")
    held = policies(ranges, [quota("q", {"requests.cpu": "2", "limits.cpu": "2"})], runtimes=[KATA])
    outcome = one(given, held)
    assert outcome.allowed
    assert outcome.charges[0].requested == {"requests.cpu": "1250m", "limits.cpu": "1250m"}
