"""Short ways to write pods and policies down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.new_pod import Policies, admit, policies_of
from kubectl_kres.model.objects import LimitRange, PriorityClass, ResourceQuota, RuntimeClass
from kubectl_kres.model.pod import Pod

Lists = Mapping[str, Any]


def container(name: str = "app", limits: Lists | None = None, requests: Lists | None = None, **more: Any) -> Any:
    resources = {key: value for key, value in (("limits", limits), ("requests", requests)) if value is not None}
    return {"name": name, "resources": resources, **more}


def pod(*containers: Any, annotations: Lists | None = None, **spec: Any) -> Pod:
    """A pod p of the namespace ns; the keys of ``spec`` as they are on the wire."""
    metadata = {"name": "p", "namespace": "ns", "annotations": annotations}
    return msgspec.convert({"metadata": metadata, "spec": {"containers": containers or [container()], **spec}}, Pod)


def limit_range(name: str, *items: Lists) -> LimitRange:
    """Items are of type Container unless they say otherwise."""
    limits = [{"type": "Container", **item} for item in items]
    return msgspec.convert({"metadata": {"name": name, "namespace": "ns"}, "spec": {"limits": limits}}, LimitRange)


def quota(name: str, hard: Lists, used: Lists | None = None, **spec: Any) -> ResourceQuota:
    """A quota that the controller has seen; nothing of it is used unless ``used`` says so."""
    status = {"hard": hard, "used": dict.fromkeys(hard, "0") | dict(used or {})}
    raw = {"metadata": {"name": name, "namespace": "ns"}, "spec": {"hard": hard, **spec}, "status": status}
    return msgspec.convert(raw, ResourceQuota)


def priority(name: str, value: int = 0, *, default: bool = False) -> PriorityClass:
    return msgspec.convert({"metadata": {"name": name}, "value": value, "globalDefault": default}, PriorityClass)


def runtime(name: str, overhead: Lists | None) -> RuntimeClass:
    fixed = {"overhead": {"podFixed": overhead}} if overhead is not None else {}
    return msgspec.convert({"metadata": {"name": name}, **fixed}, RuntimeClass)


def policies(
    ranges: Sequence[LimitRange] = (),
    quotas: Sequence[ResourceQuota] = (),
    priorities: Sequence[PriorityClass] | None = (),
    runtimes: Sequence[RuntimeClass] | None = (),
) -> Policies:
    return policies_of(ranges, quotas, priorities, runtimes)


def one(given: Pod, held: Policies | None = None, server: Server | None = None) -> Outcome:
    """The only answer there is."""
    [outcome] = admit(given, held or policies(), server or Server())
    return outcome


def values(outcome: Outcome) -> dict[str, str]:
    """The pod's quantities as far as admission got, by path without ``spec.`` and ``.resources``."""
    assert outcome.draft is not None
    return {
        path.removeprefix("spec.").replace(".resources", "").replace("resources.", ""): str(quantity)
        for path, quantity in outcome.draft.values().items()
    }
