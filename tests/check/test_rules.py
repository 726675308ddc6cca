"""Every rule: its example breaks it, the near miss does not, and both say so in whole sentences."""

from __future__ import annotations

import re

import pytest
from check.samples import ASK, check_contexts, diagnostics, example, store_of_yaml

from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.check.check import BY_CODE, RULES, check
from kubectl_kres.reports.check.context import CheckContext, Rule
from kubectl_kres.reports.check.finding import SEVERITIES
from kubectl_kres.reports.common.explanation import FailedRead

#: KRES901 is about reads; the others about files, see tests/cli/test_cli_check.py and tests/cli/test_cli_no_calmer.py.
_WITH_OBJECTS = [rule for rule in RULES if rule.code not in {"KRES901", "KRES109", "KRES116", "KRES218"}]


def test_codes_are_unique_and_in_order():
    codes = [rule.code for rule in RULES]
    assert codes == sorted(set(codes))
    assert all(re.fullmatch("KRES[0-9]{3}", code) for code in codes)
    assert BY_CODE.keys() == {*codes}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_words(rule: Rule):
    assert rule.severity in SEVERITIES
    assert rule.reason.endswith(".")
    assert rule.remedy.endswith(".")
    assert not rule.title.endswith(".")
    assert not rule.message.endswith(".")


@pytest.mark.parametrize("rule", _WITH_OBJECTS, ids=lambda rule: rule.code)
def test_the_failing_example_breaks_it(rule: Rule):
    broken = diagnostics(example(rule.code, "failing"), rule.code)
    assert broken
    assert {one.code for one in broken} == {rule.code}
    assert all("{" not in sentence_text(one.message) for one in broken)


@pytest.mark.parametrize("rule", _WITH_OBJECTS, ids=lambda rule: rule.code)
def test_the_near_miss_is_silent(rule: Rule):
    assert diagnostics(example(rule.code, "passing"), rule.code) == []


def test_what_could_not_be_read_is_found():
    store = store_of_yaml("")
    unread = (FailedRead("ResourceQuota", "denied", "shop", message="forbidden"),)
    (one,) = check(CheckContext(store, ASK, "shop", unread=unread), {"KRES901"})
    assert one.object.kind == "ResourceQuota"
    assert sentence_text(one.message) == "denied: forbidden"


def test_quotas_that_cannot_be_counted_are_found():
    broken = example("KRES302", "failing").replace("used: {requests.cpu: '1'}", "used: {requests.cpu: many}")
    (one,) = [one for one in diagnostics(broken) if one.code == "KRES902"]
    assert (one.object.kind, one.object.name, one.object.namespace) == ("ResourceQuota", "*", "shop")
    assert "ResourceQuota/team" in sentence_text(one.message)


def test_a_workload_is_evaluated_once():
    [context] = [one for one in check_contexts(store_of_yaml(example("KRES401", "failing"))) if one.subjects]
    one_by_one = list(context.iter_evaluated())
    assert one_by_one
    assert all(first is again for first, again in zip(one_by_one, context.evaluated_workloads, strict=True))
    interleaved = list(zip(context.iter_evaluated(), context.iter_evaluated(), strict=True))
    assert interleaved == list(zip(one_by_one, one_by_one, strict=True))
