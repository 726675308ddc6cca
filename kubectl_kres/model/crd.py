"""CustomResourceDefinitions: only where the webhook that converts their objects runs."""

from __future__ import annotations

from kubectl_kres.model.meta import Base, Metadata


class ServiceReference(Base, frozen=True):
    """A Service by namespace and name."""

    namespace: str = ""
    name: str = ""


class ClientConfig(Base, frozen=True):
    """How the API server reaches a webhook."""

    service: ServiceReference | None = None


class ConversionWebhook(Base, frozen=True):
    """The webhook of a conversion."""

    client_config: ClientConfig | None = None


class Conversion(Base, frozen=True):
    """How objects of one version become those of another."""

    webhook: ConversionWebhook | None = None


class DefinitionSpec(Base, frozen=True):
    """The part of a definition that matters here."""

    conversion: Conversion | None = None


class CustomResourceDefinition(Base, frozen=True):
    """A CustomResourceDefinition."""

    metadata: Metadata = Metadata()
    spec: DefinitionSpec = DefinitionSpec()
    kind: str = "CustomResourceDefinition"
    api_version: str = "apiextensions.k8s.io/v1"

    @property
    def webhook_namespace(self) -> str:
        """The namespace of the converting webhook's Service; empty: there is none."""
        conversion = self.spec.conversion
        webhook = conversion.webhook if conversion is not None else None
        client = webhook.client_config if webhook is not None else None
        return client.service.namespace if client is not None and client.service is not None else ""
