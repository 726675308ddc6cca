"""What else decides about a pod: policies in CEL with their bindings, webhooks, service accounts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubectl_kres.model.meta import Base, ManagedMetadata, Metadata


class AdmissionPolicy(Base, frozen=True):
    """A ValidatingAdmissionPolicy, a MutatingAdmissionPolicy, or a binding of one; the spec as it stands."""

    metadata: ManagedMetadata = ManagedMetadata()
    spec: Mapping[str, Any] = {}
    kind: str = ""
    api_version: str = "admissionregistration.k8s.io/v1"


class Webhook(Base, frozen=True):
    """What a webhook is asked about; never where it is or what it is trusted by."""

    name: str = ""
    rules: tuple[Mapping[str, Any], ...] | None = None
    failure_policy: str = "Fail"
    match_policy: str = "Equivalent"
    namespace_selector: Mapping[str, Any] | None = None
    object_selector: Mapping[str, Any] | None = None
    match_conditions: tuple[Mapping[str, Any], ...] | None = None


class WebhookConfiguration(Base, frozen=True):
    """A MutatingWebhookConfiguration or a ValidatingWebhookConfiguration."""

    metadata: Metadata = Metadata()
    webhooks: tuple[Webhook, ...] | None = None
    kind: str = ""
    api_version: str = "admissionregistration.k8s.io/v1"


class SecretName(Base, frozen=True):
    """A secret that a service account names."""

    name: str = ""


class ServiceAccount(Base, frozen=True):
    """Who a pod is for the server."""

    metadata: Metadata = Metadata()
    secrets: tuple[SecretName, ...] | None = None
    image_pull_secrets: tuple[SecretName, ...] | None = None
    automount_service_account_token: bool | None = None
    kind: str = "ServiceAccount"
    api_version: str = "v1"
