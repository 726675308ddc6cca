"""What is read for policies: few lists, all at once, policies where something binds them, and their parameters."""

# ruff: noqa: PLC0415 - clusters without policies read no parameters
from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kubectl_kres.model.admission_objects import WEBHOOKS, AdmissionPolicy, may_be_read
from kubectl_kres.model.kinds import BY_KIND, always_served
from kubectl_kres.model.pod import PodSpec
from kubectl_kres.model.workload_kinds import WORKLOADS
from kubectl_kres.store.store import ReadRequest, Store

#: Policies and the first minor version that serves them as v1.
POLICIES = {"ValidatingAdmissionPolicy": 30, "MutatingAdmissionPolicy": 36}
#: The kind of policies that came last.
_NEWEST = max(POLICIES, key=POLICIES.__getitem__)
#: Kinds that may change a verdict where they could not be read.
DECIDING = frozenset({*WEBHOOKS, *POLICIES, *(f"{kind}Binding" for kind in POLICIES)})
#: Kinds of which it is said that they could not be read only where the server refused to tell.
ELSEWHERE = frozenset({*DECIDING, "ServiceAccount"})

#: What policies have to be about for their parameters to be read.
_MADE = ("PersistentVolumeClaim", "ResourceClaim", "ControllerRevision")
_RESOURCES = frozenset({"*", *(BY_KIND[kind].plural for kind in ("Pod", *WORKLOADS, *_MADE))})
_MINOR = re.compile(r"v?1\.([0-9]+)")


def policy_admission_needs(store: Store, namespace: str, spec: PodSpec | None = None) -> Iterator[ReadRequest]:
    """Of a cluster alone: files, and snapshots of clusters, hold what they hold.

    What few servers have is asked for once the object was read, ``spec``: the server's version is known by then.
    """
    if not namespace:
        return
    if store.origin.kind != "cluster":
        yield from deciding_needs(store)
        return
    yield ReadRequest("Namespace", name=namespace, required=False)
    early = spec is None and not store.origin.version
    yield from (read for read in deciding_needs(store) if not (early and read.kind.startswith(_NEWEST)))
    yield from parameter_needs(store, namespace)
    account = getattr(spec, "service_account_name", "") if spec is not None else ""
    if account and account != "default":
        yield ReadRequest("ServiceAccount", namespace, account)


def deciding_needs(store: Store) -> Iterator[ReadRequest]:
    """Yield what decides in all namespaces: the same few lists whatever is asked about; of a snapshot what it
    covers.
    """
    if store.origin.kind != "cluster":
        yield from (ReadRequest(kind, required=False) for kind in sorted(DECIDING) if any(store.reads_of_kind(kind)))
        return
    match = _MINOR.match(store.origin.version)
    minor = int(match[1]) if match else 99
    for kind, since in POLICIES.items():
        if minor >= since:
            yield ReadRequest(f"{kind}Binding", required=False)
            if any(True for _ in store.all(f"{kind}Binding")):
                yield ReadRequest(kind, required=False)
    for kind in WEBHOOKS:
        yield ReadRequest(kind, required=False)


def parameter_needs(store: Store, namespace: str, more: Sequence[AdmissionPolicy] = ()) -> Iterator[ReadRequest]:
    """Yield the objects that bindings hand to policies about pods of the namespace; never a Secret.

    ``more``: policies and bindings that are not in the store.
    """
    if store.origin.kind != "cluster" or not namespace:
        return
    for kind in POLICIES:
        for policy in (*store.all(kind), *(item for item in more if item.kind == kind)):
            wanted = policy.spec.get("paramKind") or {}
            version, name = str(wanted.get("apiVersion") or ""), str(wanted.get("kind") or "")
            if not may_be_read(version, name) or not _about_pods(store, policy.spec, namespace):
                continue
            for binding in (*store.all(f"{kind}Binding"), *(item for item in more if item.kind == f"{kind}Binding")):
                reference = binding.spec.get("paramRef")
                if binding.spec.get("policyName") != policy.metadata.name:
                    continue
                if reference is not None:
                    from kubectl_kres.store.parameters import parameter_need

                    yield parameter_need(version, name, namespace, reference)
                elif not always_served(version, name):
                    from kubectl_kres.store.parameters import kind_need

                    yield kind_need(version, name)


def _about_pods(store: Store, spec: Mapping[str, Any], namespace: str) -> bool:
    """Return whether a policy may be about pods of a namespace, or what makes them."""
    constraints = spec.get("matchConstraints") or {}
    rules = constraints.get("resourceRules") or ()
    resources = {str(resource).partition("/")[0] for rule in rules for resource in rule.get("resources") or ()}
    space = store.get("Namespace", namespace)
    if space is not None:
        from kubectl_kres.policies.rules.request import selector_matches

        labels = {"kubernetes.io/metadata.name": namespace, **(space.metadata.labels or {})}
        if not selector_matches(constraints.get("namespaceSelector"), labels):
            return False
    return not rules or bool(resources & _RESOURCES)
