"""Why a live pod has other values than it would get today, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kubectl_kres.admission.limitrange import ANNOTATION
from kubectl_kres.model.pod import VPA
from kubectl_kres.reports.pod.live_differences import AddedContainer, Injector, LiveReason

_INJECTORS: Mapping[Injector, str] = {
    "istio": "the Istio sidecar injector",
    "linkerd": "the Linkerd proxy injector",
    "vault": "the Vault agent injector",
    "opentelemetry": "the OpenTelemetry operator",
    "dapr": "the Dapr injector",
}


def _live_reason(reason: LiveReason) -> str:
    at = f" at {reason.time}" if reason.time else ""
    match reason.kind:
        case "resized":
            return f"resized by {reason.by}{at}"
        case "resizing":
            return f"resized: {reason.by}"
        case "autoscaled":
            return f"set by the VerticalPodAutoscaler (annotation {VPA})"
        case "policy":
            return f"{reason.policy} was changed by {reason.by}{at}, after the pod was created"
        case "filled":
            today = "those of today could not be read" if reason.unread else "no LimitRange sets it so today"
            return f"a LimitRange set it when the pod was created (annotation {ANNOTATION}); {today}"
        case "set":
            return f"set by field manager {reason.by}{at}"
        case "unknown-run":
            return (
                "no rule known here explains it; LimitRanges, Tekton's configuration or its version may have changed "
                "since, or a webhook changed the pod"
            )
        case "unknown":
            return "no rule known here explains it; the template or a policy may be newer than the pod"


def _added_container(added: AddedContainer) -> str:
    if added.injector:
        return f"not in the template: added by {_INJECTORS[added.injector]}"
    if added.by:
        return f"not in the template: added by field manager {added.by} when the pod was created"
    return "not in the template: injected"


WORDS: Mapping[type, Callable[[Any], str]] = {AddedContainer: _added_container, LiveReason: _live_reason}
