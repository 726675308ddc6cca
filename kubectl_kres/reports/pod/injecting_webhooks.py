"""The webhooks that may add something to new pods of a namespace, and what has to be read to see what they add."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.model.admission_objects import WEBHOOKS, Webhook
from kubectl_kres.reports.common.effective_policies import extend
from kubectl_kres.scheduling.selectors import matches, read_selector
from kubectl_kres.store.store import ReadRequest, Store

#: What tells the containers of pods, and of the templates that they were made from.
TELLING = ("Pod", "ReplicaSet", "ControllerRevision")
_PODS = frozenset({"pods", "pods/*", "*", "*/*"})


def injector_needs(store: Store, namespace: str, labels: Mapping[str, str] | None) -> Iterator[ReadRequest]:
    """Yield the reads of the pods of a namespace, where a webhook may add something to a pod with these labels."""
    if injecting_webhooks(store, namespace, labels):
        yield from (ReadRequest(kind, namespace, required=False) for kind in TELLING)


def injecting_webhooks(store: Store, namespace: str, labels: Mapping[str, str] | None) -> list[Webhook]:
    """Return the mutating webhooks that are asked about such a new pod, but for those that are computed."""
    if next(store.all(WEBHOOKS[0]), None) is None:
        return []
    space = store.get("Namespace", namespace)
    of_space = {
        "kubernetes.io/metadata.name": namespace,
        **((space.metadata.labels or {}) if space is not None else {}),
    }
    computed = extend(store, namespace, Policies()).computed
    return [
        hook
        for configuration in store.all(WEBHOOKS[0])
        for hook in configuration.webhooks or ()
        if hook.name not in computed
        and any(map(_is_about_new_pods, hook.rules or ()))
        and selects(hook.namespace_selector, of_space)
        and selects(hook.object_selector, labels or {})
    ]


def _is_about_new_pods(rule: Mapping[str, Any]) -> bool:
    operations, resources = (set(rule.get(key) or ()) for key in ("operations", "resources"))
    return bool(operations & {"CREATE", "*"} and resources & _PODS)


def selects(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Return whether a selector of a webhook selects labels: none, and an empty one, selects all."""
    return not selector or matches(read_selector(selector), labels)
