"""What the webhook refuses in names and references: given twice, bound to nothing, no names at all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kubectl_kres.admission.base.resource_names import qualified_faults
from kubectl_kres.tekton.model import Param, Reference
from kubectl_kres.tekton.rules.base.config import Flags
from kubectl_kres.tekton.rules.validation.webhook_error import WebhookError, keyed

_ADDRESS = re.compile(r"[A-Za-z0-9_-]:/")
_ONE_OF = "tekton/one-of"

_VOLUMES = ("configmap", "emptydir", "persistentvolumeclaim", "secret", "volumeclaimtemplate")
#: What a workspace can be bound to, with the field that it must have, as Tekton writes it.
_BOUND = {
    "configMap": ("name", "configmap.name"),
    "csi": ("driver", "csi.driver"),
    "emptyDir": ("", ""),
    "persistentVolumeClaim": ("claimName", "persistentvolumeclaim.claimname"),
    "projected": ("sources", "projected.sources"),
    "secret": ("secretName", "secret.secretName"),
    "volumeClaimTemplate": ("", ""),
}
_TWICE = "tekton/given-twice"


def given_faults(params: Sequence[Param] | None) -> Iterator[WebhookError]:
    """Parameters of a run that are given twice; capitals do not count. Source: v1/taskrun_validation.go."""
    seen: set[str] = set()
    for param in params or ():
        if param.name.lower() in seen:
            yield WebhookError("expected exactly one, got both", f"{keyed('spec.params', param.name)}.name", _TWICE)
        seen.add(param.name.lower())


def binding_faults(spec: Any, kind: str) -> Iterator[WebhookError]:
    """What a run binds its workspaces to, as written: exactly one thing each, under a name of its own.

    Source: v1/workspace_validation.go, taskrun_validation.go, pipelinerun_validation.go.
    """
    workspaces = spec.get("workspaces") if isinstance(spec, Mapping) else None
    seen: dict[str, int] = {}
    for index, workspace in enumerate(workspaces if isinstance(workspaces, list | tuple) else ()):
        if not isinstance(workspace, Mapping):
            continue
        path, name = f"spec.workspaces[{index}]", str(workspace.get("name", ""))
        if name in seen:
            many = f'workspace "{name}" provided by pipelinerun more than once, at index {seen[name]} and {index}'
            text = "expected exactly one, got both" if kind == "TaskRun" else many
            yield WebhookError(text, f"{path}.name", _TWICE)
        seen.setdefault(name, index)
        yield from _bound(workspace, path)


def name_faults(name: str, path: str) -> Iterator[WebhookError]:
    """What is no name of an object. Source: apimachinery validation.IsQualifiedName."""
    text = ",".join(qualified_faults(name))
    if text:
        yield WebhookError(f"invalid value: {text}", path, "tekton/name")


def _bound(mapping: Mapping[str, Any], path: str) -> Iterator[WebhookError]:
    if all(value is None or value == "" for value in mapping.values()):
        yield WebhookError("missing field(s)", path, "tekton/workspace-binding")
        return
    given = [field for field in _BOUND if mapping.get(field) is not None]
    if len(given) != 1:
        text = f"expected exactly one, got {'both' if given else 'neither'}"
        yield from (WebhookError(text, f"{path}.{field}", "tekton/workspace-binding") for field in _VOLUMES)
        return
    wanted, words = _BOUND[given[0]]
    result = mapping[given[0]]
    if wanted and isinstance(result, Mapping) and not result.get(wanted):
        yield WebhookError("missing field(s)", f"{path}.{words}", "tekton/workspace-binding")


def reference_faults(ref: Reference | None, path: str, flags: Flags) -> Iterator[WebhookError]:
    """A reference names an object, or a resolver. Source: v1/container_validation.go validateRef."""
    if ref is None:
        return
    if ref.bundle:
        yield WebhookError("must not set the field(s)", f"{path}.bundle", "tekton/retired-field")
    # A bundle has become a resolver by now, which nobody has written.
    resolver = "" if ref.bundle and ref.resolver == "bundles" else ref.resolver
    address = _ADDRESS.search(ref.name) is not None
    if address and not flags.concise_resolver and (resolver or not ref.params):
        text = "feature flag enable-concise-resolver-syntax should be set to true to use concise resolver syntax"
        yield WebhookError(text, path, "tekton/api-fields")
    yield from _gates(resolver, ref, flags)
    if ref.params and ref.name:
        yield from (
            WebhookError("expected exactly one, got both", f"{path}.{item}", _ONE_OF) for item in ("name", "params")
        )
    if resolver:
        if ref.name and not address:
            yield WebhookError("invalid value: invalid URI for request", f"{path}.name", "tekton/name")
    elif address or ref.params:
        yield WebhookError("missing field(s)", f"{path}.resolver", _ONE_OF)
    elif ref.name:
        yield from name_faults(ref.name, f"{path}.name")
    else:
        yield WebhookError("missing field(s)", f"{path}.name", _ONE_OF)


def _gates(resolver: str, ref: Reference, flags: Flags) -> Iterator[WebhookError]:
    for what, item in (("resolver params", ref.params), ("resolver", resolver)):
        if item and flags.api_fields == "stable":
            text = f'{what} requires "enable-api-fields" feature gate to be "alpha" or "beta" but it is "stable"'
            yield WebhookError(text, "", "tekton/api-fields")
