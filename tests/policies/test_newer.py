"""Policies and bindings with parts that are newer than the program: named, and never computed without them."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_kres.policies.rules.newer_fields import known_bindings
from kubectl_kres.policies.rules.policy import BoundPolicy, bind_policies

PODS = {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]}
VALIDATING = {"matchConstraints": PODS, "validations": [{"expression": "true"}]}
PATCH = {"patchType": "JSONPatch", "jsonPatch": {"expression": "[]"}}


def case(spec: dict[str, Any], *bindings: dict[str, Any]) -> BoundPolicy:
    """The policy, bound as told."""
    raw = {"metadata": {"name": "rule"}, "spec": spec}
    bindings = bindings or ({},)
    raws = [
        {"metadata": {"name": f"b{place}"}, "spec": {"policyName": "rule", **binding}}
        for place, binding in enumerate(bindings)
    ]
    [found] = bind_policies([raw], raws, (1, 36))
    return found


WHOLE = {
    **VALIDATING,
    "failurePolicy": "Ignore",
    "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
    "matchConditions": [{"name": "a", "expression": "true"}],
    "variables": [{"name": "a", "expression": "1"}],
    "validations": [{"expression": "true", "message": "m", "messageExpression": "'m'", "reason": "Invalid"}],
    "auditAnnotations": [{"key": "k", "valueExpression": "'v'"}],
    "matchConstraints": {
        **PODS,
        "excludeResourceRules": [{"resourceNames": ["x"], "scope": "*", "operations": ["*"]}],
        "namespaceSelector": {"matchLabels": {"any.label/at-all": "x"}},
        "objectSelector": {"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["b"]}]},
        "matchPolicy": "Exact",
    },
}
REFERENCE = {
    "selector": {"matchLabels": {"tier": "low"}}, "namespace": "a", "parameterNotFoundAction": "Allow",
}  # fmt: skip


@pytest.mark.parametrize(
    "known",
    [
        case(WHOLE, {"paramRef": REFERENCE, "matchResources": PODS, "validationActions": ["Deny", "Audit"]}),
        case({"mutations": [PATCH], "reinvocationPolicy": "IfNeeded"}),
        case({"mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{}"}}]}),
        case({"failurePolicy": None, "matchConstraints": {"matchPolicy": ""}}),
    ],
)
def test_all_that_servers_serve_today_is_known(known: BoundPolicy) -> None:
    assert known_bindings(known) == (known, [])


@pytest.mark.parametrize(
    ("more", "place"),
    [
        ({"check": 1}, "spec.check"),
        ({"validations": [{"expression": "true"}, {"severity": "high"}]}, "spec.validations[1].severity"),
        ({"failurePolicy": "Retry"}, 'spec.failurePolicy "Retry"'),
        ({"matchConstraints": {"matchPolicy": "Fuzzy"}}, 'spec.matchConstraints.matchPolicy "Fuzzy"'),
        ({"mutations": [{"patchType": "Merge"}]}, 'spec.mutations[0].patchType "Merge"'),
        ({"paramKind": {"kind": "A", "scope": "x"}}, "spec.paramKind.scope"),
    ],
)
def test_nothing_is_computed_of_a_policy_with_a_part_that_is_not_known(more: dict[str, Any], place: str) -> None:
    assert known_bindings(case({**VALIDATING, **more})) == (None, [f"it has {place}, which is newer than this program"])


def test_of_bindings_only_those_with_such_a_part_are_left_out() -> None:
    left, gaps = known_bindings(case(VALIDATING, {"sampling": 5}, {}, {"validationActions": ["Deny", "Quarantine"]}))
    assert left is not None and [binding["metadata"]["name"] for binding in left.bindings] == ["b1"]
    assert gaps == [
        "its binding b0 has spec.sampling, which is newer than this program",
        'its binding b2 has spec.validationActions[1] "Quarantine", which is newer than this program',
    ]
    assert known_bindings(case(VALIDATING, {"sampling": 5}))[0] is None
