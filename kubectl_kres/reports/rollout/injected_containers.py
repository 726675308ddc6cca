"""Containers that a webhook adds to the pods of a namespace, as its pods show them: the next pod gets them, too.

Of a webhook no client can read what it does.  What all pods that it was asked about have beside the templates that they
were made from, it adds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from heapq import nlargest
from typing import Any

from msgspec import Struct, structs

from kubectl_kres.model.admission_objects import WEBHOOKS
from kubectl_kres.model.pod import AddedContainers, Pod
from kubectl_kres.model.workload import ControllerRevision, Workload, template_of
from kubectl_kres.reports.pod.injecting_webhooks import TELLING, InjectingWebhook, injecting_webhooks
from kubectl_kres.reports.pod.manifest_source import find_maker
from kubectl_kres.store.store import Store

#: So many of the newest pods are looked at.
_MOST = 50
_LISTS = (("containers", "containers"), ("initContainers", "init_containers"))


class InjectedContainers(Struct, frozen=True):
    """What is added. ``count``: so many pods of the namespace have it, all that the same webhooks were asked about."""

    added: AddedContainers = ()
    count: int = 0

    @property
    def text(self) -> str:
        return f"on {self.count} of {self.count} pods of the namespace"


def injected_containers(store: Store, namespace: str, labels: Mapping[str, str] | None) -> InjectedContainers:
    """Return what pods with these labels get as all others do; nothing where no webhook is asked about them."""
    hooks = injecting_webhooks(store, namespace, labels)
    if not hooks:
        return InjectedContainers()
    names = tuple(hook.name for hook in hooks)
    kinds = (*TELLING, "Job", "Namespace", WEBHOOKS[0])
    return store.memo(("injected", namespace, names), kinds, names, lambda: _find(store, namespace, hooks))


def find_added(store: Store) -> Callable[[str, Mapping[str, str]], AddedContainers]:
    """Return what tells the containers that pods of a namespace with these labels get."""
    return lambda namespace, labels: injected_containers(store, namespace, labels).added


def _find(store: Store, namespace: str, hooks: Iterable[InjectingWebhook]) -> InjectedContainers:
    asked = (
        pod
        for pod in store.all("Pod", namespace)
        if isinstance(pod, Pod)
        and any(hook.is_asked_about(pod.metadata.labels) for hook in hooks)
        and find_maker(store, pod) is not None
    )
    newest = nlargest(_MOST, asked, key=lambda pod: pod.metadata.creation_timestamp or "")
    if not newest:
        return InjectedContainers()
    additions = [tuple(_additions(store, pod)) for pod in newest]
    common = set.intersection(*({container.name for _, container in added} for added in additions))
    added = tuple((key, container) for key, container in additions[0] if container.name in common)
    return InjectedContainers(added, len(newest)) if added else InjectedContainers()


def _additions(store: Store, pod: Pod) -> Iterator[tuple[str, Any]]:
    """Yield the containers of a pod that its template does not have."""
    maker = find_maker(store, pod)
    template = None
    if isinstance(maker, Workload):
        template = template_of(maker)[1]
    elif isinstance(maker, ControllerRevision):
        template = maker.data.spec.template
    if template is None:
        return
    written = {item.name for _, attribute in _LISTS for item in getattr(template.spec, attribute) or ()}
    for key, attribute in _LISTS:
        for item in getattr(pod.spec, attribute) or ():
            if item.name not in written:
                yield key, structs.replace(item, resize_policy=None)
