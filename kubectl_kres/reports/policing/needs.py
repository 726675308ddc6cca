"""What is read about what else admits: few lists, all at once, and policies where something binds them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kubectl_kres.model.pod import PodSpec
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store

WEBHOOKS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
#: Policies and the first minor version that serves them as v1.
POLICIES = {"ValidatingAdmissionPolicy": 30, "MutatingAdmissionPolicy": 36}
#: Kinds that may change a verdict where they could not be read.
DECIDING = frozenset({*WEBHOOKS, *POLICIES, *(f"{kind}Binding" for kind in POLICIES)})
#: Kinds of which it is said that they could not be read only where the server refused to tell.
ELSEWHERE = frozenset({*DECIDING, "ServiceAccount"})

_MINOR = re.compile(r"v?1\.([0-9]+)")


def policing_needs(store: Store, namespace: str, spec: PodSpec | None = None) -> Iterator[Need]:
    """Of a cluster alone: files, and snapshots of clusters, hold what they hold."""
    if store.origin.kind != "cluster" or not namespace:
        return
    yield Need("Namespace", name=namespace, required=False)
    yield from deciding_needs(store)
    account = getattr(spec, "service_account_name", "") if spec is not None else ""
    if account and account != "default":
        yield Need("ServiceAccount", namespace, account, required=False)


def deciding_needs(store: Store) -> Iterator[Need]:
    """What decides in all namespaces: the same few lists whatever is asked about."""
    if store.origin.kind != "cluster":
        return
    match = _MINOR.match(store.origin.version)
    minor = int(match[1]) if match else 99
    for kind, since in POLICIES.items():
        if minor >= since:
            yield Need(f"{kind}Binding", required=False)
            if any(True for _ in store.all(f"{kind}Binding")):
                yield Need(kind, required=False)
    for kind in WEBHOOKS:
        yield Need(kind, required=False)
