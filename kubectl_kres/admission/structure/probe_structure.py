"""What validation finds in the probes of a container, and in what it does when it starts and stops."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.admission.base.field_error import FieldError, forbidden, invalid, not_supported, number, required
from kubectl_kres.admission.base.raw_fields import integer, items, mapping, pointer, text
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.base.text_rules import header_faults
from kubectl_kres.admission.structure.ports import name_faults, number_faults
from kubectl_kres.model.raw import Raw

_RULE = "validation/probe"
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_SECONDS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_USUAL_GRACE = 30


def probe_errors(container: Raw, path: str, spec: Raw, server: Server, *, pod: bool) -> Iterator[FieldError]:
    """Of a container, or an init container that restarts. Source: validation.go validateProbe, validateLifecycle."""
    given = integer(spec, "terminationGracePeriodSeconds")
    grace = _USUAL_GRACE if given is None else given
    # Of a pod a negative value is made 1 before anybody looks at it.
    grace = 1 if pod and grace < 0 else grace
    lifecycle = pointer(container, "lifecycle")
    for key in ("postStart", "preStop"):
        handler = pointer(lifecycle or {}, key)
        if handler is not None:
            kinds = ("exec", "httpGet", "tcpSocket", "sleep")
            yield from _handler_errors(handler, kinds, f"{path}.lifecycle.{key}", grace, server)
    for key in PROBES:
        probe = pointer(container, key)
        if probe is not None:
            yield from _probe_errors(probe, key, f"{path}.{key}", grace, server)


def _probe_errors(probe: Raw, key: str, path: str, grace: int, server: Server) -> Iterator[FieldError]:
    yield from _handler_errors(probe, ("exec", "httpGet", "tcpSocket", "grpc"), path, grace, server)
    for name in _SECONDS:
        value = integer(probe, name)
        if value is not None and value < 0:
            yield number(f"{path}.{name}", value, "must be greater than or equal to 0", _RULE)
    at, seconds = f"{path}.terminationGracePeriodSeconds", integer(probe, "terminationGracePeriodSeconds")
    if seconds is not None and seconds <= 0:
        yield number(at, seconds, "must be greater than 0", _RULE)
    if key == "readinessProbe":
        if seconds is not None:
            yield number(at, seconds, "must not be set for readinessProbes", _RULE)
    elif (integer(probe, "successThreshold") or 1) != 1:
        yield number(f"{path}.successThreshold", integer(probe, "successThreshold") or 1, "must be 1", _RULE)


def _handler_errors(
    handler: Raw, kinds: tuple[str, ...], path: str, grace: int, server: Server
) -> Iterator[FieldError]:
    given = [kind for kind in kinds if pointer(handler, kind) is not None]
    for kind in given[1:]:
        yield forbidden(f"{path}.{kind}", "may not specify more than 1 handler type", _RULE)
    if not given:
        yield required(path, "must specify a handler type", _RULE)
        return
    held, at = mapping(handler, given[0]), f"{path}.{given[0]}"
    match given[0]:
        case "exec":
            if not held.get("command"):
                yield required(f"{at}.command", rule=_RULE)
        case "httpGet":
            yield from _http_errors(held, at)
        case "sleep":
            yield from _sleep_errors(integer(held, "seconds") or 0, at, grace, server)
        case _:
            yield from _port_errors(held, f"{at}.port")


def _http_errors(action: Raw, path: str) -> Iterator[FieldError]:
    yield from _port_errors(action, f"{path}.port")
    scheme = text(action, "scheme")
    if scheme and scheme not in {"HTTP", "HTTPS"}:
        yield not_supported(f"{path}.scheme", scheme, ("HTTP", "HTTPS"), _RULE)
    for header in items(action, "httpHeaders"):
        name = text(header, "name")
        yield from (invalid(f"{path}.httpHeaders", name, fault, _RULE) for fault in header_faults(name))


def _port_errors(action: Raw, path: str) -> Iterator[FieldError]:
    """Source: validation.go ValidatePortNumOrName."""
    port = action.get("port")
    if isinstance(port, str):
        yield from (invalid(path, port, fault, _RULE) for fault in name_faults(port))
    else:
        value = integer(action, "port") or 0
        yield from (number(path, value, fault, _RULE) for fault in number_faults(value))


def _sleep_errors(seconds: int, path: str, grace: int, server: Server) -> Iterator[FieldError]:
    zero = server.on("PodLifecycleSleepActionAllowZero")
    if (0 if zero else 1) <= seconds <= grace:
        return
    if zero:
        detail = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
    else:
        detail = (
            f"must be greater than 0 and less than terminationGracePeriodSeconds ({grace}). "
            "Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep."
        )
    yield number(path, seconds, detail, _RULE)
