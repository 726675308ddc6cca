"""The word of a verdict: what a script may rely on."""

from __future__ import annotations

import pytest
from reports.stored import made, store_of, subject, template

from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.reports.explain.explain import explain

FULL = {"pods": "1"}
STATED = {"requests.cpu": "1"}


@pytest.mark.parametrize(
    ("hard", "used", "unread", "allowed", "outcome"),
    [
        ({}, {}, (), True, "admitted"),
        ({}, {}, ("LimitRange",), True, "admitted-as-far-as-seen"),
        ({}, {}, ("ResourceQuota",), True, "admitted-as-far-as-seen"),
        ({}, {}, ("Event", "Pod"), True, "admitted"),
        (FULL, FULL, (), False, "refused"),
        # Nothing that was not read makes room.
        (FULL, FULL, ("LimitRange",), False, "refused"),
        (STATED, {"requests.cpu": "0"}, (), False, "refused"),
        # A LimitRange may fill in what is not stated.
        (STATED, {"requests.cpu": "0"}, ("LimitRange",), False, "refused-as-far-as-seen"),
    ],
)
def test_what_was_not_read_is_in_the_word(hard, used, unread, allowed, outcome):
    quota = made("ResourceQuota", "q", spec={"hard": hard}, status={"hard": hard, "used": used})
    store = store_of(made("Deployment", "web", spec=template()), quota, unread=unread)
    verdict = explain(store, subject("Deployment/web"), EvaluationOptions()).verdict
    assert (verdict.allowed, verdict.outcome) == (allowed, outcome)


def test_the_order_of_limitranges_is_in_the_word():
    ranges = [
        made("LimitRange", name, spec={"limits": [{"type": "Container", "default": {"cpu": limit}}]})
        for name, limit in (("a", "1"), ("b", "3"))
    ]
    app = {"name": "app", "resources": {"requests": {"cpu": "2"}}}
    store = store_of(made("Deployment", "web", spec=template(app)), *ranges)
    verdict = explain(store, subject("Deployment/web"), EvaluationOptions()).verdict
    assert (verdict.allowed, verdict.outcome) == (None, "depends-on-order")
