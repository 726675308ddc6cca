"""What the server takes as a valid text of a field: a path, a name, a key, a header, an address, a label selector."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Sequence
from typing import Any

from kubectl_kres.admission.base.field_errors import FieldError, invalid
from kubectl_kres.admission.base.server import Server
from kubectl_kres.model.objects import Raw, items, mapping, text, texts

_ENV_NAME = "[-._a-zA-Z][-._a-zA-Z0-9]*"
_KEY = "[-._a-zA-Z0-9]+"
_HEADER = "[-A-Za-z0-9]+"
_LONGEST_KEY = 253


def variable_faults(name: str, server: Server) -> Iterator[str]:
    """Source: apimachinery util/validation IsRelaxedEnvVarName, IsEnvVarName."""
    if server.is_enabled("RelaxedEnvironmentVariableValidation"):
        if any(not " " <= char <= "~" or char == "=" for char in name):
            yield "a valid environment variable name must consist only of printable ASCII characters other than '='"
        return
    if not re.fullmatch(_ENV_NAME, name):
        yield (
            "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and "
            "must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', regex used for "
            f"validation is '{_ENV_NAME}')"
        )
    yield from _directory_faults(name)


def key_faults(key: str) -> Iterator[str]:
    """Source: apimachinery util/validation IsConfigMapKey."""
    if len(key.encode("utf-8", "surrogatepass")) > _LONGEST_KEY:
        yield f"must be no more than {_LONGEST_KEY} characters"
    if not re.fullmatch(_KEY, key):
        yield (
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or "
            f"'KEY_NAME',  or 'key-name', regex used for validation is '{_KEY}')"
        )
    yield from _directory_faults(key)


def _directory_faults(name: str) -> Iterator[str]:
    """Source: apimachinery util/validation hasChDirPrefix."""
    if name == ".":
        yield "must not be '.'"
    elif name == "..":
        yield "must not be '..'"
    elif name.startswith(".."):
        yield "must not start with '..'"


def header_faults(name: str) -> Iterator[str]:
    """Source: apimachinery util/validation IsHTTPHeaderName."""
    if not re.fullmatch(_HEADER, name):
        yield (
            "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for "
            f"validation is '{_HEADER}')"
        )


def address_faults(address: str, server: Server) -> Iterator[str]:
    """Source: apimachinery util/validation parseIP."""
    try:
        result = ipaddress.ip_address(re.sub(r"\b0+(?=\d)", "", address) if ":" not in address else address)
    except ValueError:
        result = None
    if result is None or "%" in address:
        yield "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
    elif server.is_enabled("StrictIPCIDRValidation"):
        if isinstance(result, ipaddress.IPv4Address) and str(result) != address:
            yield "must not have leading 0s"
        elif isinstance(result, ipaddress.IPv6Address) and result.ipv4_mapped is not None:
            yield "must not be an IPv4-mapped IPv6 address"


def backstep_errors(path: str, item_path: str, rule: str) -> Iterator[FieldError]:
    """Source: validation.go validatePathNoBacksteps."""
    if ".." in path.split("/"):
        yield invalid(item_path, path, "must not contain '..'", rule)


def descending_errors(path: str, item_path: str, rule: str) -> Iterator[FieldError]:
    """Source: validation.go validateLocalDescendingPath."""
    if path.startswith("/"):
        yield invalid(item_path, path, "must be a relative path", rule)
    yield from backstep_errors(path, item_path, rule)


def local_errors(path: str, item_path: str, rule: str) -> Iterator[FieldError]:
    """Source: validation.go ValidateLocalNonReservedPath."""
    yield from descending_errors(path, item_path, rule)
    if path.startswith("..") and not path.startswith("../"):
        yield invalid(item_path, path, "must not start with '..'", rule)


def selector_matches(selector: Raw, labels: Raw) -> bool:
    """Of a selector that is valid."""
    if any(labels.get(key) != value for key, value in mapping(selector, "matchLabels").items()):
        return False
    return all(_matches_expression(item, labels) for item in items(selector, "matchExpressions"))


def _matches_expression(expression: Raw, labels: Raw) -> bool:
    key, listed = text(expression, "key"), texts(expression, "values")
    match text(expression, "operator"):
        case "In":
            return labels.get(key) in listed
        case "NotIn":
            return labels.get(key) not in listed
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
    return True


def shown_selector(selector: Raw) -> dict[str, Any]:
    """As Go prints it: without what is empty, labels sorted."""
    shown: dict[str, Any] = {}
    labels = mapping(selector, "matchLabels")
    if labels:
        shown["matchLabels"] = {key: value or "" for key, value in sorted(labels.items())}
    expressions: Sequence[Raw] = items(selector, "matchExpressions")
    if expressions:
        shown["matchExpressions"] = [
            {"key": text(expression, "key"), "operator": text(expression, "operator")}
            | ({"values": texts(expression, "values")} if texts(expression, "values") else {})
            for expression in expressions
        ]
    return shown
