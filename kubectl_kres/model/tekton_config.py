"""Objects that configure Tekton: its ConfigMaps, and the definition of its kinds, which names its webhook.

Of ConfigMaps just the keys that settle how Tekton computes, since others may hold what is nobody's business.
"""

import msgspec

from kubectl_kres.model.objects import Base, Metadata

#: Names of the ConfigMaps and where they are, unless the controller's environment says otherwise.
DEFAULTS, FLAGS, INFO = "config-defaults", "feature-flags", "pipelines-info"
CONFIG_NAMES = (INFO, DEFAULTS, FLAGS)
NAMESPACE = "tekton-pipelines"
#: Whose webhook, which converts between versions, stands beside the configuration.
DEFINITION = "taskruns.tekton.dev"


class ConfigMapData(Base, frozen=True):
    """Keys of ``config-defaults``, ``feature-flags`` and ``pipelines-info``, and of what tekton-kueue keeps; empty:
    absent.
    """

    default_container_resource_requirements: str = msgspec.field(
        default="", name="default-container-resource-requirements"
    )
    default_pod_template: str = msgspec.field(default="", name="default-pod-template")
    default_affinity_assistant_pod_template: str = msgspec.field(
        default="", name="default-affinity-assistant-pod-template"
    )
    default_service_account: str = msgspec.field(default="", name="default-service-account")
    default_timeout_minutes: str = msgspec.field(default="", name="default-timeout-minutes")
    default_task_run_workspace_binding: str = msgspec.field(default="", name="default-task-run-workspace-binding")
    enable_api_fields: str = msgspec.field(default="", name="enable-api-fields")
    results_from: str = msgspec.field(default="", name="results-from")
    enable_artifacts: str = msgspec.field(default="", name="enable-artifacts")
    enable_kubernetes_sidecar: str = msgspec.field(default="", name="enable-kubernetes-sidecar")
    coschedule: str = ""
    disable_affinity_assistant: str = msgspec.field(default="", name="disable-affinity-assistant")
    enable_param_enum: str = msgspec.field(default="", name="enable-param-enum")
    enable_concise_resolver_syntax: str = msgspec.field(default="", name="enable-concise-resolver-syntax")
    enable_cel_in_whenexpression: str = msgspec.field(default="", name="enable-cel-in-whenexpression")
    disable_creds_init: str = msgspec.field(default="", name="disable-creds-init")
    keep_pod_on_cancel: str = msgspec.field(default="", name="keep-pod-on-cancel")
    injected_sidecars: str = msgspec.field(default="", name="running-in-environment-with-injected-sidecars")
    await_sidecar_readiness: str = msgspec.field(default="", name="await-sidecar-readiness")
    set_security_context: str = msgspec.field(default="", name="set-security-context")
    version: str = ""
    config: str = msgspec.field(default="", name="config.yaml")


class ConfigMap(Base, frozen=True):
    """A ConfigMap."""

    metadata: Metadata = Metadata()
    data: ConfigMapData = ConfigMapData()
    kind: str = "ConfigMap"
    api_version: str = "v1"


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
