"""A namespace that recorded objects are created in, one after the other, with what its quotas then hold."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from conformance.systems import Uncovered

from kubectl_kres.admission import create
from kubectl_kres.admission.outcome import Outcome, QuotaCharge
from kubectl_kres.admission.server import Server
from kubectl_kres.model.policy import LimitRange, PriorityClass, ResourceQuota, RuntimeClass

Raw = Mapping[str, Any]

POLICIES = {
    "LimitRange": LimitRange,
    "ResourceQuota": ResourceQuota,
    "PriorityClass": PriorityClass,
    "RuntimeClass": RuntimeClass,
}

#: Kinds that no quota of these recordings counts, besides the policies.
CLASSES = {"StorageClass", "VolumeAttributesClass", "DeviceClass"}

#: What the controllers put into every new namespace.
ACCOUNT = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}


def recounted(given: Sequence[Raw]) -> bool:
    """Whether the controller counted what was there already: objects before a quota, or a status written later."""
    kinds = [item["kind"] for item in given]
    counted = [kind not in POLICIES and kind not in CLASSES for kind in kinds]
    return any("status" in item for item in given) or any(
        kind == "ResourceQuota" and any(counted[:place]) for place, kind in enumerate(kinds)
    )


class Namespace:
    """Policies as sent, quotas with the status that the controller would have written."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._policies: dict[str, list[dict[str, Any]]] = {kind: [] for kind in POLICIES}

    def fill(self, given: Sequence[Raw], quotas: Mapping[str, Raw]) -> None:
        """Objects that stand there, with the status of each quota as recorded."""
        for item in given:
            if item["kind"] in POLICIES:
                status = {"status": quotas[item["metadata"]["name"]]} if item["kind"] == "ResourceQuota" else {}
                self._policies[item["kind"]].append({**item, **status})

    def replay(self, given: Sequence[Raw]) -> None:
        """Create one object after the other. Raises Uncovered where the controller would have to recount."""
        if any(item["kind"] == "ResourceQuota" for item in given) and recounted(given):
            raise Uncovered("a quota's usage is not recounted yet")
        for item in given:
            if item["kind"] in CLASSES:
                continue
            outcomes = self.create(item)
            outcome = next((one for one in outcomes if one.allowed), None)
            assert outcome, f"given, so it was created: {item['kind']}: {outcomes[0].message}"
            self.charge(outcome.charges)
            if item["kind"] == "ResourceQuota":
                self._start(item, outcome.object["spec"].get("hard", {}))
            elif item["kind"] in POLICIES:
                self._policies[item["kind"]].append(item)

    def create(self, item: Raw) -> tuple[Outcome, ...]:
        """Every answer to creating an object now."""
        held = [
            [msgspec.convert(policy, struct) for policy in self._policies[kind]] for kind, struct in POLICIES.items()
        ]
        return create.create(item, create.policies_of(*held), self.server)

    def charge(self, charges: Sequence[QuotaCharge]) -> None:
        """Count what was created."""
        for quota in self._policies["ResourceQuota"]:
            for charge in charges:
                if charge.quota == quota["metadata"]["name"]:
                    quota["status"]["used"] |= charge.after

    def quotas(self, outcome: Outcome | None = None) -> dict[str, Raw]:
        """``hard`` and ``used`` by name, after an outcome if one is given."""
        then = copy.deepcopy(self)
        if outcome is not None:
            then.charge(outcome.charges)
        return {quota["metadata"]["name"]: quota["status"] for quota in then._policies["ResourceQuota"]}

    def _start(self, quota: Raw, hard: Mapping[str, str]) -> None:
        """The first count of a quota in a namespace without workloads: itself, and the account that every one has."""
        status = {"hard": hard, "used": dict.fromkeys(hard, "0")}
        self._policies["ResourceQuota"].append({**quota, "status": status})
        for item in (quota, ACCOUNT):
            charges = self.create(item)[0].charges
            self.charge([charge for charge in charges if charge.quota == quota["metadata"]["name"]])
