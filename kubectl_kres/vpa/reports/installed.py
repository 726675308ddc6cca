"""The webhook of the vertical autoscaler as it is registered, and what it does to the pods of a namespace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import structs

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.model.admitting import Webhook
from kubectl_kres.model.objects import LabelSelector, ObjectRef, decode_object
from kubectl_kres.provenance.journal import Assumption
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.scheduling.selectors import matches
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.vpa.model import KIND, VerticalPodAutoscaler
from kubectl_kres.vpa.reports import WEBHOOK
from kubectl_kres.vpa.rules.autoscaler import Autoscaler, parse_autoscaler
from kubectl_kres.vpa.rules.webhook import CONFIGURATION, Owner, VpaWebhook, controlling_autoscalers, top_owner

_HOOKS = "MutatingWebhookConfiguration"


def registered_webhook(store: Store) -> tuple[str, Webhook] | None:
    """Return the configuration and the webhook; None: none was read."""
    webhooks = (
        (item.metadata.name, hook) for item in store.all(_HOOKS) for hook in item.webhooks or () if hook.name == WEBHOOK
    )
    return min(webhooks, key=lambda pair: pair[0], default=None)


def is_registered(store: Store) -> bool | None:
    """Return whether the webhook is registered; None: webhooks could not be read, or a file or snapshot holds none."""
    if registered_webhook(store) is not None:
        return True
    coverage = store.covered(ReadRequest(_HOOKS))
    return False if store.origin.kind != "files" and coverage.known else None


def parsed(store: Store, namespace: str) -> tuple[tuple[Autoscaler, ...], tuple[Assumption, ...]]:
    """Return the autoscalers of a namespace, and those that are left out since an amount of theirs does not parse."""
    autoscalers, left_out = [], []
    for vpa in _list_autoscalers(store, namespace):
        try:
            autoscaler = parse_autoscaler(vpa)
        except Unparsable as fault:
            text = f"{ObjectRef(KIND, vpa.metadata.name)} is left out: {fault.path}: {fault.error.message}"
            left_out.append(Assumption("spec", "policy/unparsable", text))
            continue
        if autoscaler is not None:
            autoscalers.append(autoscaler)
    return tuple(autoscalers), tuple(left_out)


def _list_autoscalers(store: Store, namespace: str) -> Iterator[VerticalPodAutoscaler]:
    yield from sorted(store.all(KIND, namespace), key=lambda vpa: vpa.metadata.name)


def extended(store: Store, namespace: str, policies: Policies) -> tuple[Policies, tuple[Assumption, ...]]:
    """Return the policies with the webhook, where it is registered or that is not known, and what was assumed."""
    autoscalers, left_out = parsed(store, namespace)
    deciding = controlling_autoscalers(autoscalers)
    if not deciding or is_registered(store) is False:
        return policies, left_out
    registered = registered_webhook(store)
    if registered is not None and not _is_namespace_selected(registered[1], store, namespace):
        return policies, left_out
    name, hook = registered or (CONFIGURATION, Webhook(failure_policy="Ignore"))
    webhook = VpaWebhook(
        deciding,
        policies.limits,
        name,
        again=hook.reinvocation_policy == "IfNeeded",
        fails=hook.failure_policy != "Ignore",
    )
    webhooks = sorted((*policies.webhooks, webhook), key=lambda webhook: webhook.configuration)
    return structs.replace(policies, webhooks=tuple(webhooks)), left_out


def _is_namespace_selected(hook: Webhook, store: Store, namespace: str) -> bool:
    """Return whether the webhook is asked about pods of the namespace: it is registered with names that it ignores."""
    space = store.get("Namespace", namespace)
    labels: Mapping[str, str] = {
        **((space.metadata.labels if space is not None else None) or {}),
        "kubernetes.io/metadata.name": namespace,
    }
    return hook.namespace_selector is None or matches(decode_object(hook.namespace_selector, LabelSelector), labels)


def autoscaler_of(store: Store, analysis: Analysis) -> Autoscaler | None:
    """Return the autoscaler of the analysed pod, whether or not the webhook is registered; None: none changes it."""
    owners = analysis.start.pod.metadata.owner_references or ()
    owner: Owner | None = next(((owner.kind, owner.name) for owner in owners if owner.controller), None)
    if owner is None:
        return None
    deciding = controlling_autoscalers(parsed(store, analysis.start.pod.metadata.namespace)[0])
    return deciding.get(top_owner(owner, deciding))


def with_remarks(store: Store, subject: Subject, analysis: Analysis) -> Analysis:
    """Return the analysis of a pod of an autoscaler, with what is assumed about it and its webhook."""
    del subject
    autoscaler = autoscaler_of(store, analysis)
    if autoscaler is None:
        return analysis
    registered = registered_webhook(store)
    remarks = _remarks(store, autoscaler, registered[1] if registered is not None else None)
    return structs.replace(analysis, assumed=(*analysis.assumed, *remarks))


def _remarks(store: Store, autoscaler: Autoscaler, hook: Webhook | None) -> Iterator[Assumption]:
    name = str(autoscaler.source.ref)
    if hook is None and is_registered(store) is False:
        text = f"webhook {WEBHOOK} is not registered, so that pods come without what {name} recommends"
        yield Assumption("spec", "vpa/not-registered", text)
        return
    if hook is None:
        why = "webhooks could not be read" if store.origin.kind == "cluster" else "nothing here tells"
        text = f"webhook {WEBHOOK} is taken as registered: {why}"
        yield Assumption("spec", "vpa/registered", text)
    elif not _is_namespace_selected(hook, store, autoscaler.source.namespace):
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
