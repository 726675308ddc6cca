"""ConfigMaps: just the keys that settle how Tekton computes, since others may hold what is nobody's business."""

from __future__ import annotations

import msgspec

from kubectl_kres.model.meta import Base, Metadata


class ConfigMapData(Base, frozen=True):
    """Keys of ``config-defaults``, ``feature-flags`` and ``pipelines-info``; empty: absent."""

    default_container_resource_requirements: str = msgspec.field(
        default="", name="default-container-resource-requirements"
    )
    default_pod_template: str = msgspec.field(default="", name="default-pod-template")
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


class ConfigMap(Base, frozen=True):
    """A ConfigMap."""

    metadata: Metadata = Metadata()
    data: ConfigMapData = ConfigMapData()
    kind: str = "ConfigMap"
    api_version: str = "v1"
