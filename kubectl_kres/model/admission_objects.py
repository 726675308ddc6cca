"""Objects of other admission plugins: policies in CEL with bindings and parameters, webhooks, service accounts."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from kubectl_kres.model.objects import Base, Kind, LabelSelector, ManagedMetadata, Metadata

_NAME = r"([A-Za-z0-9]+)\.([A-Za-z0-9-]+)(?:\.([A-Za-z0-9.-]+))?"
#: Who wrote it, which no expression needs.
_UNUSED_ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"


class AdmissionPolicy(Base, frozen=True):
    """A ValidatingAdmissionPolicy, a MutatingAdmissionPolicy, or a binding of one; the spec as it stands."""

    metadata: ManagedMetadata = ManagedMetadata()
    spec: Mapping[str, Any] = {}
    kind: str = ""
    api_version: str = "admissionregistration.k8s.io/v1"

    def mistyped_field(self) -> str:
        return _find_mistyped(self.spec, _PolicySpec, "spec")


class _Typed(Struct, rename="camel", gc=False):
    """The types of what policies and webhooks keep as it stands: nothing is read from these."""


class _Rule(_Typed):
    api_groups: list[str] | None = None
    api_versions: list[str] | None = None
    operations: list[str] | None = None
    resources: list[str] | None = None
    resource_names: list[str] | None = None
    scope: str | None = None


class _Match(_Typed):
    resource_rules: list[_Rule] | None = None
    exclude_resource_rules: list[_Rule] | None = None
    match_policy: str | None = None
    namespace_selector: LabelSelector | None = None
    object_selector: LabelSelector | None = None


class _Expression(_Typed):
    """A variable, a condition, a validation or the change of a mutation."""

    name: str | None = None
    expression: str | None = None
    message: str | None = None
    message_expression: str | None = None
    reason: str | None = None


class _Mutation(_Typed):
    patch_type: str | None = None
    apply_configuration: _Expression | None = None
    json_patch: _Expression | None = None


class _ParamRef(_Typed):
    name: str | None = None
    namespace: str | None = None
    selector: LabelSelector | None = None
    parameter_not_found_action: str | None = None


class _PolicySpec(_Typed):
    match_constraints: _Match | None = None
    match_resources: _Match | None = None
    match_conditions: list[_Expression] | None = None
    variables: list[_Expression] | None = None
    validations: list[_Expression] | None = None
    mutations: list[_Mutation] | None = None
    audit_annotations: list[Mapping[str, str]] | None = None
    validation_actions: list[str] | None = None
    param_kind: Mapping[str, str] | None = None
    param_ref: _ParamRef | None = None
    failure_policy: str | None = None
    reinvocation_policy: str | None = None
    policy_name: str | None = None


class _WebhookParts(_Typed):
    rules: list[_Rule] | None = None
    namespace_selector: LabelSelector | None = None
    object_selector: LabelSelector | None = None
    match_conditions: list[_Expression] | None = None


def _find_mistyped(value: Any, types: type[_Typed], path: str) -> str:
    """Return the first field that has another type, with its path, in the words for objects that cannot be decoded."""
    try:
        msgspec.convert(value, types)
    except msgspec.ValidationError as error:
        text, _, where = str(error).partition(" - at `$")
        return f"{path}{where.removesuffix('`')}: {text}"
    return ""


class Webhook(Base, frozen=True):
    """What a webhook is asked about; never where it is or what it is trusted by."""

    name: str = ""
    rules: tuple[Mapping[str, Any], ...] | None = None
    failure_policy: str = "Fail"
    match_policy: str = "Equivalent"
    reinvocation_policy: str = "Never"
    namespace_selector: Mapping[str, Any] | None = None
    object_selector: Mapping[str, Any] | None = None
    match_conditions: tuple[Mapping[str, Any], ...] | None = None


#: The kinds of configurations of webhooks: those that change objects come before those that only refuse them.
WEBHOOKS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


class WebhookConfiguration(Base, frozen=True):
    """A MutatingWebhookConfiguration or a ValidatingWebhookConfiguration."""

    metadata: Metadata = Metadata()
    webhooks: tuple[Webhook, ...] | None = None
    kind: str = ""
    api_version: str = "admissionregistration.k8s.io/v1"

    def mistyped_field(self) -> str:
        for index, webhook in enumerate(self.webhooks or ()):
            parts = {
                "rules": webhook.rules,
                "namespaceSelector": webhook.namespace_selector,
                "objectSelector": webhook.object_selector,
                "matchConditions": webhook.match_conditions,
            }
            if fault := _find_mistyped(parts, _WebhookParts, f"webhooks[{index}]"):
                return fault
        return ""


#: What the labels of namespaces for Pod Security begin with, and the one with the level that pods must meet.
POD_SECURITY = "pod-security.kubernetes.io/"
POD_SECURITY_LEVEL = f"{POD_SECURITY}enforce"
#: The annotations of accounts that may only be used with the secrets that they list, and of pods that mirror a file.
ENFORCE = "kubernetes.io/enforce-mountable-secrets"
MIRROR = "kubernetes.io/config.mirror"


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


class Parameter(Base, frozen=True):
    """An object that policies take their parameters from.

    content: the whole object but for its field managers, with kind and apiVersion.
    """

    metadata: Metadata = Metadata()
    content: Mapping[str, Any] = {}
    kind: str = ""
    api_version: str = ""


def kind_name(api_version: str, kind: str) -> str:
    """Return what the kind is called in needs and stores: ``ConfigMap.v1``, ``Limit.v1.rules.example.com``."""
    group, _, version = api_version.rpartition("/")
    return ".".join(filter(None, (kind, version, group)))


def is_parameter(name: str) -> bool:
    """Return whether a need is for parameters, by what it calls their kind."""
    return "." in name


def parameter_kind(name: str) -> Kind | None:
    """Return the kind of that name; its plural and its scope are not known before the server is asked. None: no such
    name.
    """
    match = re.fullmatch(_NAME, name)
    if match is None:
        return None
    return Kind(name, (match[1],), match[3] or "", match[2], struct=Parameter, listed=False)


def parameter_of(raw: Mapping[str, Any]) -> Parameter:
    """Return the object as it is kept."""
    metadata = raw.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    kept = {key: value for key, value in metadata.items() if key != "managedFields"}
    annotations = kept.get("annotations")
    if isinstance(annotations, dict):
        kept["annotations"] = {key: value for key, value in annotations.items() if key != _UNUSED_ANNOTATION}
    own_metadata = Metadata(name=str(metadata.get("name") or ""), namespace=str(metadata.get("namespace") or ""))
    return Parameter(own_metadata, {**raw, "metadata": kept}, str(raw.get("kind", "")), str(raw.get("apiVersion", "")))


def is_secret(api_version: str, kind: str) -> bool:
    """Return whether the kind is never read, whoever names it."""
    return api_version == "v1" and kind == "Secret"


def can_be_served(api_version: str, kind: str) -> bool:
    """Return whether a server can have such a kind: its name is a word, as is its version."""
    known_kind = parameter_kind(kind_name(api_version, kind))
    return known_kind is not None and (known_kind.api_version, known_kind.plural) == (api_version, kind)


def may_be_read(api_version: str, kind: str) -> bool:
    """Return whether parameters of the kind are read: a server can have it, and it is no Secret."""
    return can_be_served(api_version, kind) and not is_secret(api_version, kind)
