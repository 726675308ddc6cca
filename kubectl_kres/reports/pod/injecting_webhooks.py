"""The webhooks that may add something to new pods of a namespace, and what has to be read to see what they add."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.model.admission_objects import WEBHOOKS
from kubectl_kres.model.objects import LabelSelector
from kubectl_kres.reports.common.effective_policies import extend, extending_kinds
from kubectl_kres.scheduling.selectors import matches, read_selector
from kubectl_kres.store.store import ReadRequest, Store

#: What tells the containers of pods, and of the templates that they were made from.
TELLING = ("Pod", "ReplicaSet", "ControllerRevision")
_PODS = frozenset({"pods", "pods/*", "*", "*/*"})


class InjectingWebhook(NamedTuple):
    """A webhook by name, and the labels of pods that it is asked about; None: of all."""

    name: str
    selector: LabelSelector | None

    def is_asked_about(self, labels: Mapping[str, str] | None) -> bool:
        return self.selector is None or matches(self.selector, labels or {})


def injector_needs(store: Store, namespace: str, labels: Mapping[str, str] | None) -> Iterator[ReadRequest]:
    """Yield the reads of the pods of a namespace, where a webhook may add something to a pod with these labels."""
    if injecting_webhooks(store, namespace, labels):
        yield from (ReadRequest(kind, namespace, required=False) for kind in TELLING)


def injecting_webhooks(store: Store, namespace: str, labels: Mapping[str, str] | None) -> list[InjectingWebhook]:
    """Return the mutating webhooks that are asked about such a new pod, but for those that are computed."""
    if next(store.all(WEBHOOKS[0]), None) is None:
        return []
    kinds = (WEBHOOKS[0], "Namespace", *extending_kinds())
    hooks = store.memo(("injecting", namespace), kinds, None, lambda: list(_hooks(store, namespace)))
    return [hook for hook in hooks if hook.is_asked_about(labels)]


def _hooks(store: Store, namespace: str) -> Iterator[InjectingWebhook]:
    """Yield the webhooks of all new pods of a namespace."""
    space = store.get("Namespace", namespace)
    labels = (space.metadata.labels or {}) if space is not None else {}
    of_space = {"kubernetes.io/metadata.name": namespace, **labels}
    computed = extend(store, namespace, Policies()).computed
    for configuration in store.all(WEBHOOKS[0]):
        for hook in configuration.webhooks or ():
            about_pods = any(map(_is_about_new_pods, hook.rules or ()))
            selector = hook.namespace_selector
            if hook.name in computed or not about_pods or (selector and not matches(read_selector(selector), of_space)):
                continue
            yield InjectingWebhook(hook.name, read_selector(hook.object_selector))


def _is_about_new_pods(rule: Mapping[str, Any]) -> bool:
    operations, resources = (set(rule.get(key) or ()) for key in ("operations", "resources"))
    return bool(operations & {"CREATE", "*"} and resources & _PODS)
