"""Webhooks of several systems: in the order of their configurations, and again only where they want it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from kubectl_kres.admission.base.draft import Draft
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.new_pod import Policies, admit, policies_of
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import LimitRange, decode_object
from kubectl_kres.model.pod import Pod
from kubectl_kres.quantity import parse
from kubectl_kres.reports.common.effective_policies import policies
from kubectl_kres.store.store import Origin, Store

POD = decode_object({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "app", "image": "img"}]}}, Pod)


class Hook:
    """Sets a request once, to a value that tells how often it was asked."""

    def __init__(
        self, configuration: str, resource: str, calls: list[str], *, reinvoked: bool, changes: bool = True
    ) -> None:
        self.configuration, self.resource, self.calls = configuration, resource, calls
        self.reinvoked, self.changes, self.title = reinvoked, changes, ""

    def with_limits(self, limits: Any) -> Hook:
        del limits
        return self

    def for_owner(self, owner: Any) -> Hook:
        return self

    def mutate(self, draft: Draft, journal: Any) -> bool:
        self.calls.append(self.configuration)
        slot = draft.containers[0]
        if not self.changes or self.resource in slot.requests:
            return False
        slot.requests[self.resource] = parse("1")
        return True

    def review(self, draft: Draft, name: str, journal: Any) -> tuple[()]:
        return ()


def called(*hooks: Hook, known: Policies | None = None) -> None:
    (outcome,) = admit(POD, structs.replace(known or policies_of([], []), webhooks=hooks), Server())
    assert outcome.allowed


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # reinvoked, changes: of each
        ((False, True), (False, True), ["a", "b"]),
        ((True, True), (False, True), ["a", "b", "a"]),
        ((True, False), (False, True), ["a", "b", "a"]),
        ((True, True), (False, False), ["a", "b"]),
        ((False, True), (True, True), ["a", "b"]),
        ((True, False), (True, False), ["a", "b"]),
        ((True, False), (True, True), ["a", "b", "a"]),
    ],
)
def test_a_webhook_is_asked_again_after_a_later_one(first: Any, second: Any, expected: list[str]) -> None:
    calls: list[str] = []
    called(
        Hook("a", "cpu", calls, reinvoked=first[0], changes=first[1]),
        Hook("b", "memory", calls, reinvoked=second[0], changes=second[1]),
    )
    assert calls == expected


def test_all_that_want_it_are_asked_again_where_limitranger_changed_the_pod() -> None:
    """What a webhook sets can be what LimitRanger makes something else of: here a request without a default limit."""
    calls: list[str] = []
    item = {"type": "Container", "default": {"cpu": "2"}, "defaultRequest": {"cpu": "1"}}
    limits = decode_object({"metadata": {"name": "l"}, "spec": {"limits": [item]}}, LimitRange)

    class Dropping(Hook):
        def mutate(self, draft: Draft, journal: Any) -> bool:
            self.calls.append(self.configuration)
            if calls.count(self.configuration) > 1:
                return False
            draft.containers[0].limits.clear()
            return True

    called(
        Hook("a", "cpu", calls, reinvoked=True, changes=False),
        Dropping("b", "", calls, reinvoked=True),
        Hook("c", "cpu", calls, reinvoked=False, changes=False),
        known=policies_of([limits], []),
    )
    assert calls == ["a", "b", "c", "a", "b"]


def test_capsule_and_the_autoscaler_are_sorted_by_configuration() -> None:
    store = Store(Origin("files"))
    rule = {"enforce": {"action": "deny", "workloads": {"resources": {"limits": {"cpu": {"policy": "Remove"}}}}}}
    for raw in (
        {"kind": "Namespace", "metadata": {"name": "shop", "labels": {"capsule.clastix.io/tenant": "oil"}}},
        {"kind": "Tenant", "metadata": {"name": "oil"}, "spec": {"rules": [rule]}},
        {
            "kind": "VerticalPodAutoscaler", "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"targetRef": {"kind": "Deployment", "name": "web"}},
        },
    ):  # fmt: skip
        store.add(raw["kind"], decode_object(raw, BY_KIND[raw["kind"]].struct))
    webhooks = policies(store, "shop").policies.webhooks
    assert [(webhook.configuration, webhook.reinvoked) for webhook in webhooks] == [
        ("capsule-mutating-webhook-configuration", True),
        ("vpa-webhook-config", False),
    ]
