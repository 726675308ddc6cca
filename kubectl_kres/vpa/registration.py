"""The registration of the vertical autoscaler's webhook, and the autoscalers of a namespace that it considers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from weakref import ReferenceType

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.model.admission_objects import Webhook
from kubectl_kres.model.objects import LabelSelector, ObjectRef, OwnerReference, decode_object
from kubectl_kres.provenance.journal import Assumption, OmittedObject
from kubectl_kres.scheduling.selectors import matches
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.vpa.model import CONFIGURATION, HOOKS, KIND, WEBHOOK, VerticalPodAutoscaler
from kubectl_kres.vpa.rules.autoscaler import Autoscaler, parse_autoscaler
from kubectl_kres.vpa.rules.webhook import Maker, Owner, VpaWebhook

#: As the admission controller registers itself.
USUAL = (CONFIGURATION, Webhook(failure_policy="Ignore"))


def registered_webhook(store: Store) -> tuple[str, Webhook] | None:
    """Return the configuration and the webhook; None: none was read."""
    webhooks = (
        (item.metadata.name, hook) for item in store.all(HOOKS) for hook in item.webhooks or () if hook.name == WEBHOOK
    )
    return min(webhooks, key=lambda pair: pair[0], default=None)


def webhook_of(registered: tuple[str, Webhook], deciding: Mapping[Owner, Autoscaler], maker: Maker) -> VpaWebhook:
    """Return the webhook as admission asks it. ``registered``: its configuration's name, and how it stands there."""
    name, hook = registered
    again, fails = hook.reinvocation_policy == "IfNeeded", hook.failure_policy != "Ignore"
    return VpaWebhook(deciding, (), name, reinvoked=again, fails=fails, maker=maker)


def find_top_maker(store: ReferenceType[Store], namespace: str, owner: Owner) -> Owner | None:
    """Return who made a controller of pods, itself if nobody did; None where it was not read."""
    existing = store()
    item = existing.get(owner[0], owner[1], namespace) if existing is not None else None
    if item is None:
        return None
    owners: Iterable[OwnerReference] = item.metadata.owner_references or ()
    return next(
        ((owner_reference.kind, owner_reference.name) for owner_reference in owners if owner_reference.controller),
        owner,
    )


def is_registered(store: Store) -> bool | None:
    """Return whether the webhook is registered; None: webhooks could not be read, or a file or snapshot holds none."""
    if registered_webhook(store) is not None:
        return True
    coverage = store.covered(ReadRequest(HOOKS))
    return False if store.origin.kind != "files" and coverage.is_known else None


def parsed(store: Store, namespace: str) -> tuple[tuple[Autoscaler, ...], tuple[Assumption, ...]]:
    """Return the autoscalers of a namespace, and those that are left out since an amount of theirs does not parse."""
    autoscalers, left_out = [], []
    for vpa in _stored_autoscalers(store, namespace):
        try:
            autoscaler = parse_autoscaler(vpa)
        except Unparsable as fault:
            text = OmittedObject(str(ObjectRef(KIND, vpa.metadata.name)), fault.error.message, fault.path)
            left_out.append(Assumption("spec", "policy/unparsable", text))
            continue
        if autoscaler is not None:
            autoscalers.append(autoscaler)
    return tuple(autoscalers), tuple(left_out)


def _stored_autoscalers(store: Store, namespace: str) -> Iterator[VerticalPodAutoscaler]:
    yield from sorted(store.all(KIND, namespace), key=lambda vpa: vpa.metadata.name)


def selects_namespace(hook: Webhook, store: Store, namespace: str) -> bool:
    """Return whether the webhook is asked about pods of the namespace: it is registered with names that it ignores."""
    space = store.get("Namespace", namespace)
    return selects(hook, namespace, (space.metadata.labels if space is not None else None) or {})


def selects(hook: Webhook, namespace: str, labels: Mapping[str, str]) -> bool:
    """Return whether the webhook is asked about pods of a namespace with such labels."""
    namespace_labels = {**labels, "kubernetes.io/metadata.name": namespace}
    return hook.namespace_selector is None or matches(
        decode_object(hook.namespace_selector, LabelSelector), namespace_labels
    )
