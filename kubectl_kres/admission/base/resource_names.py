"""Names of resources: which are standard, native, extended or huge pages, and what is wrong with the others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from kubectl_kres.admission.base.field_errors import FieldError, invalid, not_supported
from kubectl_kres.errors import QuantityError
from kubectl_kres.quantity import parse

_NAME = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_NAME_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME}')"
)
_LABEL_RULE = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
    f"with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '{_LABEL}')"
)
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
    f"and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)

_COUNTS = frozenset({
    "pods", "services", "replicationcontrollers", "resourcequotas", "secrets", "configmaps",
    "persistentvolumeclaims", "services.nodeports", "services.loadbalancers",
})  # fmt: skip
_COMPUTE = frozenset({"cpu", "memory", "ephemeral-storage"})
STANDARD = (
    _COUNTS
    | _COMPUTE
    | {f"{side}.{name}" for side in ("requests", "limits") for name in _COMPUTE}
    | {"storage", "requests.storage"}
)
STANDARD_QUOTA = STANDARD - {"storage"}
POD_LEVEL = ("cpu", "hugepages-", "memory")


def is_huge_page(name: str) -> bool:
    return name.startswith("hugepages-")


def huge_page_bytes(name: str) -> int:
    """Return the size of a huge page, of which amounts are multiples; 1 for other resources, and for no such size."""
    if not is_huge_page(name):
        return 1
    try:
        return max(1, parse(name.removeprefix("hugepages-")).value())
    except QuantityError:
        return 1


def is_native(name: str) -> bool:
    """Unprefixed, or of a ``kubernetes.io/`` domain. Source: core/v1/helper IsNativeResource."""
    return "/" not in name or "kubernetes.io/" in name


@lru_cache(4096)
def is_extended(name: str) -> bool:
    """Return a name that device plugins use. Source: core/v1/helper IsExtendedResourceName."""
    return not is_native(name) and not name.startswith("requests.") and not qualified_faults(f"requests.{name}")


def may_overcommit(name: str) -> bool:
    """Return whether a limit may exceed the request. Source: core/v1/helper IsOvercommitAllowed."""
    return is_native(name) and not is_huge_page(name)


def is_integer(name: str) -> bool:
    """Return whether only whole numbers are accepted. Source: apis/core/helper IsIntegerResourceName."""
    return name in _COUNTS or is_extended(name)


def is_pod_level(name: str) -> bool:
    """Return whether ``spec.resources`` takes the name. Source: component-helpers IsSupportedPodLevelResource."""
    return name in {"cpu", "memory"} or is_huge_page(name)


def is_standard(name: str) -> bool:
    return name in STANDARD or name.startswith(("hugepages-", "requests.hugepages-"))


def is_standard_quota(name: str) -> bool:
    return name in STANDARD_QUOTA or name.startswith(("hugepages-", "requests.hugepages-"))


@lru_cache(1000)
def qualified_faults(text: str) -> tuple[str, ...]:
    """Return what keeps ``text`` from being ``[prefix/]name``. Source: apimachinery validate/content IsLabelKey."""
    prefix, slash, name = text.rpartition("/")
    if text.count("/") > 1:
        return (
            f"a valid label key {_NAME_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
        )
    return (*_prefix_faults(prefix if slash else None), *_name_faults(name))


def _octets(text: str) -> int:
    """Length in UTF-8; half a surrogate pair counts as what Go reads in its place."""
    return len(text.encode("utf-8", "surrogatepass"))


def _prefix_faults(prefix: str | None) -> Iterator[str]:
    if prefix is None:
        return
    if not prefix:
        yield "prefix part must be non-empty"
        return
    if _octets(prefix) > 253:
        yield "prefix part must be no more than 253 bytes"
    if not re.fullmatch(_SUBDOMAIN, prefix):
        yield f"prefix part {_SUBDOMAIN_RULE}"


def _name_faults(name: str) -> Iterator[str]:
    if not name:
        yield "name part must be non-empty"
    elif _octets(name) > 63:
        yield "name part must be no more than 63 bytes"
    if not re.fullmatch(_NAME, name):
        yield f"name part {_NAME_RULE}"


def label_faults(text: str) -> Iterator[str]:
    """Yield what keeps ``text`` from being a DNS label. Source: apimachinery util/validation IsDNS1123Label."""
    if _octets(text) > 63:
        yield "must be no more than 63 characters"
    if re.fullmatch(_LABEL, text):
        return
    yield "must not contain dots" if re.fullmatch(_SUBDOMAIN, text) else _LABEL_RULE


def subdomain_faults(text: str) -> Iterator[str]:
    """Yield what keeps ``text`` from being a DNS subdomain. Source: apimachinery util/validation IsDNS1123Subdomain."""
    if _octets(text) > 253:
        yield "must be no more than 253 characters"
    if not re.fullmatch(_SUBDOMAIN, text):
        yield _SUBDOMAIN_RULE


#: What the server adds to ``generateName`` is random: this stands for it.
RANDOM = "xxxxx"
#: What is beyond is cut off. Source: apiserver storage/names generate.go.
_LONGEST_BEGINNING = 58


def given_name(name: str, generate_name: str) -> str:
    """Return the name, or one like that which the server makes of ``generateName``; empty if there is neither."""
    return name or (f"{generate_name[:_LONGEST_BEGINNING]}{RANDOM}" if generate_name else "")


def mask_trailing_dash(name: str) -> str:
    """Return a name that may be the beginning of one, in which a hyphen at the end is none. Source:
    maskTrailingDash.
    """
    return f"{name[:-2]}a" if len(name) > 1 and name.endswith("-") else name


_RULE = "validation/resource-name"


def resource_name_errors(name: str, path: str) -> list[FieldError]:
    """Source: validation.go validateResourceName."""
    faults = qualified_faults(name)
    if faults:
        return [invalid(path, name, fault, _RULE, typed=True) for fault in faults]
    if "/" not in name and not is_standard(name):
        return [invalid(path, name, "must be a standard resource type or fully qualified", _RULE, typed=True)]
    return []


def container_name_errors(name: str, path: str) -> list[FieldError]:
    """Source: validation.go validateContainerResourceName."""
    if name in _COMPUTE:
        return []
    errors = resource_name_errors(name, path)
    if "/" not in name:
        if name not in _COMPUTE and not is_huge_page(name):
            errors.append(invalid(path, name, "must be a standard resource for containers", _RULE, typed=True))
    elif not is_native(name) and not is_extended(name):
        errors.append(invalid(path, name, "doesn't follow extended resource name standard", _RULE, typed=True))
    return errors


def pod_level_name_errors(name: str, path: str) -> list[FieldError]:
    """Source: validation.go validatePodResourceName."""
    errors = resource_name_errors(name, path)
    if not errors and not is_pod_level(name):
        errors.append(not_supported(path, name, POD_LEVEL, "pod-level/resource-name"))
    return errors


def quota_name_errors(name: str, path: str) -> list[FieldError]:
    """Source: validation.go ValidateResourceQuotaResourceName."""
    errors = resource_name_errors(name, path)
    if "/" not in name and not is_standard_quota(name):
        errors.append(invalid(path, name, "must be a standard resource for quota", "quota/resource-name", typed=True))
    return errors
