"""The webhook of the vertical autoscaler as it is registered, and what it does to the pods of a namespace."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from weakref import ref

from msgspec import structs

from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.model.admission_objects import Webhook
from kubectl_kres.provenance.journal import Assumption
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.store.store import Store
from kubectl_kres.vpa import registration
from kubectl_kres.vpa.model import WEBHOOK
from kubectl_kres.vpa.rules.autoscaler import Autoscaler
from kubectl_kres.vpa.rules.webhook import Owner, VpaWebhook, controlling_autoscalers, top_owner


def extended(store: Store, namespace: str, policies: Policies) -> tuple[Policies, tuple[Assumption, ...]]:
    """Return the policies with the webhook, where it is registered or that is not known, and what was assumed."""
    autoscalers, left_out = registration.parsed(store, namespace)
    deciding = controlling_autoscalers(autoscalers)
    if not deciding or registration.is_registered(store) is False:
        return policies, left_out
    registered = registration.registered_webhook(store)
    if registered is not None and not registration.selects_namespace(registered[1], store, namespace):
        return policies, left_out
    webhook = registration.webhook_of(
        registered or registration.USUAL, deciding, partial(registration.find_top_maker, ref(store), namespace)
    )
    webhooks = sorted((*policies.webhooks, webhook), key=lambda webhook: webhook.configuration)
    return structs.replace(policies, webhooks=tuple(webhooks)), left_out


def supposed_webhook(store: Store, autoscaler: Autoscaler) -> VpaWebhook:
    """Return the webhook as its admission controller registers it, for one autoscaler."""
    namespace = autoscaler.source.namespace
    return registration.webhook_of(
        registration.USUAL, {autoscaler.target: autoscaler}, partial(registration.find_top_maker, ref(store), namespace)
    )


def autoscaler_of(store: Store, analysis: Analysis) -> Autoscaler | None:
    """Return the autoscaler of the analysed pod, whether or not the webhook is registered; None: none changes it."""
    owners = analysis.manifest.pod.metadata.owner_references or ()
    owner: Owner | None = next(((owner.kind, owner.name) for owner in owners if owner.controller), None)
    if owner is None:
        return None
    namespace = analysis.manifest.pod.metadata.namespace
    deciding = controlling_autoscalers(registration.parsed(store, namespace)[0])
    return deciding.get(top_owner(owner, deciding, partial(registration.find_top_maker, ref(store), namespace)))


def with_remarks(store: Store, subject: Subject, analysis: Analysis) -> Analysis:
    """Return the analysis of a pod of an autoscaler, with what is assumed about it and its webhook."""
    del subject
    autoscaler = autoscaler_of(store, analysis)
    if autoscaler is None:
        return analysis
    registered = registration.registered_webhook(store)
    remarks = _remarks(store, autoscaler, registered[1] if registered is not None else None)
    return structs.replace(analysis, assumed=(*analysis.assumed, *remarks))


def _remarks(store: Store, autoscaler: Autoscaler, hook: Webhook | None) -> Iterator[Assumption]:
    name = str(autoscaler.source.ref)
    if hook is None and registration.is_registered(store) is False:
        text = f"webhook {WEBHOOK} is not registered, so that pods come without what {name} recommends"
        yield Assumption("spec", "vpa/not-registered", text)
        return
    if hook is None:
        reason = "webhooks could not be read" if store.origin.kind == "cluster" else "nothing here tells"
        text = f"webhook {WEBHOOK} is taken as registered: {reason}"
        yield Assumption("spec", "vpa/registered", text)
    elif not registration.selects_namespace(hook, store, autoscaler.source.namespace):
        text = f"webhook {WEBHOOK} leaves this namespace out, so that pods come without what {name} recommends"
        yield Assumption("spec", "vpa/not-registered", text)
        return
    elif hook.failure_policy == "Ignore":
        text = (
            f"while webhook {WEBHOOK} does not answer (failurePolicy Ignore), pods come without what {name} recommends"
        )
        yield Assumption("spec", "vpa/fails-open", text)
    else:
        text = f"while webhook {WEBHOOK} does not answer (failurePolicy {hook.failure_policy}), no pod comes"
        yield Assumption("spec", "vpa/fails-closed", text)
    if autoscaler.recommended is None:
        yield Assumption("spec", "vpa/no-recommendation", f"{name} has no recommendation yet")
    if autoscaler.boosts:
        yield Assumption("spec", "vpa/startup-boost", f"{name} has a startup boost: CPUStartupBoost is taken as on")
