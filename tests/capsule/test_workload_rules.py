"""Rules of a Tenant for pods: those that say nothing of pods are no rules, and what is not known is named."""

from __future__ import annotations

import pytest

from kubectl_kres.capsule.model import Audience, NamespaceRule, TenantEnforce
from kubectl_kres.capsule.rules.workload_rules import rules_of_status
from kubectl_kres.provenance.journal import Source
from kubectl_kres.render.text.sentences import sentence_text

_STATUS = Source("RuleStatus", "shop")
_WORKLOADS = {"qosClasses": {"allowed": ["Guaranteed"]}}


@pytest.mark.parametrize("enforce", [None, TenantEnforce(), TenantEnforce(action="allow"), TenantEnforce("deny", {})])
def test_a_rule_without_workloads_says_nothing_of_pods(enforce):
    rules = rules_of_status([NamespaceRule(enforce=enforce)], _STATUS)
    assert (rules.rules, rules.assumptions) == ((), ())


@pytest.mark.parametrize(
    ("rule", "named"),
    [
        (NamespaceRule((Audience("User", "eve"),), TenantEnforce("deny", _WORKLOADS)), "User eve"),
        (NamespaceRule(None, TenantEnforce("forbid", _WORKLOADS)), "'forbid' is not known"),
    ],
)
def test_a_rule_that_cannot_be_computed_is_left_out_and_named(rule, named):
    rules = rules_of_status([rule], _STATUS)
    assert rules.rules == ()
    assert [named in sentence_text(assumption.text) for assumption in rules.assumptions] == [True]
