"""What the webhook refuses in references to Tasks, Pipelines and StepActions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kubectl_kres.model.tekton import Reference
from kubectl_kres.tekton.base.config import Flags
from kubectl_kres.tekton.validation.name_faults import name_faults
from kubectl_kres.tekton.validation.webhook_error import WebhookError

_ADDRESS = re.compile(r"[A-Za-z0-9_-]:/")
_ONE_OF = "tekton/one-of"


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
            WebhookError("expected exactly one, got both", f"{path}.{one}", _ONE_OF) for one in ("name", "params")
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
    for what, held in (("resolver params", ref.params), ("resolver", resolver)):
        if held and flags.api_fields == "stable":
            text = f'{what} requires "enable-api-fields" feature gate to be "alpha" or "beta" but it is "stable"'
            yield WebhookError(text, "", "tekton/api-fields")
