"""The input of the other admission plugins for the pods of a namespace, read from a store."""

# ruff: noqa: PLC0415 - policies of a newer server alone are compiled here
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from weakref import ref

from msgspec import Struct, structs

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.base.versions import NEWEST, parse
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.model.admission_objects import WEBHOOKS
from kubectl_kres.model.objects import to_wire
from kubectl_kres.model.pod import unread_fields
from kubectl_kres.policies.reports.needs import DECIDING
from kubectl_kres.policies.rules.chain import PolicyObjects, build_policy_objects
from kubectl_kres.policies.rules.newer_fields import answerable
from kubectl_kres.policies.rules.pod_security import parse_enforced_levels
from kubectl_kres.policies.rules.policy import BoundPolicy, Look, RequestContext, build_param_finder, match_webhooks
from kubectl_kres.policies.rules.request import Request, match_request
from kubectl_kres.provenance.journal import Assumption, Source
from kubectl_kres.reports.common.effective_policies import extend, extending_kinds
from kubectl_kres.reports.common.explanation import FailedRead, Subject, not_computed
from kubectl_kres.store.parameters import parameters
from kubectl_kres.store.store import ReadRequest, Store

Raw = Mapping[str, Any]
#: Cost of an expression after which it is not computed: some fifty milliseconds.
MOST = 30_000
_KINDS = (*sorted(DECIDING), "Namespace", "ServiceAccount")
_NEWEST_KNOWN = NEWEST[1]
#: By whether a policy has mutations.
_KIND_OF = {False: "ValidatingAdmissionPolicy", True: "MutatingAdmissionPolicy"}


class PluginLookups(Struct, frozen=True):
    """What plugins look up, and the webhooks by name, with whether they may change the object.

    ``newer``: the server is newer than the rules that are known.
    """

    world: PolicyObjects
    webhooks: tuple[tuple[str, bool, tuple[Raw, ...]], ...] = ()
    newer: bool = False
    server: Server = Server()

    def assumed(self, request: Request) -> Iterator[Assumption]:
        """Yield the webhooks that are asked about the request."""
        for name, mutating, hooks in self.webhooks:
            asked_configuration = match_webhooks(name, hooks, request, self.request_context, mutating=mutating)
            if asked_configuration is not None:
                configuration = Source(WEBHOOKS[not mutating], name)
                yield Assumption("spec", "webhook/not-computed", asked_configuration.text, configuration, decisive=True)

    @property
    def request_context(self) -> Any:
        return RequestContext(self.world.namespace, self.world.params, self.server, MOST)


def admission_context(store: Store, namespace: str, server: Server) -> PluginLookups | None:
    """None: nothing else decides there, as far as it was read."""
    kinds, beside = (*_KINDS, *extending_kinds()), (server, store.origin.version)
    return store.memo(("plugins", namespace), kinds, beside, lambda: _make_context(store, namespace, server))


def _make_context(store: Store, namespace: str, server: Server) -> PluginLookups | None:
    space = store.get("Namespace", namespace)
    raw: dict[str, Any] = {"metadata": {"name": namespace}, "status": {"phase": "Active"}}
    if space is not None:
        raw = to_wire(structs.replace(space, metadata=structs.replace(space.metadata, managed_fields=None)))
        raw["metadata"].setdefault("name", namespace)
    raw["apiVersion"], raw["kind"] = "v1", "Namespace"
    standard = parse_enforced_levels((raw.get("metadata") or {}).get("labels"))
    world = build_policy_objects(
        raw,
        _accounts(store, namespace),
        (_list_specs(store, "ValidatingAdmissionPolicy"), _list_specs(store, "ValidatingAdmissionPolicyBinding")),
        (_list_specs(store, "MutatingAdmissionPolicy"), _list_specs(store, "MutatingAdmissionPolicyBinding")),
        params=build_param_finder(_build_lookup(store)),
        maximum=MOST,
        version=(1, min(server.version[1], _NEWEST_KNOWN)),
    )
    computed = extend(store, namespace, Policies()).computed
    webhooks = tuple(
        (
            item.metadata.name,
            kind == WEBHOOKS[0],
            tuple(to_wire(hook) for hook in item.webhooks or () if hook.name not in computed),
        )
        for kind in WEBHOOKS
        for item in store.all(kind)
    )
    silent = standard.privileged and not standard.faults
    terminating = space is not None and bool(space.metadata.deletion_timestamp or space.status.phase == "Terminating")
    if silent and not (webhooks or world.validating or world.mutating or world.accounts is not None or terminating):
        return None
    version = parse(store.origin.version)
    return PluginLookups(world, webhooks, version is not None and version > NEWEST, server)


def _list_specs(store: Store, kind: str) -> list[Raw]:
    return [{"metadata": {"name": item.metadata.name}, "spec": item.spec} for item in store.all(kind)]


class _Accounts(dict[str, Raw]):
    """Those that were looked for; what was not looked for is taken to exist."""

    def __init__(self, mapping: Mapping[str, Raw], missing: Iterable[str]) -> None:
        super().__init__(mapping)
        self._missing = frozenset(missing)

    def get(self, name: str, default: Any = None) -> Any:
        return default if name in self._missing else super().get(name, {"metadata": {"name": name}})


def _accounts(store: Store, namespace: str) -> Mapping[str, Raw] | None:
    service_account = {
        service_account.metadata.name: to_wire(service_account)
        for service_account in store.all("ServiceAccount", namespace)
    }
    missing = [
        read.name
        for read, coverage in store.coverages().items()
        if read.kind == "ServiceAccount"
        and read.namespace == namespace
        and read.name
        and coverage.is_known
        and read.name not in service_account
    ]
    if store.covered(ReadRequest("ServiceAccount", namespace)).is_known:
        return {"default": {"metadata": {"name": "default"}}, **service_account}
    return _Accounts(service_account, missing) if service_account or missing else None


def _build_lookup(store: Store) -> Look:
    """Look into the store as it is then; a context must not keep its store alive, under which it is kept itself."""
    kept = ref(store)

    def look(version: str, kind: str, namespace: str, reference: Raw | None) -> tuple[Sequence[Raw], str]:
        store = kept()
        return parameters(store, version, kind, namespace, reference) if store is not None else ((), "unread")

    return look


def list_unread_fields(subject: Subject, additions: frozenset[str]) -> frozenset[str]:
    """Return the fields of a pod that were not read. ``added``: containers of which live pods alone tell."""
    return unread_fields(whole=subject.raw is not None, additions=bool(additions))


def computable(
    bound: Sequence[BoundPolicy], request: Request, context: PluginLookups, withheld: frozenset[str] = frozenset()
) -> tuple[tuple[BoundPolicy, ...], list[str]]:
    """Return the policies that can be computed, and what is said of the others that match. ``withheld``: what was not
    read.
    """
    kept, gaps = [], []
    for item in bound:
        left, reasons = answerable(item, withheld)
        if left is not None and context.newer:
            fault = _fault(left)
            left, reasons = (None, [fault]) if fault else (left, reasons)
        if left is not None:
            kept.append(left)
        if (
            reasons
            and match_request(item.policy.spec.get("matchConstraints"), request, context.world.namespace) is not None
        ):
            gaps += [f"{item.policy.name} is not computed: {reason}" for reason in reasons]
    return tuple(kept), gaps


def _fault(bound: BoundPolicy) -> str:
    """Return what does not compile here of a policy that a newer server took; empty: nothing."""
    from kubectl_kres.policies.rules.creation import errors_of

    errors = errors_of({**bound.policy.raw, "kind": _KIND_OF["mutations" in bound.policy.spec]}, _NEWEST_KNOWN + 1)
    return f"{errors[0].field} does not compile, or is newer than this program" if errors else ""


def describe_gaps(texts: Iterable[str], kind: str) -> Iterator[FailedRead]:
    """Yield what was not computed, as what was not read: the verdict may be another one."""
    yield from map(not_computed, with_kind(texts, kind))


def with_kind(texts: Iterable[str], kind: str) -> Iterator[str]:
    """Yield the texts, each beginning with the kind."""
    yield from (f"{kind} {text.removeprefix(f'{kind} ')}" for text in texts)
