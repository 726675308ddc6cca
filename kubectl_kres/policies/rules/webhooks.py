"""Webhooks that would be asked about a request: by rules, selectors and conditions. What they say is not known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from kubectl_kres.policies.cel.base.errors import NotComputed
from kubectl_kres.policies.rules.matching import matched
from kubectl_kres.policies.rules.policy import ConfigurationError, Given, Policy
from kubectl_kres.policies.rules.request import Request

Raw = Mapping[str, Any]


class AskedConfiguration(Struct, frozen=True):
    """A configuration, some of whose webhooks are asked. ``fails``: one of them refuses where it cannot be reached."""

    configuration: str
    mutating: bool
    fails: bool

    @property
    def text(self) -> str:
        return f"webhook {self.configuration} ({'fail closed' if self.fails else 'fail open'}) is not computed"


def asked(
    name: str, webhooks: Iterable[Raw], request: Request, given: Given, *, mutating: bool
) -> AskedConfiguration | None:
    """None: no webhook of the configuration is asked."""
    result = [webhook for webhook in webhooks if _is_asked(webhook, request, given)]
    if not result:
        return None
    return AskedConfiguration(
        name, mutating, any((mapping.get("failurePolicy") or "Fail") == "Fail" for mapping in result)
    )


def _is_asked(webhook: Raw, request: Request, given: Given) -> bool:
    constraints = {
        "resourceRules": webhook.get("rules"),
        "namespaceSelector": webhook.get("namespaceSelector"),
        "objectSelector": webhook.get("objectSelector"),
        "matchPolicy": webhook.get("matchPolicy") or "Equivalent",
    }
    if not webhook.get("rules") or matched(constraints, request, given.namespace) is None:
        return False
    return any(_conditions(webhook, request, given))


def _conditions(webhook: Raw, request: Request, given: Given) -> Iterator[bool]:
    """Whether the conditions let it be asked; one that is not computed does. Source: webhook/matchconditions."""
    spec = {"matchConditions": webhook.get("matchConditions"), "failurePolicy": webhook.get("failurePolicy") or "Fail"}
    policy = Policy({"metadata": {"name": webhook.get("name", "")}, "spec": spec}, given.server.version)
    try:
        yield policy.holds(request, request, None, given)
    except (ConfigurationError, NotComputed):
        yield True
