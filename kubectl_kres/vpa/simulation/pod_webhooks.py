"""The webhook of the vertical autoscalers in a world, as admission asks it about new pods."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.admission.request.new_pod import PodWebhook
from kubectl_kres.model.admission_objects import WebhookConfiguration
from kubectl_kres.model.objects import Raw, decode_object, mapping
from kubectl_kres.vpa.model import WEBHOOK, VerticalPodAutoscaler
from kubectl_kres.vpa.registration import selects, webhook_of
from kubectl_kres.vpa.rules.autoscaler import Autoscaler, parse_autoscaler
from kubectl_kres.vpa.rules.webhook import Owner, controlling_autoscalers


def pod_webhooks(autoscalers: Iterable[Raw], configurations: Iterable[Raw], namespace: Raw) -> tuple[PodWebhook, ...]:
    """Return the webhook as it is registered; none where it is not, leaves the namespace out, or changes no pod."""
    deciding = controlling_autoscalers(filter(None, map(autoscaler_in, autoscalers)))
    metadata = mapping(namespace, "metadata")
    name, labels = str(metadata.get("name", "")), mapping(metadata, "labels")
    for raw in configurations:
        configuration = decode_object(raw, WebhookConfiguration)
        for hook in configuration.webhooks or ():
            if deciding and hook.name == WEBHOOK and selects(hook, name, labels):
                return (webhook_of((configuration.metadata.name, hook), deciding, _made_by_nobody),)
    return ()


def autoscaler_in(raw: Raw) -> Autoscaler | None:
    """Return the autoscaler that an object is; None: it is about nothing, or an amount of it does not parse."""
    try:
        return parse_autoscaler(decode_object(raw, VerticalPodAutoscaler))
    except Unparsable:
        return None


def _made_by_nobody(owner: Owner) -> Owner:
    """Of workloads whose makers act in the world the maker is the workload."""
    return owner
